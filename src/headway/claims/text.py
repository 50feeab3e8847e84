"""Models of real text pass n-grams in order, and take lags up in the order of their information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.analysis import competition, minima, nearest_rung, rises_then_falls
from headway.analysis.crossings import at_end, first_at_least, first_at_most
from headway.claims.claim import AnyRun, Claim, judged
from headway.claims.competition import HUMP
from headway.claims.ladder import NEARER
from headway.records import Finding, Trajectory

STRICT = 3
"""Orders whose minima have to come one after the other; of higher ones none may come before a lower one."""
LAGS = 3
"""Lags whose order is asked for: the nearest that carry information and that no residual path carries."""
FORMED = 0.1
"""By how much attention, or a score of heads, has to rise to count as formed."""
AS_SOON = 2.0
"""Factor within which two steps are the same."""
REMAINS = 0.5
"""Of the attention that a lag gets in plain text: below it the lag is not taken up."""
LONGER = 2.0
"""Factor by which a plateau is longer."""
CLOSE = 1.5
"""Factor within which a law predicts a step."""


def name_of(settings: Any) -> str:
    """speeches, bpe 512, muon."""
    task, model, optimiser = settings.task, settings.model, settings.training.optimiser
    changes = [f"{task.tokeniser} {task.vocab}", "MLP" if model.mlp else "", "" if optimiser == "adamw" else optimiser]
    return ", ".join([task.text.rpartition("/")[2], *filter(None, changes)])


def named(runs: Sequence[AnyRun]) -> dict[str, AnyRun]:
    """Every run under a name of its own."""
    found: dict[str, AnyRun] = {}
    for run in runs:
        name = name_of(run[0])
        count = sum(each == name or each.startswith(f"{name} (") for each in found)
        found[f"{name} ({count + 1})" if count else name] = run
    return found


def grams(trajectory: Trajectory) -> np.ndarray:
    """KL to the n-grams from order 1 to the highest, without the cache: (seed, time, order)."""
    return trajectory["kl_rungs"][:, :, 1:-1]


def lowest_at(trajectory: Trajectory) -> np.ndarray:
    """The step at which KL to each order reaches its minimum: (seed, order)."""
    return minima(trajectory.times("kl_rungs"), grams(trajectory))


@judged
def in_order(claim: Claim, *runs: AnyRun) -> Finding:
    """b_1 < b_2 < b_3 <= b_4 <= .., with b_n the step at which KL(n-gram || model) reaches its minimum."""
    parts, ratios = {}, []
    for name, (_, trajectory) in named(runs).items():
        steps = lowest_at(trajectory)
        gaps = np.diff(steps, axis=1)
        strict = np.all(gaps[:, : STRICT - 1] > 0, axis=1)
        parts[name] = strict & np.all(gaps[:, STRICT - 1 :] >= 0, axis=1)
        first = np.maximum(steps[:, :STRICT], 1)
        ratios.append(np.min(first[:, 1:] / first[:, :-1], axis=1))
    return claim.all_of(runs, parts, values=np.min(ratios, axis=0))


@judged
def nearer_than_by_confidence(claim: Claim, *runs: AnyRun) -> Finding:
    """min_t KL(n-gram || model) < min_s KL(n-gram || softmax(s z)), z the model's logits at the end, n = 1, 2, 3."""
    parts, ratios = {}, []
    for name, (_, trajectory) in named(runs).items():
        nearest = np.min(grams(trajectory), axis=1)[:, :STRICT]
        alone = np.min(at_end(trajectory["kl_confidence"]), axis=1)[:, 1 : 1 + STRICT]
        ratios.append(nearest / alone)
        parts[name] = np.all(ratios[-1] < NEARER, axis=1)
    worst = np.max([ratio.max(axis=1) for ratio in ratios], axis=0)
    medians = ", ".join(f"{each:.2f}" for each in np.median(np.concatenate(ratios), axis=0))
    return claim.all_of(runs, parts, f"Order by order {medians} (medians over runs and seeds).", worst)


def asked_lags(settings: Any) -> np.ndarray:
    """The nearest lags that carry information, behind the newest token, which the residual path carries.

    Counted in tokens of the text itself; interleaved, they lie so many times farther back. The information of no more
    lags is known than the highest n-gram has.
    """
    first = 2 if settings.task.interleaved == 1 else 1
    return np.arange(first, min(first + LAGS, settings.task.orders))


def attention_to(run: AnyRun, lags: Sequence[int] | np.ndarray) -> np.ndarray:
    """Of the head, in any layer, that attends most to each lag at that moment: (seed, time, lag)."""
    near = run[1]["attention_near"]
    return near.max(axis=(2, 3))[..., np.asarray(lags) - 1]


def taken_up(run: AnyRun, lags: Sequence[int] | np.ndarray) -> np.ndarray:
    """The step at which that attention has made half of its way from the start to its largest: (seed, lag)."""
    return half_way(run[1].times("attention_near"), attention_to(run, lags))


