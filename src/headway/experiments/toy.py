"""Paper B's toy model: loss, attention and W over training, on the expected loss and on samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.plateau_laws import EARLY, MOVED, sharp_and_in_order
from headway.experiments.experiment import Experiment, headline
from headway.experiments.selection import made
from headway.experiments.toy_sizes import descended, every_size, named
from headway.tasks.toy import Toy, toy_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPECTATION = Toy(trained="matrices")


def _runs(
    expectation: tuple[Sequence[int], Sequence[int]], sampled: tuple[Sequence[int], Sequence[int]], samples: int
) -> dict[str, Any]:
    """d and T of the expectation and of training sets of so many samples."""
    exact = every_size(EXPECTATION, dimension=expectation[0], length=expectation[1])
    of_set = every_size(EXPECTATION, dimension=sampled[0], length=sampled[1])
    return {
        **named("expectation", [toy_settings(task) for task in exact]),
        **named(f"{samples} samples", [toy_settings(task, samples) for task in of_set]),
    }


GRIDS = {
    "quick": _runs(((16,), (64,)), ((16,), (64,)), 256),
    # Ours: the slides show curves of one size, and do not say which; nor how large a training set would be.
    "paper": _runs(((16, 64), (64, 256)), ((16, 32), (64, 128)), 512),
}


_EXACT, _SAMPLED = descended(sampled=False), descended(sampled=True)


B5 = Claim(
    "B5",
    "The transition is sharp, and W moves before attention does.",
    f"At every size the loss takes less time from {EARLY:.0%} of its initial value to the threshold than it took to "
    f"reach {EARLY:.0%}; and <W, W*>/d has covered {MOVED:.0%} of the distance from 0 to 1 before attention has "
    f"covered {MOVED:.0%} of the distance from B/T to 1.",
    "duration of the drop, relative to the time before it; the largest of all sizes",
    about=_EXACT,
    judge=of_runs(sharp_and_in_order, smooth=True),
    title="toy model: the transition is sharp, and W moves before attention",
)


def draw(results: Results) -> dict[str, Figure]:
    """Loss, attention and W over time at the largest size: of the expectation, and of a training set."""
    from headway.report.figures import figure_transition

    kinds = {"expectation": made(results, _EXACT), "samples": made(results, _SAMPLED)}
    return {
        name: figure_transition(max(runs, key=lambda run: run[0].task.dimension * run[0].task.length))
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
            "Trained on samples instead of the expectation, the transition is also sharp, and W also moves "
            "before attention.",
            B5.definition,
            B5.quantity,
            about=_SAMPLED,
            judge=of_runs(sharp_and_in_order, smooth=True),
            title="toy model, trained on samples: the transition is sharp, and W moves before attention",
        ),
    ),
    figures=draw,
)
