"""Paper A, Figure 1: the minimal transformer climbs the ladder in stages, its heads competing, then cooperating.

KL to every rung over training, and where the heads look at each stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import minimal_as_run, minimal_printed, minimal_quick

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

GRIDS = {"quick": [minimal_quick()], "printed": [minimal_printed()], "as-run": [minimal_as_run()]}
SEEDS = {"quick": 8, "printed": 8, "as-run": 8}


def read(results: Results) -> list[Finding]:
    """A1 and A4 for the minimal model."""
    from headway.claims import compete_then_cooperate, meets_rungs_in_order

    ((settings, trajectory),) = results
    return [
        meets_rungs_in_order(settings, trajectory, "A1 minimal"),
        compete_then_cooperate(settings, trajectory, "A4 minimal"),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """All in one picture; Figure 1, its lower half; the excess loss; the heads' indices.

    The first two show attention matrices: a run that kept none does without them.
    """
    from headway.report.figures import (
        draw_competition,
        draw_excess,
        figure_overview,
        figure_stages,
        new_figure,
    )
    from headway.report.stages import boundary_table

    ((settings, trajectory),) = results
    boundaries = boundary_table(settings, trajectory)
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
