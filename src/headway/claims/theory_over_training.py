"""How far the gradient flow predicts training, of its own model and of the transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.analysis import over_seeds
from headway.analysis.crossings import first_at_least
from headway.analysis.seed_stages import boundary_table
from headway.claims.claim import Claim, Run, judged, steps_in_words, where_known
from headway.claims.flow import FlowRun, known, rising
from headway.records import Finding, Trajectory
from headway.tasks.regression import Regression
from headway.tasks.run import Settings

TrainedRun = tuple[Settings[Regression, None], Trajectory]

FLOW_CLOCK = "time"
SHARED = ("features", "length", "ratio", "base", "noise")
"""What a flow and a training must have in common, besides the heads, to be compared seed by seed."""


@judged
def flow_predicts_training(claim: Claim, flow: FlowRun, *trained: TrainedRun, close: float, near: float) -> Finding:
    """Boundaries against boundaries and heads against heads, seed by seed; trained runs in any order.

    Gradient descent may miss the flow by the share `close`, SGD, whose boundaries its samples move, by `near`.
    """
    gradient, sampled, adam = (_by_optimiser(trained, word) for word in ("gd", "sgd", "adamw"))
    if not (gradient and sampled and adam):
        return claim.not_run("It needs the flow, and runs by gradient descent, by SGD and by AdamW.")
    if any(_shared(run[0]) != _shared(flow[0]) for run in trained):
        return claim.not_run("The flow and the runs do not learn the same features from the same initial values.")
    missed = [[difference(run, flow) for run in runs] for runs in (gradient, sampled)]
    heads = [[same_heads(run, flow) for run in runs] for runs in (gradient, sampled)]
    ordered = in_order(adam[0])
    parts = {
        f"{_name(gradient[0])} within {close:.0%}": missed[0][0] <= close,
        f"{_name(gradient[0])}: same heads": heads[0][0],
        f"{_name(sampled[0])} within {near:.0%}": missed[1][0] <= near,
        "AdamW in order": ordered,
    }
    ends = _where_it_ends(gradient, missed[0], heads[0], close) + _where_it_ends(sampled, missed[1], heads[1], near)
    detail = f"Medians over seeds of the largest difference: {'; '.join(ends)}. {_adam_in_words(adam[0], flow)}"
    return claim.all_of([flow, *trained], parts, detail, np.where(np.isfinite(missed[0][0]), missed[0][0], np.nan))


def difference(run: TrainedRun, flow: FlowRun) -> np.ndarray:
    """max_i |b_i / b_i(flow) - 1|, (seed,): infinite where one of the two lacks a boundary."""
    found, wanted = boundaries_of(run), boundaries_of(flow)
    with np.errstate(invalid="ignore"):
        ratio = np.abs(found / wanted - 1)
    return np.where(np.isfinite(found) & np.isfinite(wanted), ratio, np.inf).max(axis=1)


def same_heads(run: TrainedRun, flow: FlowRun) -> np.ndarray:
    """Whether every head has most of its attention at the same feature's position at both ends: (seed,)."""
    here, there = (np.argmax(trajectory["attention"][:, -1], axis=-1) for _, trajectory in (run, flow))
    return np.all(here == there, axis=-1)


def in_order(run: TrainedRun) -> np.ndarray:
    """sum_k <V_k, V_j*> s_k[j] reaches m_j / 2 later for every further j, and for all of them: (seed,)."""
    settings, trajectory = run
    learned = np.sum(trajectory["values"] * trajectory["attention"], axis=2)
    return rising(first_at_least(trajectory.times("values"), learned, np.divide(settings.task.strengths, 2)))


def relative_boundaries(run: TrainedRun, flow: FlowRun) -> np.ndarray:
    """b_i / b_i(flow), (seed, boundary); AdamW's steps are divided by what makes the first one 1. NaN where none is."""
    found, wanted = (known(boundaries_of(each)) for each in (run, flow))
    ratio = found / wanted
    return ratio / ratio[:, :1] if method_of(run[0]) == "adamw" else ratio


@judged
def one_factor_maps(claim: Claim, training: Run, flow: FlowRun, *, within: float) -> Finding:
    """b_i / b_1 of every seed against the same of the flow, i > 1."""
    blocks, features = len(training[0].task.blocks), flow[0].features
    if blocks < 3:
        return claim.not_run("The first boundary sets the factor: without three blocks there is no other to predict.")
    if blocks != features:
        return claim.not_run(f"The chain has {blocks} blocks, but the flow has {features} features.")
    found, wanted = boundary_table(training[1]), known(boundaries_of(flow))[:, 1:]
    middle = np.array([over_seeds(column).median for column in wanted.T])
    stretch = found[:, 1:] / (found[:, :1] * middle[1:] / middle[0])
    with np.errstate(invalid="ignore"):
        close = np.all(np.abs(np.log(stretch)) <= np.log(within), axis=1)
        own = wanted[:, -1] / wanted[:, 0]
        ratio = found[:, -1] / found[:, 0]
        inside = (ratio >= np.fmin.reduce(own, initial=np.inf)) & (ratio <= np.fmax.reduce(own, initial=-np.inf))
    return claim.finding(
        [training, flow],
        stretch[:, -1],
        close,
        _ratios_in_words(found, wanted, ratio, own),
        {
            f"within a factor {within:g}": where_known(close, stretch[:, -1]),
            "within the range of the flow's seeds": where_known(inside, stretch[:, -1]),
        },
    )


