"""Paper A, section B.3: excess loss with and without weight decay."""

from __future__ import annotations

import numpy as np

from headway.analysis.seed_stages import boundary_table
from headway.claims.claim import Claim, Run, judged, of_runs
from headway.experiments.experiment import Experiment, headline
from headway.experiments.figures import family
from headway.presets import FEW_SEEDS, FULLS, curves, for_each_grid
from headway.records import Finding

ALMOST = 0.1
"""Relative difference that counts as almost none: the seeds differ by more among themselves."""


@judged
def decay_hardly_matters(claim: Claim, run: Run, without: Run) -> Finding:
    """|a / b - 1| < 0.1 for every boundary and for the lowest excess loss."""
    with_decay, without_decay = (boundary_table(trajectory) for _, trajectory in (run, without))
    alike = np.all(np.isfinite(with_decay) == np.isfinite(without_decay), axis=1)
    one, other = (
        np.column_stack([boundaries, trajectory["excess_loss"].min(axis=1)])
        for boundaries, (_, trajectory) in ((with_decay, run), (without_decay, without))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.maximum(one / other, other / one) - 1
    apart = np.where(one * other < 0, np.inf, apart)  # on both sides of the truth
    apart[:, :-1] = np.where(np.isnan(with_decay) & np.isnan(without_decay), 0, apart[:, :-1])
    apart = np.nan_to_num(apart, nan=np.inf)
    boundaries = apart[:, :-1].max(axis=1, initial=0)
    medians = np.median(boundaries), np.median(apart[:, -1])
    detail = f"Of the boundaries {medians[0]:.3f}, of the loss {medians[1]:.3f} (medians over seeds)."
    parts = {"boundaries": alike & (boundaries < ALMOST), "lowest excess loss": apart[:, -1] < ALMOST}
    return claim.all_of([run, without], parts, detail, apart.max(axis=1))


A13 = Claim(
    "A13",
    title="weight decay makes almost no difference",
    statement="Weight decay makes almost no difference.",
    definition=f"""With the same seed, with and without weight decay, every stage boundary exists in
    both or in neither, and the boundaries and the lowest excess loss differ by less than {ALMOST:.0%}.""",
    quantity="largest relative difference of a boundary or of the lowest excess loss",
    judge=of_runs(decay_hardly_matters, "weight decay", "no weight decay"),
)


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=for_each_grid(
        FULLS,
        lambda base: {"weight decay": base, "no weight decay": curves(base).changed(training={"weight_decay": 0.0})},
    ),
    seeds=FEW_SEEDS,
    claims=(A13,),
    figures=family("excess-loss"),
)
