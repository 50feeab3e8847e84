import hashlib
import os
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import headway
from headway.records import Trajectory
from headway.store import Record, Store

WORKER = Path(__file__).parent / "worker.py"


@pytest.fixture(autouse=True)
def disk_that_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a power cut could tell whether the disk obeyed; what is asked of it, and when, is tested."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="session")
def worker() -> SimpleNamespace:
    """The tiny run of worker.py, whose cell is `worker.CELL`."""
    return SimpleNamespace(**runpy.run_path(str(WORKER)))


@pytest.fixture(scope="session")
def expected(worker: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Trajectory:
    """What the tiny run gives when nobody disturbs it."""
    with Store(tmp_path_factory.mktemp("undisturbed")).open(worker.CELL) as work:
        return worker.compute(work)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


@pytest.fixture
def record(store: Store, worker: SimpleNamespace) -> Record:
    """A whole record in `store`."""
    with store.open(worker.CELL) as work:
        worker.compute(work)
    return store.load(worker.CELL)


@pytest.fixture
def launch() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start worker.py as a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object) -> subprocess.Popen[str]:
        source = str(Path(headway.__file__).parent.parent)
        process = subprocess.Popen(
            [sys.executable, str(WORKER), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": source},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def fingerprint() -> Callable[[Path], dict[str, str]]:
    """Name and content of everything under a folder."""

    def take(folder: Path) -> dict[str, str]:
        return {
            str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "-"
            for path in folder.rglob("*")
        }

    return take


@pytest.fixture
def same() -> Callable[[Trajectory, Trajectory], bool]:
    """Whether two trajectories agree in every bit, name, type and shape."""

    def bits(arrays: dict[str, np.ndarray]) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
        return {name: (str(values.dtype), values.shape, values.tobytes()) for name, values in arrays.items()}

    def compare(a: Trajectory, b: Trajectory) -> bool:
        return (
            a.seeds == b.seeds
            and dict(a.clock_of) == dict(b.clock_of)
            and all(bits(getattr(a, group)) == bits(getattr(b, group)) for group in ("clocks", "arrays", "facts"))
        )

    return compare


@pytest.fixture
def names() -> Callable[[Path], list[str]]:
    """What lies in a folder."""
    return lambda folder: sorted(path.name for path in folder.iterdir())