def half_way(times: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """The first time at which curves (seed, time, ..) have made half of their way to their largest value."""
    start, most = curves[:, :1], np.max(curves, axis=1, keepdims=True)
    return first_at_least(times, curves, (start + most) / 2)


@judged
def by_information(claim: Claim, *runs: AnyRun) -> Finding:
    """t_i < t_j wherever I_i > I_j: t_i the step at which lag i is taken up, I_i its information given nearer ones."""
    parts, ratios = {}, []
    for name, run in named(runs).items():
        settings, trajectory = run
        lags = asked_lags(settings)
        information = np.asarray(trajectory.facts["information"], float)[:, lags - 1]
        steps = taken_up(run, lags * settings.task.interleaved)
        order = np.argsort(-information, axis=1, kind="stable")
        ordered = np.take_along_axis(steps, order, axis=1)
        parts[name] = np.all(np.diff(ordered, axis=1) > 0, axis=1)
        ratios.append(np.min(ordered[:, 1:] / np.maximum(ordered[:, :-1], 1), axis=1))
    return claim.all_of(runs, parts, values=np.min(ratios, axis=0))


@judged
def not_by_distance(claim: Claim, *runs: AnyRun) -> Finding:
    """Interleaved k times: at the end a head attends more to lag 2k than any does to lag k + 1, which is nearer."""
    parts, ratios = {}, []
    for name, run in named(runs).items():
        woven = run[0].task.interleaved
        far, near = np.moveaxis(at_end(attention_to(run, [2 * woven, woven + 1])), -1, 0)
        parts[name] = far > near
        ratios.append(far / near)
    return claim.all_of(runs, parts, values=np.min(ratios, axis=0))


@judged
def together_then_apart(claim: Claim, *runs: AnyRun) -> Finding:
    """The chance that two heads of the last layer attend to the same near lag rises and then falls."""
    if any(settings.model.heads < 2 for settings, _ in runs):
        return claim.not_run("One head has nobody to share lags with.")
    parts, falls = {}, []
    for name, (_, trajectory) in named(runs).items():
        times = trajectory.times("attention_near")
        humps = [rises_then_falls(times, competition(seed[:, -1]), HUMP) for seed in trajectory["attention_near"]]
        parts[f"{name}: rises"] = [hump.rises for hump in humps]
        parts[f"{name}: falls"] = [hump.falls for hump in humps]
        falls.append([hump.peak - hump.last for hump in humps])
    return claim.all_of(runs, parts, values=np.min(falls, axis=0))


@judged
def induction_after_previous(claim: Claim, *runs: AnyRun) -> Finding:
    """A previous-token head, later an induction head, and the in-context score falls with the second."""
    parts, ratios = {}, []
    for name, run in named(runs).items():
        trajectory = run[1]
        times = trajectory.times("prefix_matching")
        previous, copying = attention_to(run, [2])[..., 0], trajectory["prefix_matching"].max(axis=(2, 3))
        first, second = half_way(times, previous), half_way(times, copying)
        helped = half_way(times, -trajectory["in_context_score"])
        formed = copying.max(axis=1) - copying[:, 0] >= FORMED
        both = formed & (previous.max(axis=1) - previous[:, 0] >= FORMED)
        parts[f"{name}: both form"] = both
        parts[f"{name}: in this order"] = np.where(both, first < second, np.nan)  # what never forms has no order
        nearer = np.abs(np.log(helped / second)) < np.abs(np.log(helped / first))
        parts[f"{name}: the score falls with the second"] = np.where(both, nearer, np.nan)
        ratios.append(np.where(formed, second / first, np.nan))
    return claim.all_of(runs, parts, values=np.min(ratios, axis=0))


@judged
def lags_vanish(claim: Claim, *runs: AnyRun) -> Finding:
    """Shuffled in windows: the unigram at the same step, and no lag taken up as in plain text."""
    return _beside_plain(claim, runs, unigram=True)


@judged
def lags_not_taken_up(claim: Claim, *runs: AnyRun) -> Finding:
    """Shuffled in windows: no lag taken up as in plain text."""
    return _beside_plain(claim, runs, unigram=False)


def _beside_plain(claim: Claim, runs: Sequence[AnyRun], *, unigram: bool) -> Finding:
    parts, shares = {}, []
    for name, run in named([each for each in runs if each[0].task.shuffled > 1]).items():
        settings, trajectory = run
        plain = next((each for each in runs if each[0].task.shuffled == 1 and same_text(each[0], settings)), None)
        if plain is None:
            return claim.not_run("There is no run on the same text as it is.")
        if unigram:
            ratio = lowest_at(trajectory)[:, 0] / lowest_at(plain[1])[:, 0]
            parts[f"{name}: unigram"] = np.abs(np.log(ratio)) <= np.log(AS_SOON)
        shares.append(_rise(run) / _rise(plain))
        parts[f"{name}: no lag"] = shares[-1] < REMAINS
    if not parts:
        return claim.not_run("No text is shuffled.")
    return claim.all_of(runs, parts, values=np.max(shares, axis=0))


def _rise(run: AnyRun) -> np.ndarray:
    """Of the attention to the asked lags, from the start to its largest, mean over them: (seed,)."""
    attention = attention_to(run, asked_lags(run[0]))
    return np.mean(attention.max(axis=1) - attention[:, 0], axis=1)


def same_text(one: Any, other: Any) -> bool:
    names = ("text", "digest", "tokeniser", "vocab", "length")
    return all(getattr(one.task, name) == getattr(other.task, name) for name in names)


def learnt_at(run: AnyRun) -> np.ndarray:
    """The step at which the loss has passed half of the information of each lag, NaN where it never has: (seed, lag).

    Lag i lies between the losses of the n-grams of order i and i + 1.
    """
    trajectory = run[1]
    levels = np.asarray(trajectory.facts["rung_loss"], float)[:, 1:-1]
    half = (levels[:, 1:] + levels[:, :-1]) / 2
    loss = trajectory["loss"][..., None]
    return first_at_most(trajectory.times("loss"), loss, half[:, None])


@judged
def waits_without_shortcut(claim: Claim, *runs: AnyRun) -> Finding:
    """Interleaved, the unigram is the nearest rung for at least twice as many steps as in the text as it is."""
    parts, ratios = {}, []
    for name, run in named([each for each in runs if each[0].task.interleaved > 1]).items():
        plain = next((each for each in runs if each[0].task.interleaved == 1 and same_text(each[0], run[0])), None)
        if plain is None:
            return claim.not_run("There is no run on the same text as it is.")
        ratios.append(_on_unigram(run[1]) / _on_unigram(plain[1]))
        parts[name] = ratios[-1] >= LONGER
    if not parts:
        return claim.not_run("No text is interleaved.")
    return claim.all_of(runs, parts, values=np.min(ratios, axis=0))


def _on_unigram(trajectory: Trajectory) -> np.ndarray:
    """Steps from an evaluation at which the unigram is the nearest rung to the next one: (seed,)."""
    there = nearest_rung(trajectory["kl_rungs"]) == 1
    return there[:, :-1] @ np.diff(trajectory.times("kl_rungs").astype(float))


@judged
def sooner_with_depth(claim: Claim, *runs: AnyRun, lag: int = 2) -> Finding:
    """The more layers, the sooner half of a lag's information is learnt."""
    parts, ratios = {}, []
    for name in dict.fromkeys(name_of(settings) for settings, _ in runs):
        own = sorted((run for run in runs if name_of(run[0]) == name), key=lambda run: run[0].model.layers)
        if len(own) == 1:
            continue
        steps = np.stack([np.nan_to_num(learnt_at(run)[:, lag - 1], nan=np.inf) for run in own])
        parts[name] = np.all(steps[1:] < steps[:-1], axis=0)
        ratios.append(np.where(np.isfinite(steps[0]), steps[-1] / steps[0], np.nan))
    if not parts:
        return claim.not_run("No text was learnt by models of two depths.")
    return claim.all_of(runs, parts, values=np.max(ratios, axis=0))


class _Points:
    """log information and log step of every lag that was learnt, of one seed of one run."""

    def __init__(self, run: AnyRun, seed: int) -> None:
        steps = learnt_at(run)[seed]
        information = np.asarray(run[1].facts["information"], float)[seed]
        known = np.isfinite(steps) & (information > 0)
        self.x, self.y = np.log(information[known]), np.log(np.maximum(steps[known], 1))


@judged
def information_predicts_when(claim: Claim, *runs: AnyRun) -> Finding:
    """log t = a + b log I over lags of all texts, b < 0, and a text left out is predicted within a factor."""
    slopes, misses = [], []
    for seed, _ in enumerate(runs[0][1].seeds):
        points = [_Points(run, seed) for run in runs]
        slopes.append(_line(points)[1])
        missed = []
        for place, left_out in enumerate(points):
            start, slope = _line(points[:place] + points[place + 1 :])
            missed.extend(np.abs(left_out.y - start - slope * left_out.x))
        misses.append(np.exp(np.median(missed)) if missed else np.nan)
    slope, miss = np.array(slopes), np.array(misses)
    parts = {"the less the later": slope < 0, "a text left out": miss <= CLOSE}
    return claim.all_of(runs, parts, f"Exponent {np.median(slope):.2f} (median over seeds).", miss)


def _line(points: Sequence[_Points]) -> tuple[float, float]:
    """Least squares; NaN where there are fewer than three points, or all have the same information."""
    x, y = (np.concatenate([getattr(each, name) for each in points] or [np.zeros(0)]) for name in ("x", "y"))
    if len(x) < 3 or np.ptp(x) == 0:
        return np.nan, np.nan
    slope, start = np.polyfit(x, y, 1)
    return float(start), float(slope)
