"""What the runs on real text at paper scale taught: heads that specialise, bags of tokens, and numbers of contexts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.analysis.crossings import at_end
from headway.claims.claim import AnyRun, Claim, judged, where_known
from headway.claims.text import CLOSE, REMAINS, asked_lags, learnt_at, named, same_text, taken_up
from headway.records import Finding

ON_IT = 0.5
"""Attention with which a head is on a lag."""


def of_layer_1(run: AnyRun, lags: Sequence[int] | np.ndarray) -> np.ndarray:
    """Of the head of layer 1 that attends most to each lag at that moment: (seed, time, lag)."""
    return run[1]["attention_near"][:, :, 0].max(axis=2)[..., np.asarray(lags) - 1]


@judged
def a_head_of_its_own(claim: Claim, *runs: AnyRun) -> Finding:
    """Interleaved k times: seeds with a head of layer 1 on lag 2k took lag k up before, and end below the others.

    A text in which all seeds have such a head, or none, has nothing to compare losses with.
    """
    parts, margins, words = {}, [], []
    for name, run in named(runs).items():
        lags = np.array([1, 2]) * run[0].task.interleaved
        there = at_end(of_layer_1(run, lags[1:]))[:, 0] > ON_IT
        steps, loss = taken_up(run, lags), at_end(run[1]["loss"])
        parts[f"{name}: lag {lags[0]} first"] = ~there | (steps[:, 0] < steps[:, 1])
        words.append(f"{name}: {np.sum(there)} of {len(there)} seeds have one")
        if not there.all() and there.any():
            margins.append(np.where(there, loss[~there].min() - loss, loss - loss[there].max()))
            parts[f"{name}: a lower loss"] = margins[-1] > 0
            words[-1] += f", {np.median(loss[~there]) - np.median(loss[there]):.2f} nats lower in the median"
        else:
            words[-1] += ", so that losses are not compared"
    if not margins:
        return claim.not_run("No text has seeds with such a head and seeds without one.")
    return claim.all_of(runs, parts, f"{'; '.join(words)}.", np.min(margins, axis=0))


@judged
def reads_a_bag(claim: Claim, *runs: AnyRun) -> Finding:
    """Shuffled in wide windows: layer 1 takes up no lag, and the loss ends below that of every rung."""
    parts, shares, largest, gains = {}, [], [], []
    for name, run in named([each for each in runs if each[0].task.shuffled > 1]).items():
        plain = next((each for each in runs if each[0].task.shuffled == 1 and same_text(each[0], run[0])), None)
        if plain is None:
            return claim.not_run("There is no run on the same text as it is.")
        at_last, on_the_way = (_rises(run) / _rises(plain)).T
        shares.append(at_last)
        largest.append(on_the_way)
        gains.append(np.min(run[1].facts["rung_loss"], axis=1) - at_end(run[1]["loss"]))
        parts[f"{name}: no lag in layer 1"] = shares[-1] < REMAINS
        parts[f"{name}: below every rung"] = gains[-1] > 0
    if not parts:
        return claim.not_run("No text is shuffled.")
    gained = ", ".join(f"{np.median(gain):.2f}" for gain in gains)
    below = np.max(largest, axis=0) < REMAINS
    detail = f"""Below the lowest rung by {gained} nats, text by text. By the largest attention on the way in place of
    that at the end, layer 1 would take up no lag in {np.sum(below)} of {len(below)} seeds."""
    return claim.all_of(runs, parts, " ".join(detail.split()), np.max(shares, axis=0))


def _rises(run: AnyRun) -> np.ndarray:
    """Of the attention of layer 1 to the asked lags, to the end and to its largest, means over them: (seed, 2)."""
    attention = of_layer_1(run, asked_lags(run[0]))
    ends = np.stack([attention[:, -1], attention.max(axis=1)], axis=1)
    return np.mean(ends - attention[:, :1], axis=2)


def lag_terms(run: AnyRun, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(1, log I, log N) and log t of every lag that was learnt: I is its information, t the step.

    N is the number of contexts of so many tokens, exp(loss of the unigram + loss of the bigram + ..): that many
    equally frequent ones would have the same cross-entropy.
    """
    facts, steps = run[1].facts, learnt_at(run)[seed]
    information = np.asarray(facts["information"], float)[seed]
    contexts = np.cumsum(np.asarray(facts["rung_loss"], float)[seed, 1:])[: len(information)]
    known = np.isfinite(steps) & (information > 0)
    terms = np.stack([np.ones(known.sum()), np.log(information[known]), contexts[known]], axis=1)
    return terms, np.log(np.maximum(steps[known], 1))


def fitted(points: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """log t = a + b log I + c log N by least squares; NaN if the points do not determine it."""
    terms, steps = (np.concatenate([each[place] for each in points]) for place in (0, 1))
    if np.linalg.matrix_rank(terms) < terms.shape[1]:
        return np.full(terms.shape[1], np.nan)
    return np.linalg.lstsq(terms, steps, rcond=None)[0]


@judged
def contexts_predict_when(claim: Claim, *runs: AnyRun) -> Finding:
    """log t = a + b log I + c log N among models of one shape, b < 0 < c; a text left out is predicted."""
    shapes: dict[str, list[AnyRun]] = {}
    for run in runs:
        shapes.setdefault(_shape(run[0]), []).append(run)
    parts, factors, words = {}, [], []
    seeds = range(len(runs[0][1].seeds))
    for shape, own in shapes.items():
        laws = np.array([fitted([lag_terms(run, seed) for run in own]) for seed in seeds])
        factors.append(np.array([_factor_left_out(own, seed) for seed in seeds]))
        signs = (laws[:, 1] < 0) & (laws[:, 2] > 0)
        shown = where_known(signs & (factors[-1] <= CLOSE), factors[-1])
        # A wrong sign refutes the law, even where no text can be left out.
        parts[shape] = np.where(~signs & np.isfinite(laws).all(axis=1), 0, shown)
        (_, information, contexts), wrong = np.median(laws, axis=0), np.median(factors[-1])
        words.append(f"{shape}: I^{information:.2f} N^{contexts:.2f}, wrong by a factor of {wrong:.2f}")
    return claim.all_of(runs, parts, f"{'; '.join(words)} (medians over seeds).", np.max(factors, axis=0))


def _factor_left_out(runs: Sequence[AnyRun], seed: int) -> float:
    """By which the law fitted to all texts but one misses the lags of that one, median over lags and texts."""
    if len(runs) == 1:
        return np.nan
    points = [lag_terms(run, seed) for run in runs]
    missed = [
        steps - terms @ fitted(points[:place] + points[place + 1 :]) for place, (terms, steps) in enumerate(points)
    ]
    wrong = np.abs(np.concatenate(missed))
    return float(np.exp(np.median(wrong))) if len(wrong) else np.nan


def _shape(settings: Any) -> str:
    """2 layers, 64 tokens, MLP."""
    model, task = settings.model, settings.task
    layers = f"{model.layers} layer{'s' if model.layers > 1 else ''}"
    return ", ".join([layers, f"{task.length} tokens", *(["MLP"] if model.mlp else [])])
