"""What a model does on a loss plateau, and what its attention has to do with it (Gopalani & Hu 2025): G1 to G7."""

from __future__ import annotations

import numpy as np

from headway.analysis import over_seeds
from headway.analysis.crossings import at_end, first_at_least, first_at_most
from headway.claims.claim import AnyRun, Claim, judged
from headway.records import Finding, Trajectory

KNOWN, LITTLE = 0.99, 0.2
"""Share of first outputs that are right, and of all outputs."""
OFTEN, RETURNED = 5.0, 1.5
"""Repetition, in times that of the data: on the plateau at least, at the end at most."""
ALIKE, APART = 0.9, 0.1
"""Cosine of the states: on the plateau at least, at the end below."""
RISE, FALL = 0.25, 0.05
"""Of the rise of attention, and of the fall of the loss."""
HALF = 0.5
"""Of the fall of the loss, at which a plateau is over."""
SHORT = 0.5
"""Without a plateau half of the fall comes after less than this share of the steps it takes otherwise."""


def fallen(run: AnyRun, share: float) -> np.ndarray:
    """When the loss has made this share of its way from the rung below the truth to the truth: (seed,)."""
    trajectory = run[1]
    before, truth = np.asarray(trajectory.facts["rung_loss"])[:, -2:].T
    levels = before + share * (truth - before)
    return first_at_most(trajectory.times("loss"), trajectory["loss"], levels[:, None])


def ended(run: AnyRun) -> np.ndarray:
    """When half of the fall was done, infinite where it never was: (seed,)."""
    steps = fallen(run, HALF)
    return np.where(np.isnan(steps), np.inf, steps)


def peak(run: AnyRun, name: str) -> np.ndarray:
    """The largest value between the first step and half of the fall: (seed,)."""
    trajectory = run[1]
    times = trajectory.times(name)
    waiting = (times > 0) & (times <= ended(run)[:, None])
    return np.max(np.where(waiting, trajectory[name], -np.inf), axis=1)


def attention_of(trajectory: Trajectory) -> np.ndarray:
    """`attention_relevant` of the head that has most of it at the end: (seed, time)."""
    curves = trajectory["attention_relevant"]
    curves = curves.reshape(*curves.shape[:2], -1)
    best = np.argmax(at_end(curves), axis=1)
    return np.take_along_axis(curves, best[:, None, None], axis=2)[..., 0]


@judged
def first_output_alone(claim: Claim, run: AnyRun) -> Finding:
    """At some step y_1 is right in 99 % of the rows while less than 20 % of all outputs are."""
    trajectory = run[1]
    first, every = trajectory["accuracy_first"], trajectory["accuracy_generated"]
    here = (first >= KNOWN) & (every < LITTLE)
    lasting = np.sum(here, axis=1) / here.shape[1]
    there = [np.median(each[at]) for each, at in zip(every, here, strict=True) if at.any()]
    meanwhile = np.median(there) if there else np.nan
    detail = (
        f"All outputs: {meanwhile:.3f} correct on the plateau ({run[0].task.plateau_accuracy:.3f} by the most "
        f"likely number), {np.median(at_end(every)):.3f} at the end (medians over seeds)."
    )
    return claim.finding([run], lasting, here.any(axis=1), detail)


@judged
def repeats_itself(claim: Claim, run: AnyRun) -> Finding:
    """max rho before the fall >= 5 rho of the data, and rho at the end is the data's again."""
    usual = run[0].task.repetition
    most, last = peak(run, "repetition") / usual, at_end(run[1]["repetition"]) / usual
    parts = {"repeats on the plateau": most >= OFTEN, "not at the end": last <= RETURNED}
    return claim.finding([run], most, np.all(list(parts.values()), axis=0), "", parts)


