"""Paper A, Figure 1: the minimal transformer climbs the ladder in stages, its heads competing, then cooperating.

KL to every rung over training, and where the heads look at each stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import MINIMALS, MORE_SEEDS, for_each_grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

GRIDS = for_each_grid(MINIMALS, lambda base: {"minimal": base})
SEEDS = MORE_SEEDS


def read(results: Results) -> list[Finding]:
    """A1 and A4 for the minimal model."""
    from headway.claims.competition import A4, compete_then_cooperate
    from headway.claims.ladder import A1, A1_NEARER, meets_rungs_in_order, nearer_than_stageless

    run = results.get("minimal")
    return [
        meets_rungs_in_order(A1.called("A1 minimal"), run),
        nearer_than_stageless(A1_NEARER.called("A1 minimal, nearer"), run),
        compete_then_cooperate(A4.called("A4 minimal"), run),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """All in one picture; Figure 1, its lower half; the excess loss; the heads' indices.

    The first two show attention matrices: a run that kept none does without them.
    """
    from headway.analysis.seed_stages import boundary_table
    from headway.report.figures import draw_competition, draw_excess, figure_overview, figure_stages, new_figure

    settings, trajectory = results["minimal"]
    boundaries = boundary_table(trajectory)
    staircase, indices = new_figure(5.5, 2.4), new_figure(5.5, 2.4)
    draw_excess(staircase.subplots(), trajectory, boundaries=boundaries, log_steps=True)
    draw_competition(indices.subplots(), trajectory, settings.task.blocks, boundaries, log_steps=True)
    if len(trajectory.times("attention")) == 0:
        return {"excess-loss": staircase, "competition": indices}
    return {
        "overview": figure_overview(trajectory, settings, boundaries=boundaries),
        "figure-1": figure_stages(trajectory, settings.task.blocks, boundaries=boundaries),
        "excess-loss": staircase,
        "competition": indices,
    }
