"""Paper A, Figures 6 and 7: with fresh data at every step the stages are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.kind import SAME, same_in_kind
from headway.experiments.experiment import Experiment, headline
from headway.experiments.stages import TOO_SLOW
from headway.presets import FEW_SEEDS, MINIMALS, for_each_grid, pictures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

A11 = Claim(
    "A11",
    title="the same with fresh data",
    statement="With fresh data at every step the behaviour is the same in kind.",
    definition=f"With new sequences at every step {SAME}.",
    quantity="how many of the two hold",
    judge=of_runs(same_in_kind, "fresh"),
    reasons={"printed": TOO_SLOW},
)


def draw(results: Results) -> dict[str, Figure]:
    """Figure 7, loss and KL; Figure 6, attention."""
    from headway.report.figures import figure_progress, with_pictures

    return with_pictures({"figure-7": figure_progress(results["fresh"])}, {"figure-6": results["fresh"]})


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=for_each_grid(MINIMALS, lambda base: {"fresh": pictures(base).changed(training={"data": "fresh"})}),
    seeds=FEW_SEEDS,
    claims=(A11,),
    figures=draw,
)
