"""A kernel compiled once is loaded by later processes: without numba, with the same bits, and only if it is whole."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.process import Shell

GRADIENT = """
import sys
import jax, numpy as np
from headway.kernels.cpu.one_hot import gradient
from headway.models.initialisation import transformer
from headway.presets import MINIMAL
from headway.tasks.chain import Chain
task = Chain(vocab=3, blocks=((1,),), horizon=2)
model = transformer(MINIMAL, task.vocab, task.reads, jax.random.key(0))
sequences = np.random.default_rng(0).integers(0, 3, (5, task.length + 1)).astype(np.int32)
loss, change = jax.jit(lambda model: gradient(model, task, sequences, np.ones(5, np.float32)))(model)
print(np.asarray(loss).tobytes().hex(), np.asarray(change.layers[0].attention.query).tobytes().hex())
print("numba" in sys.modules)
"""

FULL = """
import sys
from dataclasses import replace
import jax, numpy as np
from headway.kernels.asked import Asked
from headway.kernels.choose import form_of
from headway.models.initialisation import transformer
from headway.presets import FULL
from headway.tasks.chain import Chain
task, settings = Chain(vocab=3, blocks=((1,),), horizon=2), replace(FULL, dropout=0.1, width=33)
model = transformer(settings, task.vocab, task.reads, jax.random.key(0))
form = form_of(Asked(settings, "float32", task.vocab, task, task.reads), 5, 5)
sequences = np.random.default_rng(0).integers(0, 3, (5, task.length + 1)).astype(np.int32)
gradient = lambda model: form.gradient(model, sequences, np.ones(5, np.float32), jax.random.key(1))
both = jax.jit(lambda model: (gradient(model), form.read(model, sequences)))(model)
print(*(np.asarray(leaf).tobytes().hex() for leaf in jax.tree.leaves(both)))
print("numba" in sys.modules)
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("compiled")


def computed(cache: Path, script: str = GRADIENT) -> tuple[str, bool]:
    """The bits of loss and gradient in a process of its own, and whether it needed numba."""
    environment = Shell(cache, cache).environment
    ended = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    bits, numba = ended.stdout.splitlines()
    return bits, numba == "True"


@pytest.fixture(scope="module")
def compiled(cache) -> str:
    bits, numba = computed(cache)
    assert numba
    assert len(list(cache.glob("headway_*.kernel"))) == 3, "the kernel, what a thread does with it, and what XLA calls"
    return bits


def test_a_kernel_that_was_kept_gives_the_same_bits_without_numba(cache, compiled):
    before = {path: path.read_bytes() for path in cache.glob("*.kernel")}
    assert computed(cache) == (compiled, False)
    assert {path: path.read_bytes() for path in cache.glob("*.kernel")} == before


def test_a_damaged_one_is_compiled_anew_and_replaced(cache, compiled):
    [path] = cache.glob("headway_one_hot_*.kernel")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"x")
    assert computed(cache) == (compiled, True)
    assert len(path.read_bytes()) == len(whole) and path.read_bytes()[-1:] == whole[-1:]


def test_one_that_needs_a_function_which_is_not_there_counts_as_none(cache, compiled):
    [path] = cache.glob("headway_one_hot_*.kernel")
    head, code = path.read_bytes().split(b"\n", 1)
    assert b'"Py_DecRef"' in head
    path.write_bytes(head.replace(b'"Py_DecRef"', b'"no_such_function"') + b"\n" + code)
    assert computed(cache) == (compiled, True)


def test_kernels_of_a_full_model_need_numba_only_to_be_compiled(tmp_path):
    """Then it is imported by one thread alone: of two at the same time, one found it without its parts."""
    bits, numba = computed(tmp_path, FULL)
    kernels = {path.name.split("-")[0] for path in tmp_path.glob("*.kernel")}
    assert numba and any("attention" in name for name in kernels) and any("dropped" in name for name in kernels)
    assert computed(tmp_path, FULL) == (bits, False)
