"""Faults for real. `./run reliability` runs these; `./run test` leaves them out: they need root, Slurm and minutes."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.reliability import table
from tests.reliability.places import CHECKOUT

HERE = Path(__file__).parent
_rows: list[str] = []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Every test in this folder is marked; without `-m reliability` none of them runs."""
    ours = [item for item in items if item.path.is_relative_to(HERE)]
    for item in ours:
        item.add_marker("reliability")
    if "reliability" not in config.option.markexpr:
        config.hook.pytest_deselected(items=ours)
        items[:] = [item for item in items if item not in ours]
    elif ours and os.getuid():
        pytest.exit("these tests mount disks: run them as root, on a machine that may be disturbed.", returncode=2)


@pytest.fixture
def tell() -> Callable[[str, str, int, str, str], None]:
    """tell(where, injected, times, what happened, lost): a row of the table, once all of it has been checked."""

    def add(where: str, injected: str, times: int, happened: str, lost: str = "nothing") -> None:
        _rows.append(table.row(where, injected, times, happened, lost))

    return add


@pytest.fixture(scope="session", autouse=True)
def document() -> Iterator[None]:
    """Rows of faults that were injected today replace those of an earlier day."""
    yield
    versions = ", ".join(f"{name} {version(name)}" for name in ("jax", "submitit", "ray") if find_spec(name))
    when = f"{datetime.date.today()}, Linux {platform.release()}, Python {platform.python_version()}, {versions}"
    table.write(CHECKOUT / "docs/reliability.md", _rows, f"Last run: {when}.")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled programs, which all processes of the suite share."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture(scope="session")
def start(cache: Path) -> Iterator[Callable]:
    """start(): a process that runs the cells in one folder after another."""
    from tests.reliability.freezer import Resident

    started: list[Resident] = []

    def make(**more: str) -> Resident:
        started.append(Resident(cache, **more))
        return started[-1]

    yield make
    for resident in started:
        resident.close()


@pytest.fixture(scope="session")
def resident(start: Callable, expected: list[str], tmp_path_factory: pytest.TempPathFactory):
    """One that has all the programs it can need."""
    from tests.reliability.freezer import warmed

    return warmed(start(), tmp_path_factory.mktemp("warm"))


@pytest.fixture(scope="session")
def expected(start: Callable, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The bits of the cells when nobody disturbs them."""
    from tests.reliability.cells import outcome

    root = tmp_path_factory.mktemp("undisturbed")
    first = start()
    assert first.run(root) == "done"
    first.close()
    return outcome(root)


@pytest.fixture(scope="session")
def swept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The bits of the sweep by the command line when nobody disturbs it."""
    from tests.reliability.sweeping import CELLS, Sweep

    sweep = Sweep(tmp_path_factory.mktemp("swept") / "runs", "here")
    assert sweep.end() == 0, sweep.log.read_text()
    assert len(sweep.outcome()) == CELLS
    return sweep.outcome()
