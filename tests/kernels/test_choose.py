"""Which form serves which settings on which device, and what is said where a faster one exists."""

from dataclasses import replace
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.kernels.forms import asked_of

from headway.kernels import choose, form_of, simple
from headway.models.initialisation import transformer
from headway.presets import full_quick, minimal_as_run
from headway.records import Cell
from headway.store import Store
from headway.sweep import here
from headway.sweep.watch import Silence
from headway.tasks.run import Settings
from headway.training import problem

MINIMAL = minimal_as_run()
SMALL = replace(
    MINIMAL,
    task=replace(MINIMAL.task, vocab=4, blocks=((1,), (2,)), horizon=3),
    training=replace(MINIMAL.training, steps=2, batch=4, samples=4, test_samples=4),
)


def changed(settings: Settings, **parts) -> Settings:
    return replace(settings, **{name: replace(getattr(settings, name), **change) for name, change in parts.items()})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (MINIMAL, "one kernel"),
        (changed(MINIMAL, model={"heads": 8}), "one kernel"),
        (changed(MINIMAL, task={"context": 4}), "one kernel"),
        (changed(MINIMAL, training={"precision": "float64"}), "tables"),
        (changed(MINIMAL, model={"residual": True}), "tables"),
        (full_quick(), "tables"),
    ],
)
def test_on_a_cpu_the_minimal_model_has_a_kernel_and_everything_else_tables(settings, words):
    form = form_of(asked_of(settings), 8, 8)
    assert words in form.name
    assert form.shortfall is None


def test_without_numba_the_tables_serve_a_cpu_and_say_what_is_missing(monkeypatch):
    monkeypatch.setattr(choose.cpu, "usable", lambda: False)
    form = form_of(asked_of(MINIMAL), 8, 8)
    assert "tables" in form.name
    assert "numba" in form.shortfall


@pytest.fixture
def plain_gpu(monkeypatch):
    """A GPU that cannot run CUDA kernels."""
    device = SimpleNamespace(platform="gpu", device_kind="other", compute_capability="0")
    monkeypatch.setattr(choose.jax, "devices", lambda *_: [device])


@pytest.mark.usefixtures("plain_gpu")
def test_where_no_kernel_runs_dense_products_do_and_say_what_is_missing():
    form = form_of(asked_of(SMALL), 4, 4)
    assert "dense" in form.name
    assert "compute capability 8" in form.shortfall
    assert "NVRTC" in form.shortfall
    model = transformer(SMALL.model, SMALL.task.vocab, SMALL.task.reads, jax.random.key(0))
    sequences = jnp.asarray(np.random.default_rng(0).integers(0, 4, (5, SMALL.task.length + 1)))
    found = jax.jit(lambda model: form.gradient(model, sequences, jnp.ones(5), None))(model)
    wanted = jax.jit(lambda model: simple.gradient(model, SMALL.task, sequences, jnp.ones(5), None, 5))(model)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7), found, wanted)


@pytest.mark.usefixtures("plain_gpu")
def test_without_kernels_windows_have_tables_on_a_gpu_where_dense_rows_would_be_one_for_each_of_their_tokens():
    assert "tables" in form_of(asked_of(changed(SMALL, task={"context": 2})), 4, 4).name


def test_a_slower_form_is_told_once_and_not_for_every_cell(monkeypatch, tmp_path):
    told = []
    watch = Silence()
    watch.note = told.append
    slow = lambda *arguments: form_of(*arguments)._replace(shortfall="this could be faster")  # noqa: E731
    monkeypatch.setattr(problem, "form_of", slow)
    monkeypatch.setattr(here, "_said", set())
    cells = [Cell(changed(SMALL, training={"steps": steps}), (0,)) for steps in (1, 2)]
    here.run_cells(cells, Store(tmp_path), watch)
    assert told == ["this could be faster"]
