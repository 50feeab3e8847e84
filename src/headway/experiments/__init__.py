"""One file per experiment of the papers; this folder is the index.

A module's docstring says what it shows, and its EXPERIMENT holds its runs, its claims and its figures, which need only
what is on disk.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.experiments.experiment import Experiment, headline

if TYPE_CHECKING:
    # Help must not wait for NumPy, which these need.
    from headway.claims.claim import Results as Results

__all__ = ["NAMES", "Experiment", "find", "grid_of", "headline", "titles"]

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


def find(name: str) -> Experiment:
    """The experiment of that name."""
    module = importlib.import_module(f"headway.experiments.{_file(name)}")
    if hasattr(module, "EXPERIMENT"):
        return module.EXPERIMENT
    from headway.experiments.of_module import of_module

    return of_module(module)


def titles() -> dict[str, str]:
    """What every experiment shows, in one line: read from its file, so that help need not wait for all of them."""
    folder = Path(__file__).parent
    return {name: headline(ast.get_docstring(ast.parse((folder / f"{_file(name)}.py").read_bytes()))) for name in NAMES}


def _file(name: str) -> str:
    return name.replace("-", "_")


def grid_of(grids: Mapping[str, Mapping[str, Any]], results: Mapping[str, Any]) -> str:
    """The first grid with runs of all these names: of a whole grid its own, as none has all names of another and more.

    Of a part it may be another; that lacks runs, too, so that nothing is judged by it.
    """
    return next((grid for grid, runs in grids.items() if results.keys() <= runs.keys()), next(iter(grids)))
