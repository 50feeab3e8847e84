"""Paper A, Figure 3: the full transformer passes the rungs, and trained n-gram models, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import FULLS, MINIMALS, MORE_SEEDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

GRIDS = {grid: {"full": FULLS[grid]().beside_ngrams(), "minimal": MINIMALS[grid]()} for grid in FULLS}
SEEDS = MORE_SEEDS


def read(results: Results) -> list[Finding]:
    """A1, A2 and A6."""
    from headway.claims.kind import A6, same_in_kind
    from headway.claims.ladder import (
        A1,
        A1_NEARER,
        A2,
        meets_ngrams_in_order,
        meets_rungs_in_order,
        nearer_than_stageless,
    )

    full, minimal = results.get("full"), results.get("minimal")
    return [
        meets_rungs_in_order(A1, full),
        nearer_than_stageless(A1_NEARER, full),
        meets_ngrams_in_order(A2, full),
        same_in_kind(A6, full, minimal, names=("full", "minimal")),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """Figure 3: left against the rungs, right against the n-gram models."""
    from headway.analysis.seed_stages import boundary_table
    from headway.report.figures import draw_excess, draw_kl, new_figure, reference_names

    settings, trajectory = results["full"]
    boundaries = boundary_table(trajectory)
    both, staircase = new_figure(5.5, 2.2), new_figure(5.5, 2.4)
    left, right = both.subplots(1, 2, sharey=False)
    draw_kl(left, trajectory, boundaries=boundaries)
    if "kl_references" in trajectory:
        draw_kl(right, trajectory, reference_names(settings.references), "kl_references", boundaries)
    else:
        right.set_axis_off()
    draw_excess(staircase.subplots(), trajectory, boundaries=boundaries, log_steps=True)
    return {"figure-3": both, "excess-loss": staircase}
