"""One file per experiment of the papers; this folder is the index.

An experiment is a module: its docstring says what it shows, GRIDS holds its runs by name, `read` turns what was
measured into findings and `draw` into figures. Both need only what is on disk.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from headway.settings import ConstructionSettings, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.records import Finding, Trajectory

    # Help must not wait for NumPy, which these need.
    Results = Mapping[str, tuple[Settings, Trajectory]]
    """What the runs of a grid measured, by their names; a run that was not made is missing."""

NAMES = (
    "stages",
    "attention",
    "ladder",
    "construction",
    "ablations",
    "init-scale",
    "hierarchy",
    "dataset-size",
    "online",
    "reversed",
    "weight-decay",
    "two-blocks",
    "nonuniform",
    "overlapping",
    "sgd",
    "differences",
    "positions",
    "depth",
)
"""In the order of paper A; the last three go beyond it."""


class Experiment(Protocol):
    """What every module here offers."""

    __doc__: str | None
    GRIDS: Mapping[str, Mapping[str, Settings | ConstructionSettings]]
    """quick, printed, as-run -> name of a run -> its settings; the first is the one that the page opens with."""
    SEEDS: dict[str, int]
    """How many seeds each grid uses unless told otherwise."""

    def read(self, results: Results) -> list[Finding]:
        """Every claim of the experiment; one that misses a run is "not run"."""
        ...

    def draw(self, results: Results) -> dict[str, Figure]:
        """The figures, the one that shows most first; all runs are there."""
        ...


def find(name: str) -> Experiment:
    """The experiment of that name."""
    return importlib.import_module(f"headway.experiments.{name.replace('-', '_')}")  # ty: ignore[invalid-return-type]
