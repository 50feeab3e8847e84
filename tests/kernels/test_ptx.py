"""PTX is made once for all processes, of one kernel at a time, and only of what a program really launches."""

import ctypes
import re
from importlib.resources import files

import jax
import jax.numpy as jnp
import pytest

from headway.kernels.cuda import launch
from headway.kernels.cuda.members import over_members

MACROS = (("BATCH", 6), ("ONLY", "tail_gradient"))
SOURCES = sorted(path.name for path in files("headway.kernels.cuda").iterdir() if path.name.endswith(".cu"))


@pytest.fixture
def made(monkeypatch):
    """A compiler that is not there; what it was asked for."""
    asked = []

    def compiled(library, source, text, header, options):
        asked.append((source, *options))
        return f"// {source} {options}\n.entry"

    monkeypatch.setattr(launch, "_library", lambda: ctypes.CDLL(None))
    monkeypatch.setattr(launch, "_version", lambda library: (12, 9))
    monkeypatch.setattr(launch, "_compiled", compiled)
    return asked


@pytest.fixture
def cache(tmp_path):
    before = getattr(jax.config, "jax_compilation_cache_dir")  # noqa: B009 (no type checker knows it)
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    yield tmp_path
    jax.config.update("jax_compilation_cache_dir", before)


def ptx(source="tail.cu", macros=MACROS, architecture="compute_90"):
    """As in a process of its own."""
    return launch._ptx.__wrapped__(source, macros, architecture)


def test_what_was_made_is_found_by_the_next_process(made, cache):
    first = ptx()
    assert ptx() == first and len(made) == 1
    [path] = cache.iterdir()
    assert re.fullmatch(r"tail_gradient-[0-9a-f]{32}\.ptx", path.name)
    assert path.stat().st_mode & 0o777 == 0o600


def test_another_size_architecture_compiler_or_source_is_another_file(made, cache, monkeypatch):
    ptx()
    ptx(macros=(("BATCH", 7), MACROS[1]))
    ptx(architecture="compute_80")
    ptx("attention.cu", (("ONLY", "attention_forward"),))
    ptx("attention.cu", (("ONLY", "attention_backward"),))
    monkeypatch.setattr(launch, "_version", lambda library: (13, 0))
    ptx()
    monkeypatch.setattr(launch, "HEADERS", ("tail.cu", "rows.cuh"))
    ptx()
    assert len(made) == len(list(cache.iterdir())) == 7


@pytest.mark.parametrize("damage", [lambda code: code[:-1], lambda code: code[:7] + b"x" + code[8:], lambda code: b""])
def test_a_damaged_one_is_made_anew_and_replaced(made, cache, damage):
    first = ptx()
    [path] = cache.iterdir()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert ptx() == first and len(made) == 2
    assert path.read_bytes() == whole and list(cache.iterdir()) == [path]


def test_without_a_cache_or_with_one_that_takes_nothing_it_is_made_every_time(made, cache):
    jax.config.update("jax_compilation_cache_dir", str(cache / "missing"))
    assert ptx() == ptx() and len(made) == 2
    jax.config.update("jax_compilation_cache_dir", None)
    assert ptx() == ptx() and len(made) == 4
    assert not list(cache.iterdir())


@pytest.mark.parametrize("source", SOURCES)
def test_the_compiler_sees_one_kernel_and_the_rest_of_the_file(source):
    text = (files("headway.kernels.cuda") / source).read_text()
    kernels = launch._KERNEL.findall(text)
    assert len(kernels) == text.count("__global__") > 0, "every kernel is recognised"
    for name in kernels:
        alone = launch.alone_in(text, name)
        assert alone.count("__global__") == 1 and launch._KERNEL.findall(alone) == [name]
        assert len(re.findall(r"static __device__ void \w+\(", alone)) == len(kernels) - 1
        assert alone.count("\n") == text.count("\n"), "so that errors name the right lines"
    assert launch.alone_in(text, "another") == text


def doubled(x):
    """A kernel for all members at once, whose size depends on how many there are."""
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    (found,) = launch.call("tail.cu", "tail_gradient", {"MEMBERS": len(x)}, (x,), (shape,), blocks=1, threads=32)
    return found


@pytest.fixture
def asked(monkeypatch):
    """How many members PTX was asked for."""
    found = []

    def noted(source, macros, architecture):
        found.append(dict(macros)["MEMBERS"])
        return "ptx"

    monkeypatch.setattr(launch, "_architecture", lambda: "compute_90")
    monkeypatch.setattr(launch, "_ptx", noted)
    return found


def test_what_is_traced_for_one_member_and_runs_for_all_is_made_for_all_alone_and_before_it_is_lowered(asked):
    traced = jax.jit(jax.vmap(over_members(doubled))).trace(jnp.ones((5, 3)))
    [future] = [*launch._under_way.values()]
    assert future.result() == "ptx" and asked == [5]
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert text.count("@__gpu$xla.gpu.ptx") == 1 and "tensor<5x3xf32>" in text
    assert asked == [5] and not launch._under_way


def test_one_member_alone_has_its_own(asked):
    traced = jax.jit(over_members(doubled)).trace(jnp.ones(3))
    assert not asked and not launch._under_way
    assert "tensor<1x3xf32>" in traced.lower(lowering_platforms=("cuda",)).as_text()
    assert asked == [1]


def test_what_the_compiler_refuses_is_reported_where_it_is_lowered(asked, monkeypatch):
    def refuse(source, macros, architecture):
        raise RuntimeError("tail.cu does not compile")

    monkeypatch.setattr(launch, "_ptx", refuse)
    traced = jax.jit(jax.vmap(over_members(doubled))).trace(jnp.ones((6, 3)))
    with pytest.raises(RuntimeError, match="does not compile"):
        traced.lower(lowering_platforms=("cuda",))
