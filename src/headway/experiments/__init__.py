"""One file per experiment of the papers; this folder is the index.

An experiment is a module: its docstring says what it shows, GRIDS holds its runs by name, `read` turns what was
measured into findings and `draw` into figures. Both need only what is on disk.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.records import Finding, Trajectory

    # Help must not wait for NumPy, which these need.
    Results = Mapping[str, tuple[Any, Trajectory]]
    """Settings of a run and what it measured, by its name; a run that was not made is missing."""

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
    "flow",
    "regression",
    "overlay",
    "stage-times",
    "differences",
    "positions",
    "depth",
    "toy",
    "escape",
    "context-repetition",
    "cross-sample-repetition",
    "transformer-law",
    "recall",
    "recall-repetition",
)
"""In the order of paper A, with what goes beyond it at its end, and of paper B, from the toy on."""


class Experiment(Protocol):
    """What every module here offers."""

    __doc__: str | None
    GRIDS: Mapping[str, Mapping[str, Any]]
    """quick, printed, as-run, or quick, paper -> name of a run -> its settings; the page opens with the first."""
    SEEDS: dict[str, int]
    """How many seeds each grid uses unless told otherwise."""

    def read(self, results: Results) -> list[Finding]:
        """Every claim of the experiment; one that misses a run is "not run"."""
        ...

    def draw(self, results: Results) -> dict[str, Figure]:
        """The figures, the one that shows most first; all runs are there."""
        ...


def grid_of(grids: Mapping[str, Mapping[str, Any]], results: Mapping[str, Any]) -> str:
    """The first grid with runs of all these names: of a whole grid its own, as none has all names of another and more.

    Of a part it may be another; that lacks runs, too, so that nothing is judged by it.
    """
    return next((grid for grid, runs in grids.items() if results.keys() <= runs.keys()), next(iter(grids)))


def find(name: str) -> Experiment:
    """The experiment of that name."""
    module = importlib.import_module(f"headway.experiments.{name.replace('-', '_')}")
    return _Wrapped(module.EXPERIMENT) if hasattr(module, "EXPERIMENT") else module  # ty: ignore[invalid-return-type]


class _Wrapped:
    """An `EXPERIMENT` as those see it who expect a module."""

    def __init__(self, experiment: Any) -> None:
        self.__doc__ = experiment.title
        self.GRIDS, self.SEEDS, self.draw = experiment.grids, experiment.seeds, experiment.draw
        self._experiment = experiment

    def read(self, results: Results) -> list[Finding]:
        return self._experiment.read(results, grid_of(self.GRIDS, results))
