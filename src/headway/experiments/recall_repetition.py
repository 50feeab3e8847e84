"""Paper B: repetition makes transformers learn associative recall sooner, and too much of it makes them overfit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.experiments import grid_of
from headway.experiments.recall import BASES
from headway.settings import RecallSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

SIZES = {"quick": {"tokens": 64, "pairs": 4}, "paper": {"tokens": 64, "pairs": 8}}
STEPS = {"quick": 1600, "paper": 10_000}  # ours: by the first runs, twice as many as it takes without repetition
EVERY = {"quick": 25, "paper": 50}
COPIES = {"quick": (2.0, 4.0), "paper": (2.0, 4.0, 8.0)}
SHARES = {"quick": (0.5, 0.9), "paper": (0.25, 0.5, 0.95)}
"""Ours: the slides do not say which. With as many copies as pairs every slot holds the query's pair."""


def _runs(grid: str) -> dict[str, RecallSettings]:
    """All of one shape, and to the same step: what overfits is seen at the end."""
    base = BASES[grid].changed(task=SIZES[grid], training={"steps": STEPS[grid], "every": EVERY[grid], "tail": -1.0})
    copies = {f"B = {b:g}": base.changed(task={"copies": b}) for b in COPIES[grid]}
    shares = {f"p = {p:g}": base.changed(task={"favoured": p}) for p in SHARES[grid]}
    return {"none": base, **copies, **shares}


GRIDS = {grid: _runs(grid) for grid in SIZES}
SEEDS = {"quick": 4, "paper": 4}


def read(results: Results) -> list[Finding]:
    """B7 and B8."""
    from headway.claims import recall

    grid = GRIDS[grid_of(GRIDS, results)]
    copies, shares = ([results.get(name) for name in grid if name.startswith(kind)] for kind in ("B", "p"))
    none = results.get("none")
    return [
        recall.repetition_shortens(recall.B7_RECALL, none, copies[0], *shares),
        recall.too_much_overfits(recall.B8, none, copies[-1], shares[-1]),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """Accuracy with and without repetition."""
    from headway.report.figures import figure_repetition

    return {"repetition": figure_repetition(results)}
