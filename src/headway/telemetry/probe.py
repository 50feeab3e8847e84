"""What a probe reads: fixed rows of text, and rows of random tokens that repeat with a period of their own."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

from headway.telemetry.errors import TelemetryError

PERIOD = 25
"""Random tokens before they repeat, on average (Olsson et al. 2022)."""
TIMES = 4
"""How often a period of that length fits into a row."""
REPEATED_ROWS = 16
SHORTEST = 8
"""Tokens of a row, start token included, in which something can repeat."""


class Repeats(NamedTuple):
    """Rows of a start token and random tokens that repeat, and where each pair of positions stands.

    token   s a b c a b c a     period 3
    time    0 1 2 3 4 5 6 7     from 7: duplicates 1 and 4, what followed them 2 and 5, what came before them 3
    """

    tokens: np.ndarray
    """(row, time)"""
    periods: np.ndarray
    """(row,)"""
    blocks: np.ndarray
    """The different tokens of each row, (row, most tokens); -1 where a row has fewer."""
    own: np.ndarray
    """Which of them each position holds, (row, time); 0 at the start token."""
    pairs: dict[str, np.ndarray]
    """Score -> how much attention from query to key counts, (row, query, key): sum over keys, mean over queries."""


def rows_of(probe: Any, vocab: int | None) -> np.ndarray:
    """The probe's tokens, (row, time), as int64."""
    tokens = np.asarray(probe.cpu() if hasattr(probe, "cpu") else probe)
    tokens = tokens[None] if tokens.ndim == 1 else tokens
    if tokens.ndim != 2 or tokens.dtype.kind not in "iu" or not tokens.size:
        raise TelemetryError(
            f"the probe is {tokens.dtype} of shape {tokens.shape}, but wanted integers, (row, time): a few rows of "
            "tokens that the model is not trained on."
        )
    if tokens.shape[1] < SHORTEST:
        raise TelemetryError(f"the probe has rows of {tokens.shape[1]} tokens, but wanted at least {SHORTEST}.")
    if tokens.min() < 0 or (vocab is not None and tokens.max() >= vocab):
        raise TelemetryError(
            f"the probe has tokens from {tokens.min()} to {tokens.max()}, but wanted 0 to "
            f"{'vocab - 1' if vocab is None else vocab - 1}. Leave out padding."
        )
    return tokens.astype(np.int64)


def digest(*arrays: np.ndarray) -> str:
    """Sixteen letters that differ where the arrays do."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.dtype}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def repeats(vocab: int, longest: int, start: int, rows: int = REPEATED_ROWS, seed: int = 0) -> Repeats:
    """Rows of at most `longest` tokens whose periods are drawn from half to one and a half times the usual one."""
    length = min(longest, PERIOD * TIMES + 1)
    middle = max(2, (length - 1) // TIMES)
    random = np.random.default_rng(seed)
    least, most = max(2, middle // 2), max(2, min(middle + middle // 2, vocab, (length - 1) // 2))
    periods = random.integers(min(least, most), most + 1, rows)
    blocks = np.full((rows, most), -1, np.int64)
    tokens, own = np.full((rows, length), start, np.int64), np.zeros((rows, length), np.int64)
    place = np.arange(length - 1)
    for row, period in enumerate(periods):
        blocks[row, :period] = random.choice(vocab, period, replace=False)
        own[row, 1:] = place % period
        tokens[row, 1:] = blocks[row, own[row, 1:]]
    return Repeats(tokens, periods, blocks, own, _pairs(periods, length))


def _pairs(periods: np.ndarray, length: int) -> dict[str, np.ndarray]:
    time = np.arange(length)
    back = time[:, None] - time[None, :]  # from the query to the key
    period = periods[:, None, None]

    def from_earlier(offset: int) -> np.ndarray:
        """Keys `offset` after an earlier occurrence of the query's token; the start token is none."""
        occurrence = (back + offset) % period == 0
        earlier = (back + offset >= period) & (time[None, :] - offset >= 1)
        return occurrence & earlier & (time[None, :] >= 1) & (back >= 0)

    found = {
        "duplicate_token": from_earlier(0),
        "prefix_matching": from_earlier(1),
        "prefix_matching_as_printed": from_earlier(-1),
    }
    queries = {name: each.any(axis=2).sum() for name, each in found.items()}
    return {name: (each / max(1, queries[name])).astype(np.float32) for name, each in found.items()}
