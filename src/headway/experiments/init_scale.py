"""Paper A, Figure 4 left: excess loss of the minimal transformer, for several scales of its initial scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headway.analysis.seed_stages import boundary_table, ladder_stages
from headway.claims.claim import Claim, Results, Run, judged, of_runs, steps_in_words
from headway.experiments.experiment import Experiment, headline
from headway.experiments.stages import TOO_SLOW
from headway.presets import FEW_SEEDS, MINIMALS, curves, for_each_grid
from headway.published import PLATEAUS
from headway.records import Finding
from headway.tasks.run import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALES = {f"scale u = {u:g}": u for u in (1e-3, 1e-6, 1e-9, 0.0)}
"""u, as run; the paper does not print all of them."""


@judged
def smaller_start_is_later(claim: Claim, *runs: Run) -> Finding:
    """t(u) falls with u, and the run with u = 0 stays at rung 1; runs of the uniform start in any order."""
    runs = tuple(sorted(runs, key=lambda run: run[0].model.scale, reverse=True))
    scales = [settings.model.scale for settings, _ in runs]
    if len(runs[0][0].task.blocks) < 2:
        return claim.not_run("The chain has one block, so there is only one stage.")
    if len(scales) < 3 or scales[-1] != 0:
        return claim.not_run("It needs two starts above 0, and 0 itself.")
    ends = np.stack([boundary_table(trajectory)[:, 0] for _, trajectory in runs[:-1]], axis=1)
    later = np.isfinite(ends).all(axis=1) & np.all(np.diff(ends, axis=1) > 0, axis=1)
    stuck = np.array([found.count <= 1 for found in ladder_stages(runs[-1][1])])
    words = f"The first stage ends at steps {steps_in_words(ends)} for u = {', '.join(f'{u:g}' for u in scales[:-1])}."
    return claim.all_of(runs, {"later for smaller u": later, "u = 0 stops": stuck}, words, ends[:, -1] / ends[:, 0])


A7 = Claim(
    "A7",
    title="smaller initial scores delay the stages; zero scores leave only the first",
    statement="The smaller the initial scale u of the scores, the later the stages; with u = 0 learning stops after "
    "the first.",
    definition="""With the same seed, the boundary between the first and the second stage exists for
    every u above 0 and comes strictly later for every smaller one; the run with u = 0 never leaves the first stage.""",
    quantity="step of the first boundary with the smallest u above 0, relative to that with the largest",
    judge=of_runs(smaller_start_is_later, *SCALES),
    reasons={"printed": TOO_SLOW},
)


def _runs(base: Settings) -> dict[str, Settings]:
    starts = {name: curves(base).changed(model={"initialisation": "uniform", "scale": u}) for name, u in SCALES.items()}
    return {"Xavier scale": base, **starts}


def draw(results: Results) -> dict[str, Figure]:
    """Figure 4, left, with the published plateaus of what was run."""
    from headway.report.figures import figure_family

    least = "scale u = 1e-09"
    published = PLATEAUS["init-scale", least] if results[least][0] == EXPERIMENT.grids["as-run"][least] else ()
    return {"figure-4-left": figure_family(results, plateaus=published)}


EXPERIMENT = Experiment(
    title=headline(__doc__), grids=for_each_grid(MINIMALS, _runs), seeds=FEW_SEEDS, claims=(A7,), figures=draw
)
