"""Attention read by lag and by block of lags."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headway.analysis.arrays import of_any_arrays

Array = np.ndarray
Blocks = Sequence[Sequence[int]]


@of_any_arrays
def by_lag(attention: Array, start: int) -> Array:
    """a[lag] = 1/T sum_q attention[q, start + q - lag]: matrices (..., query, key) to lags (..., lag).

    Query row q predicts token start + q from the keys before it, so the newest key has lag 1, which is
    index 0. With start 2 and T = 3 the lags of the matrix are, a dot being the future:

            key 0  1  2  3
        q=0     2  1  .  .
        q=1     3  2  1  .
        q=2     4  3  2  1
    """
    queries, keys = np.shape(attention)[-2:]
    if keys != start + queries - 1:
        raise ValueError(
            f"got attention of {queries} queries to {keys} keys, but a start of {start} with {queries} "
            f"queries has {start + queries - 1} keys. Pass only the rows of the predicted positions, and the "
            "task's start."
        )
    query, lag = np.arange(queries)[:, None], np.arange(1, keys + 1)[None, :]
    key = start + query - lag
    picked = np.asarray(attention)[..., query, np.maximum(key, 0)]
    return np.where(key >= 0, picked, 0.0).mean(axis=-2)


def uniform_by_lag(start: int, horizon: int) -> Array:
    """u[lag] = 1/T sum_q [lag <= start + q] / (start + q): causal attention that does not choose, (lag,)."""
    visible = start + np.arange(horizon)[:, None]
    return np.where(np.arange(1, start + horizon)[None, :] <= visible, 1.0 / visible, 0.0).mean(axis=0)


@of_any_arrays
def distance_from_uniform(attention_by_lag: Array, start: int, horizon: int) -> Array:
    """1/2 sum_lag |a[lag] - u[lag]|, the total variation: (..., lag) -> (...). 0 is uniform, 1 is far."""
    uniform = uniform_by_lag(start, horizon)
    lags = np.shape(attention_by_lag)[-1]
    if lags != len(uniform):
        raise ValueError(
            f"got attention over {lags} lags, but start {start} and horizon {horizon} have {len(uniform)}. "
            "Pass the start and the horizon of the task that the model was trained on."
        )
    return np.asarray(0.5 * np.abs(np.asarray(attention_by_lag, np.float64) - uniform).sum(axis=-1))


@of_any_arrays
def mass_per_block(attention_by_lag: Array, blocks: Blocks) -> Array:
    """b[k] = sum over the lags i in I(k) of a[i]: (..., head, lag) -> (..., head, block).

    Lags outside all blocks count nowhere, so the masses may sum to less than 1; a lag in two blocks
    counts in both, so with overlapping blocks they may sum to more.
    """
    lags = np.shape(attention_by_lag)[-1]
    for block in blocks:
        outside = [lag for lag in block if not 1 <= lag <= lags]
        if outside:
            raise ValueError(
                f"the block {tuple(block)} has lag {outside[0]}, but the attention has the lags 1 to {lags}. "
                "Pass the blocks of the task that the model was trained on; the newest token has lag 1."
            )
    values = np.asarray(attention_by_lag, np.float64)
    return np.stack([values[..., [lag - 1 for lag in block]].sum(axis=-1) for block in blocks], axis=-1)
