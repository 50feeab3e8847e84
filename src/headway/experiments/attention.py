"""Paper A, Figure 2: the sum of the full transformer's attention patterns, one colour a head, at chosen steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import FULLS, MINIMALS, MORE_SEEDS, PUBLISHED_SNAPSHOTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

# The minimal model has no residual path: beside it the full model's neglect of lag 1 (A5) means something.
GRIDS = {grid: {"full": FULLS[grid](), "minimal": MINIMALS[grid]()} for grid in FULLS}
SEEDS = MORE_SEEDS


def read(results: Results) -> list[Finding]:
    """A3, A4 and A5."""
    from headway.claims.competition import A4, compete_then_cooperate
    from headway.claims.looking import A3, A5, newest_is_spared, published_pictures

    full = results.get("full")
    return [
        published_pictures(A3, full),
        compete_then_cooperate(A4, full),
        newest_is_spared(A5, full, without_residual=results.get("minimal")),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """Figure 2 for the first seed; each head alone; mass per block over training.

    A run that is shorter than the paper's is shown at its end; one that kept no matrices, only by its masses.
    """
    from headway.analysis.seed_stages import boundary_table
    from headway.report.figures import draw_attention, draw_heads, draw_mass, new_figure

    settings, trajectory = results["full"]
    seed, blocks = trajectory.seeds[0], settings.task.blocks
    steps = sorted({min(step, settings.training.steps) for step in PUBLISHED_SNAPSHOTS})
    together, alone, mass = new_figure(5.5, 1.9), new_figure(5.5, 4.2), new_figure(5.5, 2.4)
    draw_mass(mass.subplots(), trajectory, None, blocks, boundary_table(trajectory), log_steps=True)
    if len(trajectory.times("attention")) == 0:
        return {"mass": mass}
    draw_attention(together, trajectory, seed, steps, blocks)
    draw_heads(alone, trajectory, seed, steps, blocks)
    return {"figure-2": together, "heads": alone, "mass": mass}
