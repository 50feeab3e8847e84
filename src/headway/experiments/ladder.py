"""Paper A, Figure 3: the full transformer passes the rungs, and trained n-gram models, one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headway.presets import (
    full_as_run,
    full_printed,
    full_quick,
    minimal_as_run,
    minimal_printed,
    minimal_quick,
)
from headway.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding


def beside_ngrams(settings: Settings) -> Settings:
    """The run compared with one n-gram model for each rung: contexts that end where a block ends."""
    ends = sorted(max(block) for block in settings.task.blocks)
    return replace(settings, references=tuple(ends))


GRIDS = {
    "quick": [beside_ngrams(full_quick()), minimal_quick()],
    "printed": [beside_ngrams(full_printed()), minimal_printed()],
    "as-run": [beside_ngrams(full_as_run()), minimal_as_run()],
}
SEEDS = {"quick": 8, "printed": 8, "as-run": 8}


def read(results: Results) -> list[Finding]:
    """A1, A2 and A6."""
    from headway.claims import meets_ngrams_in_order, meets_rungs_in_order, same_in_kind

    full, minimal = results
    return [meets_rungs_in_order(*full), meets_ngrams_in_order(*full), same_in_kind(full, minimal)]


def draw(results: Results) -> dict[str, Figure]:
    """Figure 3: left against the rungs, right against the n-gram models."""
    from headway.report.figures import draw_excess, draw_kl, new_figure, reference_names
    from headway.report.stages import boundary_table

    settings, trajectory = results[0]
    boundaries = boundary_table(settings, trajectory)
    both, staircase = new_figure(5.5, 2.2), new_figure(5.5, 2.4)
    left, right = both.subplots(1, 2, sharey=False)
    draw_kl(left, trajectory, boundaries=boundaries)
    if "kl_references" in trajectory:
        draw_kl(right, trajectory, reference_names(settings.references), "kl_references", boundaries)
    else:
        right.set_axis_off()
    draw_excess(staircase.subplots(), trajectory, boundaries=boundaries, log_steps=True)
    return {"figure-3": both, "excess-loss": staircase}
