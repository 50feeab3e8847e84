"""p_{m+1}(w) = (c(s_m w) + k_m p_m(w)) / (c(s_m) + k_m): what followed the last m tokens before, in the same context.

c counts in the context alone, s_m are its last m tokens, and p_0 is another predictor, here an n-gram. m goes from 0,
which tokens came, to a few tokens that came together: what an induction head copies. The strengths k_m are chosen, one
after the other, by the loss on text for tuning. Every p_m is a proper distribution wherever p_0 is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray
MATCHED = 4
"""s_0 .. s_3."""
STRENGTHS = tuple(float(2**power) for power in range(17))
"""1 to 65 536: at the last of them the context hardly counts."""


def with_cache(log_probs: Array, rows: Array, strengths: Sequence[float]) -> Array:
    """log p at every position of rows (row, time) after that of another predictor, (row, time, vocab)."""
    mixed = np.exp(log_probs.astype(np.float64))
    for matched, strength in enumerate(strengths):
        for number, row in enumerate(rows):
            mixed[number] = _step(mixed[number], _followers(row, matched, mixed.shape[-1]), strength)
    return np.log(mixed).astype(np.float32)


def fit_strengths(log_probs: Array, rows: Array) -> tuple[float, ...]:
    """k_0, k_1, .. by the mean loss over rows (row, time), each with the ones before it."""
    mixed = np.exp(log_probs.astype(np.float64))
    found = []
    for matched in range(MATCHED):
        losses = np.zeros(len(STRENGTHS))
        followers = [_followers(row, matched, mixed.shape[-1]) for row in rows]
        for number, strength in enumerate(STRENGTHS):
            for row, before, counts in zip(rows, mixed, followers, strict=True):
                losses[number] -= _at_next(_step(before, counts, strength), row)
        # Of equal ones the largest: where nothing repeats, the context should not count.
        best = STRENGTHS[np.flatnonzero(losses <= losses.min() + 1e-9)[-1]]
        mixed = np.stack([_step(before, counts, best) for before, counts in zip(mixed, followers, strict=True)])
        found.append(best)
    return tuple(found)


def _step(before: Array, counts: Array, strength: float) -> Array:
    return (counts + strength * before) / (counts.sum(axis=-1, keepdims=True) + strength)


def _at_next(probs: Array, row: Array) -> float:
    """Sum of log p of the tokens that came; probs[t] is about row[t]."""
    return float(np.log(probs[np.arange(len(row)), row]).sum())


def _followers(row: Array, matched: int, vocab: int) -> Array:
    """How often each token followed the last `matched` tokens before position t, of those known there: (time, vocab).

    Position t is predicted from the tokens before it.
    """
    time = len(row)
    same = np.tri(time, time, -1, bool)  # position s lies before t, so that row[s] is known
    for back in range(1, matched + 1):
        shifted = np.concatenate([np.full(back, -1), row[:-back]]) if back < time else np.full(time, -1)
        same &= (shifted[:, None] == shifted) & (shifted >= 0)
    return same.astype(np.float32) @ np.eye(vocab, dtype=np.float32)[row]
