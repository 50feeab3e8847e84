"""Paper A, Figure 2: the sum of the full transformer's attention patterns, one colour a head, at chosen steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import (
    PUBLISHED_SNAPSHOTS,
    full_as_run,
    full_printed,
    full_quick,
    minimal_as_run,
    minimal_printed,
    minimal_quick,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

# The minimal model has no residual path: beside it the full model's neglect of lag 1 (A5) means something.
GRIDS = {
    "quick": [full_quick(), minimal_quick()],
    "printed": [full_printed(), minimal_printed()],
    "as-run": [full_as_run(), minimal_as_run()],
}
SEEDS = {"quick": 8, "printed": 8, "as-run": 8}


def read(results: Results) -> list[Finding]:
    """A3, A4 and A5."""
    from headway.claims import compete_then_cooperate, newest_is_spared, published_pictures

    full, minimal = results
    return [
        published_pictures(*full),
        compete_then_cooperate(*full),
        newest_is_spared(*full, without_residual=minimal),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """Figure 2 for the first seed; each head alone; mass per block over training.

    A run that is shorter than the paper's is shown at its end; one that kept no matrices, only by its masses.
    """
    from headway.report.figures import draw_attention, draw_heads, draw_mass, new_figure
    from headway.report.stages import boundary_table

    settings, trajectory = results[0]
    seed, blocks = trajectory.seeds[0], settings.task.blocks
    steps = sorted({min(step, settings.training.steps) for step in PUBLISHED_SNAPSHOTS})
    together, alone, mass = new_figure(5.5, 1.9), new_figure(5.5, 4.2), new_figure(5.5, 2.4)
    draw_mass(mass.subplots(), trajectory, None, blocks, boundary_table(settings, trajectory), log_steps=True)
    if len(trajectory.times("attention")) == 0:
        return {"mass": mass}
    draw_attention(together, trajectory, seed, steps, blocks)
    draw_heads(alone, trajectory, seed, steps, blocks)
    return {"figure-2": together, "heads": alone, "mass": mass}
