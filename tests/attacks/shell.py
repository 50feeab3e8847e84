"""`headway` in a process of its own with a home of its own, as users have it: the compile cache included."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.cli.forked import run
from tests.compiling import FLAGS

ROOT = Path(__file__).parent.parent.parent
SMALL = (
    *("--seeds", "1", "--task.vocab", "3", "--task.horizon", "2", "--task.blocks", "1", "2", "--model.heads", "2"),
    *("--training.steps", "4", "--training.batch", "4", "--training.samples", "8", "--training.test-samples", "8"),
    *("--evaluation.points", "2", "--evaluation.also", "--evaluation.snapshots", "2", "--no-page"),
)
TINY = ("run", "stages", *SMALL)
"""A training of a second, once it is compiled."""

Finished = subprocess.CompletedProcess[str]
Call = Callable[..., Finished]


def environment(home: Path, **more: str) -> dict[str, str]:
    """Nothing of the tests' own cache; the caller's home is left alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    ours = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "PYTHONPATH": str(ROOT / "src")}
    return {**kept, **ours, "JAX_PLATFORMS": "cpu", "COLUMNS": "250", "XLA_FLAGS": " ".join(FLAGS), **more}


def call(home: Path, folder: Path, *arguments: object, program: str | None = None, **more: str) -> Finished:
    """`headway ARGUMENTS` in `folder`, to its end; `program` is Python that stands in for it."""
    start = ["-m", "headway"] if program is None else ["-c", program]
    return run([*start, *map(str, arguments)], folder, environment(home, **more), 300)


def refused(ended: Finished, *words: str) -> None:
    """It ended with 2 and a message that says these words, without a traceback."""
    assert ended.returncode == 2, (ended.returncode, ended.stdout[-2000:], ended.stderr[-2000:])
    assert "Traceback" not in ended.stderr + ended.stdout, ended.stderr[-3000:]
    for each in words:
        assert each in ended.stderr, ended.stderr[-2000:]
