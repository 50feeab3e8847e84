"""KL(rung || model) on the probe, summed over the whole vocabulary: uniform, unigram, bigram, ...

    KL_n = sum_w p_n log p_n - sum_w p_n log q
         = (once, before training) - [ sum over listed tokens (p_n - rest_n base_n) log q + rest_n sum_w base_n log q ]

Beyond the tokens that were seen to follow the last one, an n-gram model is `rest` times a fixed distribution, so that a
probe costs one product of the logits with three vectors, and a few numbers for each listed token.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from headway.analysis.ngrams import Ngrams
from headway.telemetry.probe import digest

MOST_LISTED = 4_000_000
"""Listed tokens of all positions together; of more, evenly spaced positions are kept."""


class Ladder(NamedTuple):
    """Reference predictors on the probe's positions, ready to be held against logits."""

    rungs: tuple[str, ...]
    positions: np.ndarray
    """Which of the probe's positions count, row after row, (kept,)."""
    entropy: np.ndarray
    """-sum p log p, mean over positions, (rung,)."""
    listed_at: np.ndarray
    """Position of each listed token, as an index into `positions`, (listed,)."""
    listed: np.ndarray
    """(listed,)"""
    weights: np.ndarray
    """p_n - rest_n base_n, (rung, listed)."""
    rest: np.ndarray
    """(rung, kept)"""
    base: np.ndarray
    """(rung, vocab)"""
    losses: np.ndarray
    """-log p of the tokens that came, mean over the probe, (rung,)."""

    @property
    def digest(self) -> str:
        return digest(self.entropy, self.losses, self.positions)


def ladder_on(model: Ngrams, rows: np.ndarray) -> Ladder:
    """The n-grams' distributions at every position of the probe."""
    everywhere = np.arange(rows.size)
    support = model.support(rows)
    counts = np.diff(support.first)
    keep = everywhere[:: max(1, -(-int(counts.sum()) // MOST_LISTED))]
    wanted = np.zeros(rows.size, bool)
    wanted[keep] = True
    at = np.repeat(everywhere, counts)
    inside = wanted[at]
    at, tokens, probs = np.searchsorted(keep, at[inside]), support.tokens[inside], support.probs[:, inside]
    probs[0] = support.base[0, tokens]  # unigrams are their own base, with nothing listed
    rest = support.rest[:, keep]
    rest_there = rest[:, at] * support.base[:, tokens]
    entropies = [_entropy(*each, at, tokens) for each in zip(probs, rest, support.base, strict=True)]
    uniform = np.full(model.vocab, 1 / model.vocab)
    return Ladder(
        rungs=("uniform", *model.names),
        positions=keep,
        entropy=np.array([np.log(model.vocab), *entropies]),
        listed_at=at,
        listed=tokens,
        weights=np.concatenate([np.zeros((1, len(tokens))), probs - rest_there]).astype(np.float32),
        rest=np.concatenate([np.ones((1, len(keep))), rest]).astype(np.float32),
        base=np.concatenate([uniform[None], support.base]).astype(np.float32),
        losses=np.array([np.log(model.vocab), *-model.log_prob_next(rows).mean(axis=(1, 2))]),
    )


def _entropy(probs: np.ndarray, rest: np.ndarray, base: np.ndarray, at: np.ndarray, tokens: np.ndarray) -> float:
    """-sum_w p log p: the listed tokens one by one, the others as what is left of `rest * base`."""
    kept = len(rest)
    own = np.bincount(at, probs * np.log(probs), kept)
    mass = base.sum() - np.bincount(at, base[tokens], kept)
    log_mass = (base * np.log(base)).sum() - np.bincount(at, (base * np.log(base))[tokens], kept)
    others = rest * (log_mass + np.log(rest) * np.maximum(mass, 0))
    return float(-(own + others).mean())


class OnDevice:
    """The same as tensors, for rows `first` to `last` of the probe."""

    def __init__(self, ladder: Ladder, first: int, last: int, device: Any) -> None:
        import torch

        def tensor(values: np.ndarray) -> Any:
            return torch.from_numpy(np.ascontiguousarray(values)).to(device)

        low, high = np.searchsorted(ladder.positions, (first, last))
        begin, end = np.searchsorted(ladder.listed_at, (low, high))
        self.positions = tensor(ladder.positions[low:high] - first)
        self.at = tensor(ladder.positions[ladder.listed_at[begin:end]] - first)
        self.listed = tensor(ladder.listed[begin:end])
        self.weights, self.rest = tensor(ladder.weights[:, begin:end]), tensor(ladder.rest[:, low:high])
        self.base, self.bases = _distinct_bases(ladder.base)
        self.base = tensor(self.base.T)

    def expected_log_q(self, logits: Any, log_z: Any, products: Any) -> Any:
        """sum over positions of sum_w p_n log q, (rung,); `products` are logits times each base, (position, base)."""
        listed = self.weights @ (logits[self.at, self.listed].float() - log_z[self.at])
        over_base = (products - log_z[:, None])[self.positions][:, self.bases]
        return listed + (self.rest * over_base.T).sum(1)


def _distinct_bases(base: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Higher orders share their base."""
    kept, numbers = [base[0]], [0]
    for row in base[1:]:
        same = [k for k, known in enumerate(kept) if np.array_equal(known, row)]
        numbers.append(same[0] if same else len(kept))
        if not same:
            kept.append(row)
    return np.stack(kept), numbers
