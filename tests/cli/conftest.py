import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli.dry import dry_commands

from headway.cli import main
from headway.records import Cell
from headway.store import Store


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it wrote to the screen."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="module", autouse=True)
def as_users_have_it(unchecked: None) -> None:
    """Commands run without checks of shapes and types; what they call is checked in tests of its own."""


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
    """A folder with some quick runs, made by formulas; only to be read.

    They are all that stages, attention, ladder and construction need, and the first of many in other experiments.
    """
    from tests.experiments.made import place_quick_runs

    store = Store(tmp_path_factory.mktemp("made") / "runs")
    place_quick_runs(store)
    return store.root


@pytest.fixture
def dry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Cell]]:
    """`headway ARGUMENTS` without training or writing: the cells that it would compute."""
    return dry_commands(tmp_path, monkeypatch)
