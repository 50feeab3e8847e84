"""One file per experiment of the papers; this folder is the index.

A module's docstring says what it shows, and its EXPERIMENT holds its runs, its claims and its figures, which need only
what is on disk.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from headway.experiments.experiment import Experiment, headline

if TYPE_CHECKING:
    # Help must not wait for NumPy, which these need.
    from headway.claims.claim import Results as Results

__all__ = ["NAMES", "Experiment", "find", "headline", "titles"]

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
    "two-layers",
    "nonuniform",
    "overlapping",
    "sgd",
    "flow",
    "regression",
    "overlay",
    "stage-times",
    "third-stage",
    "flow-decay",
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
    "transformer-appendix",
    "transformer-variations",
    "recall-appendix",
    "recall-repetition-appendix",
    "induction",
    "induction-minimal",
    "sub-n-grams",
    "k-gram-points",
    "linear-attention",
    "attention-rank",
    "loss-plateau",
    "text",
)
"""In the order of paper A, with what goes beyond it at its end, of paper B, from the toy on, of their siblings, and
real text."""


def find(name: str) -> Experiment:
    """The experiment of that name."""
    return importlib.import_module(f"headway.experiments.{_file(name)}").EXPERIMENT


def titles() -> dict[str, str]:
    """What every experiment shows, in one line: read from its file, so that help need not wait for all of them."""
    folder = Path(__file__).parent
    return {name: headline(ast.get_docstring(ast.parse((folder / f"{_file(name)}.py").read_bytes()))) for name in NAMES}


def _file(name: str) -> str:
    return name.replace("-", "_")
