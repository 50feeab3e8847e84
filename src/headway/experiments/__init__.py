"""One file per experiment of the papers; this folder is the index.

An experiment is a module: its docstring says what it shows, GRIDS holds its settings, `read` turns what was
measured into findings and `draw` into figures. Both need only what is on disk.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol

from headway.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.records import Finding, Trajectory

    # Help must not wait for NumPy, which these need.
    Results = list[tuple[Settings, Trajectory]]
    """What the runs of a grid measured, in the grid's order."""

NAMES = ("stages", "attention", "ladder")


class Experiment(Protocol):
    """What every module here offers."""

    __doc__: str | None
    GRIDS: dict[str, list[Settings]]
    """quick, printed, as-run -> the runs; the first is the one that the page opens with."""
    SEEDS: dict[str, int]
    """How many seeds each grid uses unless told otherwise."""

    def read(self, results: Results) -> list[Finding]: ...

    def draw(self, results: Results) -> dict[str, Figure]: ...


def find(name: str) -> Experiment:
    """The experiment of that name."""
    return importlib.import_module(f"headway.experiments.{name}")  # ty: ignore[invalid-return-type]
