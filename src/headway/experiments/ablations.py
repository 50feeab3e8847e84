"""Paper A, section 2.4: the full transformer without norm, residual, MLP, key, output or embedding, and without all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import FEW_SEEDS, FULLS, MINIMALS, curves
from headway.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

REMOVED = {
    "norm": {"norm": "none"},
    "residual": {"residual": False},
    "MLP": {"mlp": 0},
    "key": {"keys": False},
    "output": {"output": False},
    # Ours: one-hot positions with it, as in the minimal model; three heads do not divide a stream of the tokens alone.
    "embedding": {"embedding": "one-hot", "positions": "one-hot"},
}
"""Component -> the switches that remove it."""


def _runs(grid: str) -> dict[str, Settings]:
    full = FULLS[grid]()
    start = curves(full)
    if grid == "quick":  # one position fewer, so that three heads divide the width of one-hot vectors
        start = start.changed(task={"horizon": 11})
    all_removed = curves(MINIMALS[grid]()).changed(task={"blocks": full.task.blocks})
    # Ours: half of the paper's steps where they are enough. The full model has met its last rung before step 500.
    steps = {name: min(full.training.steps, 2000 if name == "embedding" else 1000) for name in REMOVED}
    singles = {
        f"without {name}": start.changed(model=switches, training={"steps": steps[name]})
        for name, switches in REMOVED.items()
    }
    return {"full": full, **singles, "without all": all_removed}


GRIDS = {grid: _runs(grid) for grid in FULLS}
SEEDS = FEW_SEEDS


def read(results: Results) -> list[Finding]:
    """A19: one by one, and all together."""
    from headway.claims.kind import A19, no_part_matters, same_in_kind

    together = A19.called("A19 together", "Without all of these components together learning is incremental, too.")
    return [
        no_part_matters(A19, *(results.get(f"without {name}") for name in REMOVED), names=tuple(REMOVED)),
        same_in_kind(together, results.get("without all")),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """KL to the rungs, one panel for each model."""
    from headway.report.figures import figure_grid

    return {"ladders": figure_grid(results)}
