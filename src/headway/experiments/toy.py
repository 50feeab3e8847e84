"""Paper B's toy: attention waits on a plateau, then finds the one token that matters at once; W moves first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.plateau_laws import EARLY, MOVED, sharp_and_in_order
from headway.experiments.experiment import Experiment, headline
from headway.experiments.selection import having, made
from headway.experiments.toy_sizes import every_size, named
from headway.settings import ToySettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPECTATION = ToySettings(model="matrices")


def _runs(
    expectation: tuple[Sequence[int], Sequence[int]], sampled: tuple[Sequence[int], Sequence[int]], samples: int
) -> dict[str, ToySettings]:
    """d and T of the expectation and of training sets of so many samples."""
    of_samples = replace(EXPECTATION, samples=samples)
    return {
        **named("expectation", every_size(EXPECTATION, dimension=expectation[0], length=expectation[1])),
        **named(f"{samples} samples", every_size(of_samples, dimension=sampled[0], length=sampled[1])),
    }


GRIDS = {
    "quick": _runs(((16,), (64,)), ((16,), (64,)), 256),
    # Ours: the slides show curves of one size, and do not say which; nor how large a training set would be.
    "paper": _runs(((16, 64), (64, 256)), ((16, 32), (64, 128)), 512),
}


_EXACT = having(samples=None)


def _sampled(settings: ToySettings) -> bool:
    return not _EXACT(settings)


B5 = Claim(
    "B5",
    "The transition is sharp, and W moves before attention does.",
    f"At every size the loss takes less time from {EARLY:.0%} of its start to the threshold than it took to "
    f"get to {EARLY:.0%}; and <W, W*>/d has come {MOVED:.0%} of its way from 0 to 1 before attention has come "
    f"{MOVED:.0%} of its way from B/T to 1.",
    "time of the fall, relative to the time before it; the longest of all sizes",
    about=_EXACT,
    judge=of_runs(sharp_and_in_order, smooth=True),
    title="the transition is sharp, and W moves before attention",
)


def draw(results: Results) -> dict[str, Figure]:
    """Loss, attention and W over time at the largest size: of the expectation, and of a training set."""
    from headway.report.figures import figure_transition

    kinds = {"expectation": made(results, _EXACT), "samples": made(results, _sampled)}
    return {
        name: figure_transition(max(runs, key=lambda run: run[0].dimension * run[0].length))
        for name, runs in kinds.items()
    }


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=GRIDS,
    seeds={"quick": 4, "paper": 8},
    claims=(
        B5,
        Claim(
            "B5 samples",
            "The same with a training set instead of the expectation.",
            B5.definition,
            B5.quantity,
            about=_sampled,
            judge=of_runs(sharp_and_in_order, smooth=True),
            title="the same with samples",
        ),
    ),
    figures=draw,
)
