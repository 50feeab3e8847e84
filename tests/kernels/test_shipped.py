"""Kernels that come with Headway are those that numba makes from the same files, to the last bit."""

import gzip
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.process import Shell

from headway.kernels.cpu import shipped as module
from headway.kernels.cpu.objects import CALL, HELPER
from headway.kernels.cpu.shipped import DROPPED, FULL, MINIMAL, PARTS, TEXTS, shipped

NAMES = (*(shape.name(part) for shape, parts in PARTS.items() for part in parts), HELPER, CALL)
SERVED = platform.system() == "Linux" and platform.machine() == "x86_64"
pytestmark = pytest.mark.skipif(not SERVED, reason="made for Linux on x86-64; elsewhere numba makes them")

BITS = """
import sys
import jax, numpy as np
from headway import presets
from headway.kernels.asked import Asked
from headway.kernels.choose import form_of
from headway.kernels.cpu import register
from headway.models.initialisation import transformer
who, name = sys.argv[1:]
if who == "numba":
    register.shipped = lambda name: None
settings = getattr(presets, name)()
task = settings.task
model = transformer(settings.model, task.vocab, task.reads, jax.random.key(0))
if name == "minimal_as_run":
    model = jax.tree.map(lambda leaf: 30 * leaf, model)
random = np.random.default_rng(0)
examples = 640  # with fewer, the full model has no table of scores
sequences = random.integers(0, task.vocab, (examples, task.length + 1)).astype(np.int32)
weights = random.uniform(0, 2, examples).astype(np.float32)
form = form_of(Asked(settings.model, settings.training.precision, task.vocab, task, task.reads), 64, 64)
keys = [None] if name == "minimal_as_run" else [None, jax.random.key(1)]

@jax.jit
def found(model):
    return form.read(model, sequences), [form.gradient(model, sequences, weights, key) for key in keys]

print(*(np.asarray(leaf).tobytes().hex() for leaf in jax.tree.leaves(found(model))))
print(*sorted(register._registered))
print("numba" in sys.modules)
"""


def computed(folder: Path, who: str, model: str) -> tuple[str, set[str], bool]:
    """The bits of gradients and logits with no kernel kept, which kernels they are of, and whether numba was needed."""
    script = [sys.executable, "-c", BITS, who, model]
    ended = subprocess.run(script, env=Shell(folder, folder).environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    bits, kernels, numba = ended.stdout.splitlines()
    return bits, set(kernels.split()), numba == "True"


@pytest.mark.parametrize("model, shapes", [("minimal_as_run", {MINIMAL}), ("full_as_run", {FULL, DROPPED})])
def test_they_give_the_bits_that_numba_gives_and_need_no_numba(model, shapes, tmp_path):
    bits, kernels, numba = computed(tmp_path, "own", model)
    assert kernels == {shape.name(part) for shape in shapes for part in PARTS[shape]}
    assert not numba
    kept = list(tmp_path.glob("*.kernel"))
    assert len(kept) >= len(kernels)
    for path in kept:  # XLA's programs stay: they call the kernels by name
        path.unlink()
    assert computed(tmp_path, "numba", model) == (bits, kernels, True)


@pytest.mark.parametrize("name", NAMES)
def test_they_were_made_from_the_files_beside_them(name):
    assert shipped(name) is not None, "make them again: python -m headway.kernels.cpu.shipped"


def test_there_are_no_others():
    assert {path.name for path in TEXTS.iterdir()} == {f"{name}.ll.gz" for name in NAMES}


def test_other_files_another_system_damage_or_another_shape_count_as_none(tmp_path, monkeypatch):
    name = f"{HELPER}.ll.gz"
    assert shipped(MINIMAL._replace(heads=4).name("read")) is None
    with monkeypatch.context() as other:
        other.setattr(module, "_sources", lambda: "others")
        assert shipped(HELPER) is None
    with monkeypatch.context() as other:
        other.setattr(module.llvm, "get_process_triple", lambda: "aarch64-apple-darwin")
        assert shipped(HELPER) is None
    monkeypatch.setattr(module, "TEXTS", tmp_path)
    shutil.copy(TEXTS / name, tmp_path / name)
    assert shipped(HELPER) is not None
    whole = (TEXTS / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    assert shipped(HELPER) is None
    (tmp_path / name).write_bytes(gzip.compress(gzip.decompress(whole).replace(b"define", b"defined")))
    assert shipped(HELPER) is None
