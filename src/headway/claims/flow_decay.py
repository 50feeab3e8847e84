"""What weight decay does to the stages of the gradient flow, and whether training with it follows the flow with it.

For records of the kind "stage-times" that differ in `weight_decay` alone, with the facts

    boundaries    (seed, feature)    t_1, t_2, ..: when the loss is half-way from one plateau to the next
    last_loss     (seed,)            the loss at the last time
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from headway.analysis import over_seeds
from headway.claims.claim import AnyRun, Claim, judged
from headway.claims.stage_times import StageTimesRun
from headway.claims.theory_over_training import boundaries_of, decay_of
from headway.records import Finding


def is_solved(settings: Any) -> bool:
    """Whether a run is a flow: nobody trained it."""
    return not hasattr(settings, "training")


def by_decay(runs: tuple[StageTimesRun, ...]) -> list[StageTimesRun]:
    """The runs, the least decay first."""
    return sorted(runs, key=lambda run: run[0].weight_decay)


def times_table(runs: list[StageTimesRun]) -> np.ndarray:
    """Boundaries (decay, seed, feature); infinite where there is none."""
    return np.stack([np.asarray(trajectory.facts["boundaries"], float) for _, trajectory in runs])


@judged
def decay_of_training_hardly_matters(claim: Claim, *runs: StageTimesRun, applied: float, almost: float) -> Finding:
    """The boundaries with the least decay lambda with lambda t_h >= `applied`, against those without."""
    ordered = by_decay(runs)
    if ordered[0][0].weight_decay != 0:
        return claim.not_run("It needs a flow without decay.")
    times = times_table(ordered)
    last = over_seeds(times[0, :, -1]).median
    enough = [k for k, (settings, _) in enumerate(ordered) if settings.weight_decay * last >= applied]
    if not enough and np.isfinite(last):
        return claim.not_run("No flow has that much decay.")
    if not enough:
        return claim.finding(ordered, np.full(times.shape[1], np.nan), np.full(times.shape[1], False))
    chosen = enough[0]
    apart = np.abs(times[chosen] / times[0] - 1)
    apart = np.where(np.isfinite(apart), apart, np.inf).max(axis=1)
    decay = ordered[chosen][0].weight_decay
    detail = f"Decay {decay:g}, times t_{times.shape[2]}: {decay * last:.2g}."
    return claim.finding([ordered[0], ordered[chosen]], apart, apart < almost, detail)


@judged
def decay_delays(claim: Claim, *runs: StageTimesRun, slack: float) -> Finding:
    """Every boundary comes later with more decay, or never; the stages that are missing are the last ones."""
    ordered = by_decay(runs)
    if len(ordered) < 3:
        return claim.not_run("It needs three decays.")
    times = times_table(ordered)
    filled = np.where(np.isfinite(times), times, np.inf)
    later = np.all(filled[1:] >= (1 - slack) * filled[:-1], axis=(0, 2))
    counts = np.isfinite(times).sum(axis=2)  # (decay, seed)
    fewer = np.all(np.diff(counts, axis=0) <= 0, axis=0) & (counts[-1] < counts[0])
    ratios = []
    for (settings, _), row in zip(ordered[1:], times[1:], strict=True):
        over = [over_seeds(np.where(np.isfinite(column), column, np.nan)) for column in (row / times[0]).T]
        said = ", ".join(f"{each.median:.3g}" if each.seeds else "never" for each in over)
        ratios.append(f"{settings.weight_decay:g}: {said}")
    detail = f"Boundaries over those without decay, medians, decay by decay: {'; '.join(ratios)}."
    parts = {"later with more decay": later, "fewer stages with the most": fewer}
    return claim.all_of(ordered, parts, detail, counts[0] - counts[-1])


@judged
def end_is_as_predicted(
    claim: Claim, *runs: StageTimesRun, formula: Callable[[float, float, int], float], least: float, within: float
) -> Finding:
    """`last_loss` over sum_j formula(m_j, lambda, T), of the flows that have come to rest and learned all features."""
    ordered = [run for run in by_decay(runs) if run[0].weight_decay * run[0].last >= least]
    chosen = [run for run in ordered if np.isfinite(run[1].facts["boundaries"]).all()]
    if not chosen:
        seeds, words = len(runs[0][1].seeds), "No flow with decay learned all features in every seed."
        return claim.finding(runs, np.full(seeds, np.nan), np.full(seeds, False), words)
    wanted = [sum(formula(m, run[0].weight_decay, run[0].length) for m in run[0].strengths) for run in chosen]
    ratios = np.stack([np.asarray(run[1].facts["last_loss"]) / want for run, want in zip(chosen, wanted, strict=True)])
    worst = np.take_along_axis(ratios, np.abs(np.log(ratios)).argmax(axis=0)[None], axis=0)[0]
    said = (f"{run[0].weight_decay:g}: {over_seeds(row).median:.3g}" for run, row in zip(chosen, ratios, strict=True))
    detail = f"Measured over predicted, medians, decay by decay: {', '.join(said)}."
    return claim.finding(chosen, worst, np.abs(np.log(worst)) <= np.log(1 + within), detail)


@judged
def training_follows(claim: Claim, *runs: AnyRun, close: float) -> Finding:
    """Boundaries of gradient descent against those of the flow with the same decay, seed by seed."""
    flows = {decay_of(run[0]): run for run in runs if is_solved(run[0])}
    trained = [run for run in runs if not is_solved(run[0])]
    pairs = [(run, flows[decay_of(run[0])]) for run in trained if decay_of(run[0]) in flows]
    if not pairs:
        return claim.not_run("No flow has the decay of a training.")
    missed, said = [], []
    for run, flow in pairs:
        found, wanted = boundaries_of(run), np.asarray(flow[1].facts["boundaries"], float)
        reached = wanted < run[0].training.learning_rate * run[0].training.steps
        off = np.where(reached, np.abs(found / wanted - 1), np.where(np.isfinite(found), np.inf, 0.0))
        missed.append(np.where(np.isfinite(off), off, np.inf).max(axis=1))
        said.append(f"{decay_of(run[0]):g}: {100 * float(np.median(missed[-1])):.2g} %")
    worst = np.max(missed, axis=0)
    detail = f"Medians over seeds of the largest difference, decay by decay: {', '.join(said)}."
    used = [each for pair in pairs for each in pair]
    return claim.finding(used, worst, worst <= close, detail)
