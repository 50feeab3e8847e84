"""What is asked of XLA for a CUDA kernel, seen in the program that JAX would send to a GPU; needs none."""

import re
from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
from tests.kernels.forms import asked_of

from headway.kernels import choose
from headway.kernels.cuda import attention, full, joining, launch, ngram, one_hot, own_rows, sizes, token_rows
from headway.models.initialisation import transformer
from headway.presets import full_as_run, minimal_as_run

FIELDS = {"name", "kernel_type", "kernel_data", "shared_mem_bytes"}
FIELDS |= {f"{what}_{axis}" for what in ("grid", "block") for axis in "xyz"}
"""What XLA wants to know of a kernel; without one of them it refuses the program."""
HOPPER = 232448
"""Bytes of shared memory that a block may have on an H100 or H200."""


@pytest.fixture(autouse=True)
def hopper(monkeypatch):
    """A GPU that is not there: its sizes, and the name of the source in place of compiled code."""
    for module in (one_hot, full, attention):
        monkeypatch.setattr(module, "shared_limit", lambda: HOPPER)
    for module in (one_hot, full, own_rows, choose.cuda):
        monkeypatch.setattr(module, "usable", lambda: True)
    for module in (one_hot, sizes, joining, token_rows):
        monkeypatch.setattr(module, "multiprocessors", lambda: 132)
    monkeypatch.setattr(launch, "_architecture", lambda: "compute_90")
    monkeypatch.setattr(launch, "_ptx", lambda source, macros, architecture: f"{source} {dict(macros)}")


def sent(settings, gradient, members=2, batch=6, noisy=False):
    """The custom calls of the program for a GPU."""

    def new(seed):
        return transformer(settings.model, settings.task.vocab, settings.task.reads, jax.random.key(seed))

    models = jax.eval_shape(jax.vmap(new), jnp.arange(members))
    arguments = [
        models,
        jax.ShapeDtypeStruct((members, batch, settings.task.length + 1), jnp.int32),
        jax.ShapeDtypeStruct((members, batch), jnp.float32),
    ]
    if noisy:
        arguments.append(jax.eval_shape(lambda: jax.random.split(jax.random.key(0), members)))
    many = jax.jit(jax.vmap(lambda *each: gradient(each[0], settings.task, *each[1:])))
    text = many.trace(*arguments).lower(lowering_platforms=("cuda",)).as_text()
    return re.findall(r"custom_call @__gpu\$xla\.gpu\.ptx\(.*", text)


def names_of(calls):
    return [re.search(r'name = "(\w+)"', call)[1] for call in calls]


def test_the_minimal_model_is_one_kernel_for_all_members():
    settings = minimal_as_run()
    assert one_hot.covers(asked_of(settings))
    (call,) = sent(settings, one_hot.gradient)
    assert set(re.findall(r"(\w+) = ", call)) >= FIELDS
    assert "block_x = 512" in call
    assert "grid_x = 2" in call, "six sequences are one block's work"
    assert int(re.search(r"shared_mem_bytes = (\d+)", call)[1]) <= HOPPER


def test_members_whose_tables_do_not_fit_the_cache_take_further_launches_in_even_groups():
    calls = sent(minimal_as_run(), one_hot.gradient, members=40)
    assert [re.search(r"grid_x = (\d+)", call)[1] for call in calls] == ["14", "14", "12"]


@pytest.mark.parametrize("noisy", [False, True])
def test_the_full_model_is_three_kernels_for_all_members_and_two_for_rows_with_dropout(noisy):
    settings = full_as_run()
    assert full.covers(asked_of(settings))

    def gradient(model, task, sequences, weights, key=None):
        return full.gradient(model, task, sequences, weights, key)

    calls = sent(settings, gradient, noisy=noisy)
    rows, inner = ("token_rows", "token_rows_backward"), ("attention_forward", "tail_gradient", "attention_backward")
    assert names_of(calls) == ([rows[0], *inner, rows[1]] if noisy else [*inner])
    for call in calls:
        assert set(re.findall(r"(\w+) = ", call)) >= FIELDS
        assert int(re.search(r"shared_mem_bytes = (\d+)", call)[1]) <= HOPPER
        if "token_rows" in call:
            assert "grid_x = 1056" in call, "eight blocks for each multiprocessor"
        else:
            assert "grid_x = 132" in call
            assert f"'SHARED_ROWS': {0 if noisy else 1}" in call.replace("\\27", "'")


