import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli.dry import dry_commands

from headway.cli import main
from headway.experiments import attention, ladder
from headway.records import Cell
from headway.store import Store


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it wrote to the screen."""

    code: int
    out: str
    err: str


@pytest.fixture
def headway(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Said]]:
    """`headway ARGUMENTS` in this process. An error that is not told in words is raised and fails the test."""
    monkeypatch.setenv("COLUMNS", "250")  # so that no sentence is broken
    before = signal.getsignal(signal.SIGTERM)

    def call(*arguments: object) -> Said:
        capsys.readouterr()
        code = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        written = capsys.readouterr()
        return Said(code, written.out, written.err)

    yield call
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session")
def made_records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the quick runs of all three experiments, made by formulas; only to be read."""
    from tests.report.made_run import made_trajectory

    seeds = tuple(range(ladder.SEEDS["quick"]))
    store = Store(tmp_path_factory.mktemp("made") / "runs")
    for settings in (ladder.GRIDS["quick"][0], attention.GRIDS["quick"][1]):
        with store.open(Cell(settings, seeds)) as work:
            work.place(made_trajectory(settings, seeds), {"device": "none: made up"})
    return store.root


@pytest.fixture
def dry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Cell]]:
    """`headway ARGUMENTS` without training or writing: the cells that it would compute."""
    return dry_commands(tmp_path, monkeypatch)
