"""The hand-made solution of paper A, section 2.3: positional scores and the chain's own features as values."""

import math
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from headway.models.attention import Attention
from headway.models.transformer import Layer, Transformer
from headway.presets import MINIMAL
from headway.settings import SettingsError


def construction(
    features: Float[Array, "block token token"],
    weights: Float[Array, "block lag"] | np.ndarray,
    horizon: int,
    sharpness: float,
) -> Transformer:
    """score_k(q, j) = sharpness + log weight of the lag of j in block k; values (sum of weights) A_k.

    Head k attends to the lags of block k in proportion to their weights. What it gives to
    other positions vanishes like exp(-sharpness), so the loss tends to the chain's entropy.
    """
    weights = np.asarray(weights)
    if (weights < 0).any():
        raise SettingsError(
            f"the smallest weight is {weights.min():g}, but attention cannot be negative. "
            "The construction needs weights of at least 0."
        )
    heads, start = weights.shape
    tokens, length = features.shape[-1], start + horizon - 1
    width = tokens + length
    query = np.zeros((heads, width, width))
    for k in range(heads):
        for lag in np.flatnonzero(weights[k]) + 1:
            seen = np.arange(start - 1, length)
            score = sharpness + math.log(weights[k, lag - 1] / weights[k].max())
            query[k, tokens + seen, tokens + seen + 1 - lag] = score
    value = np.zeros((heads, width, width))
    value[:, :tokens, :tokens] = weights.sum(axis=1)[:, None, None] * np.swapaxes(features, 1, 2)
    dtype = jnp.asarray(features).dtype
    attention = Attention(jnp.asarray(query, dtype), None, jnp.asarray(value, dtype), None, False)
    settings = replace(MINIMAL, heads=heads)
    return Transformer(None, None, (Layer(attention, None, ()),), None, None, settings, tokens, length)