def _ratios_in_words(found: np.ndarray, wanted: np.ndarray, ratio: np.ndarray, own: np.ndarray) -> str:
    here, there, lacking = over_seeds(ratio), over_seeds(own), int(np.isnan(own).sum())
    words = f"The transformer's boundaries are at steps {steps_in_words(found)} (medians over seeds)"
    if not here.seeds or not there.seeds:
        return f"{words}; one of the two never reaches the last stage."
    low, high = np.nanmin(own), np.nanmax(own)
    power = np.log(here.median) / np.log(there.median)
    censored = f"; {lacking} of its {len(own)} seeds have no last one" if lacking else ""
    return (
        f"{words}, the last {here.median:.2g} times as late as the first; the flow's {there.median:.2g} times, from "
        f"{low:.2g} to {high:.2g} over seeds{censored}. If steps grew as a power of the flow's time, both would fit "
        f"with the exponent {power:.2f}."
    )


def _where_it_ends(
    runs: Sequence[TrainedRun], missed: Sequence[np.ndarray], heads: Sequence[np.ndarray], limit: float
) -> list[str]:
    """By how much each run misses the flow, and how many seeds keep its heads: from the best to the worst."""
    said = []
    for run, off, same in zip(runs, missed, heads, strict=True):
        over = over_seeds(off)
        by = f"{100 * over.median:.3g} %" if over.seeds else "an unknown amount"
        said.append(
            f"{_name(run)} by {by} ({int(np.sum(off <= limit))} of {len(off)} seeds within {limit:.0%}, "
            f"{int(np.sum(same))} with the same heads)"
        )
    return said


def _adam_in_words(run: TrainedRun, flow: FlowRun) -> str:
    later = [over_seeds(column) for column in relative_boundaries(run, flow).T[1:]]
    said = ", ".join(f"{over.median:.2g}" if over.seeds else "(never)" for over in later)
    same = int(np.sum(same_heads(run, flow)))
    return (
        f"AdamW's boundaries are at steps {steps_in_words(boundaries_of(run))}; scaled so that the first equals the "
        f"flow's, the later ones come at {said} times the flow's, with the same heads in {same} of "
        f"{len(run[1].seeds)} seeds."
    )


def _by_optimiser(runs: Sequence[TrainedRun], word: str) -> list[TrainedRun]:
    """The runs of one optimiser, the nearest to a flow first: small steps, large batches."""
    chosen = [run for run in runs if method_of(run[0]) == word]
    return sorted(chosen, key=lambda run: (run[0].training.learning_rate, -run[0].training.batch))


def method_of(settings: Any) -> str:
    """gd, on the expected loss; sgd, on samples; or adamw."""
    if settings.training.optimiser == "adamw":
        return "adamw"
    return "gd" if settings.training.data == "exact" else "sgd"


def _name(run: TrainedRun) -> str:
    training = run[0].training
    return f"GD {training.learning_rate:g}" if method_of(run[0]) == "gd" else f"SGD batch {training.batch}"


def _shared(settings: Any) -> list[float]:
    own = getattr(settings, "task", settings)
    return [own.head_count, decay_of(settings), *(getattr(own, name) for name in SHARED)]


def decay_of(settings: Any) -> float:
    """lambda, of a flow and of what follows it; AdamW's decay passes its division by, and has no such number."""
    if not hasattr(settings, "training"):
        return settings.weight_decay
    return 0.0 if method_of(settings) == "adamw" else settings.training.weight_decay


def unit_of(run: tuple[Any, Trajectory]) -> float:
    """What a tick of a run's clock is of the flow's time: the learning rate, of steps of gd and sgd.

    AdamW divides every gradient by its own size, so that no product with its rate is a time: it counts steps. Flows,
    and older records of the regression, count the flow's time.
    """
    settings, trajectory = run
    if trajectory.clock_of["loss"] == FLOW_CLOCK or method_of(settings) == "adamw":
        return 1.0
    return settings.training.learning_rate


def times_of(run: tuple[Any, Trajectory]) -> np.ndarray:
    """When the loss was measured, in the flow's time, or in AdamW's steps."""
    return unit_of(run) * run[1].times("loss")


def boundaries_of(run: tuple[Any, Trajectory]) -> np.ndarray:
    """When the loss went through the level between two plateaus, in the same time: (seed, boundary)."""
    return unit_of(run) * np.asarray(run[1].facts["boundaries"], float)