@judged
def states_collapse(claim: Claim, run: AnyRun) -> Finding:
    """max cos before the fall >= 0.9, and cos < 0.1 at the end."""
    most, last = peak(run, "cosine"), at_end(run[1]["cosine"])
    parts = {"parallel on the plateau": most >= ALIKE, "not parallel at the end": last < APART}
    return claim.finding([run], most, np.all(list(parts.values()), axis=0), "", parts)


@judged
def attention_moves_first(claim: Claim, run: AnyRun) -> Finding:
    """t(25 % of the rise of attention) < t(5 % of the fall of the loss)."""
    trajectory = run[1]
    curves, times = attention_of(trajectory), trajectory.times("attention_relevant")
    levels = curves[:, 0] + RISE * (at_end(curves) - curves[:, 0])
    rose = first_at_least(times, curves, levels[:, None])
    fell = fallen(run, FALL)
    detail = f"Attention to the relevant inputs ends at {np.median(at_end(curves)):.2f} (median)."
    return claim.finding([run], rose / fell, rose < fell, detail)


@judged
def emphasis_sets_the_length(claim: Claim, *runs: AnyRun) -> Finding:
    """T(c > 1) < T(1) < T(c < 1), and the peak of the cosine falls with c."""
    every = sorted(runs, key=lambda run: run[0].model.emphasis)
    usual = [run for run in every if run[0].model.emphasis == 1]
    if not usual or len(every) < 2:
        return claim.not_run()
    plain = ended(usual[0])
    parts = {}
    for run in every:
        factor = run[0].model.emphasis
        if factor == 1:
            continue
        longer = ended(run) > plain if factor < 1 else ended(run) < plain
        parts[f"{'longer' if factor < 1 else 'shorter'} with {factor:g}"] = longer
    peaks = np.stack([peak(run, "cosine") for run in every], axis=1)
    parts["cosine falls with c"] = np.all(np.diff(peaks, axis=1) < 0, axis=1)
    told = ", ".join(
        f"{run[0].model.emphasis:g}: {_median(ended(run))} steps, cosine {np.median(peak(run, 'cosine')):.2f}"
        for run in every
    )
    scaled = ", ".join(f"{_scaled(run, plain):.2f}" for run in every)
    told = f"c = {told} (medians). c T(c) / T(1): {scaled}, so where these are 1 the plateau is 1/c times as long."
    strongest = ended(every[-1]) / plain
    return claim.finding(every, strongest, np.all(list(parts.values()), axis=0), told, parts)


def _scaled(run: AnyRun, plain: np.ndarray) -> float:
    """c T(c) / T(1), the median over seeds that get there in both."""
    with np.errstate(invalid="ignore"):
        return over_seeds(run[0].model.emphasis * ended(run) / plain).median


@judged
def frozen_attention_removes_it(claim: Claim, usual: AnyRun, attention: AnyRun, mlp: AnyRun) -> Finding:
    """T(attention frozen) < T / 2 <= T(MLP frozen)."""
    plain, held, other = ended(usual), ended(attention), ended(mlp)
    parts = {"gone with attention frozen": held < SHORT * plain, "there with the MLP frozen": other >= SHORT * plain}
    detail = (
        f"Half of the drop at steps {_median(held)}, {_median(other)} and {_median(plain)} (attention frozen, "
        "MLP frozen, nothing frozen; medians)."
    )
    return claim.finding([usual, attention, mlp], held / plain, np.all(list(parts.values()), axis=0), detail, parts)


@judged
def no_plateau(claim: Claim, usual: AnyRun, other: AnyRun) -> Finding:
    """T(other) < T / 2."""
    ratio = ended(other) / ended(usual)
    detail = f"Half of the drop at steps {_median(ended(other))} and {_median(ended(usual))} (medians)."
    return claim.finding([usual, other], ratio, ratio < SHORT, detail)


def _median(steps: np.ndarray) -> str:
    middle = np.median(steps)
    return f"{middle:.0f}" if np.isfinite(middle) else "(never)"
