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
from headway.kernels.cpu.shipped import SHAPE, TEXTS, shipped

NAMES = (SHAPE.name("gradient"), SHAPE.name("read"), HELPER, CALL)
SERVED = platform.system() == "Linux" and platform.machine() == "x86_64"
pytestmark = pytest.mark.skipif(not SERVED, reason="made for Linux on x86-64; elsewhere numba makes them")

BITS = """
import sys
import jax, numpy as np
from headway.kernels.cpu import register
from headway.kernels.cpu.one_hot import gradient, read
from headway.models.initialisation import transformer
from headway.presets import MINIMAL
from headway.tasks.chain import Chain
if sys.argv[1] == "numba":
    register.shipped = lambda name: None
task = Chain()
model = transformer(MINIMAL, task.vocab, task.reads, jax.random.key(0))
model = jax.tree.map(lambda leaf: 30 * leaf, model)
random = np.random.default_rng(0)
sequences = random.integers(0, task.vocab, (301, task.length + 1)).astype(np.int32)
weights = random.uniform(0, 2, 301).astype(np.float32)
both = jax.jit(lambda model: (gradient(model, task, sequences, weights), read(model, task, sequences)))(model)
print(*(np.asarray(leaf).tobytes().hex() for leaf in jax.tree.leaves(both)))
print("numba" in sys.modules)
"""


def computed(folder: Path, who: str) -> tuple[str, bool]:
    """The bits of gradient and logits, with nothing kept, and whether numba was needed for them."""
    script = [sys.executable, "-c", BITS, who]
    ended = subprocess.run(script, env=Shell(folder, folder).environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    bits, numba = ended.stdout.splitlines()
    return bits, numba == "True"


def test_they_give_the_bits_that_numba_gives_and_need_no_numba(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "numba").mkdir()
    bits, numba = computed(tmp_path / "own", "own")
    assert not numba
    assert computed(tmp_path / "numba", "numba") == (bits, True)


@pytest.mark.parametrize("name", NAMES)
def test_they_were_made_from_the_files_beside_them(name):
    assert shipped(name) is not None, "make them again: python -m headway.kernels.cpu.shipped"


def test_there_are_no_others():
    assert {path.name for path in TEXTS.iterdir()} == {f"{name}.ll.gz" for name in NAMES}


def test_other_files_another_system_damage_or_another_shape_count_as_none(tmp_path, monkeypatch):
    name = f"{HELPER}.ll.gz"
    assert shipped(SHAPE._replace(heads=4).name("read")) is None
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