@pytest.mark.parametrize(
    ("noisy", "kernels"),
    [
        # How many results of a kernel begin as an operand's copy: without that, sums would start from anything.
        (False, {"window_forward": 0, "tail_gradient": 1, "window_backward": 2}),
        (
            True,
            {
                "window_last": 0,
                "window_forward": 0,
                "tail_gradient": 0,
                "window_backward": 1,
                "window_last_backward": 1,
            },
        ),
    ],
)
def test_an_ngram_model_has_kernels_that_read_its_windows(noisy, kernels):
    settings = full_as_run().changed(task={"context": 4})
    form = choose._on_gpu(asked_of(settings), 8, 8)
    assert form.shortfall is None

    def gradient(model, _, sequences, weights, key=None):
        return form.gradient(model, sequences, weights, key)

    calls = sent(settings, gradient, noisy=noisy)
    copies = [call.count("output_operand_alias<") for call in calls]
    assert dict(zip(names_of(calls), copies, strict=True)) == kernels
    for call in calls:
        assert set(re.findall(r"(\w+) = ", call)) >= FIELDS
        assert "grid_x = 132" in call
        macros = call.replace("\\27", "'")
        assert "'BATCH': 120" in macros, "twenty windows of each of six sequences"
        assert f"'ROWS': {120 if noisy else 50}" in macros
        assert f"'LENGTH': {1 if 'tail_gradient' in call else 4}" in macros


@pytest.mark.parametrize(("layers", "noisy", "norm"), [(1, False, "none"), (2, True, "post")])
def test_dense_rows_are_looked_up_mixed_and_joined_forward_and_backward(layers, noisy, norm):
    settings = full_as_run().changed(model={"layers": layers, "norm": norm})
    form = choose._on_gpu(asked_of(settings), 6, 6)
    assert "dense" in form.name

    def gradient(model, _, sequences, weights, key=None):
        return form.gradient(model, sequences, weights, key)

    calls = sent(settings, gradient, noisy=noisy)
    layer = ["attention", "joining", "joining"]
    forward = ["token_rows", *(f"{name}_forward" for name in layers * layer)]
    backward = [*(f"{name}_backward" for name in layers * layer[::-1]), "token_rows_backward"]
    assert names_of(calls) == forward + backward
    for call in calls:
        macros = call.replace("\\27", "'")
        assert set(re.findall(r"(\w+) = ", call)) >= FIELDS
        assert "'LENGTH': 31" in macros or "'LENGTH': 20" in macros
        assert int(re.search(r"shared_mem_bytes = (\d+)", call)[1]) <= HOPPER


@pytest.mark.parametrize(
    ("context", "model"),
    [
        (None, {}),
        (33, {}),
        (4, {"heads": 15}),
        (4, {"norm": "pre"}),
        (4, {"width": 120}),
        (4, {"positions": "alibi"}),
    ],
)
def test_windows_that_no_kernel_serves_are_left_to_the_tables(context, model):
    settings = full_as_run()
    settings = replace(settings, task=replace(settings.task, order=40), model=replace(settings.model, **model))
    assert not ngram.covers(asked_of(settings.changed(task={"context": context})))
    assert not full.covers(asked_of(settings))


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("model", {"norm": "pre"}),
        ("model", {"mlp": 65}),
        ("model", {"layers": 2}),
        ("model", {"width": 120}),
        ("task", {"vocab": 57}),
        ("task", {"horizon": 25}),
        ("training", {"precision": "float32"}),
    ],
)
def test_what_no_kernel_serves_is_left_to_the_tables(part, change):
    settings = full_as_run()
    settings = replace(settings, **{part: replace(getattr(settings, part), **change)})
    assert not full.covers(asked_of(settings))
    assert not one_hot.covers(asked_of(settings))
