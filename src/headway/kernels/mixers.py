"""Kernels that mix the heads' values for a model that has no form of its own: chosen by device and precision."""

import jax
from jaxtyping import Array, Float

from headway.models.attention import Attention
from headway.models.mixing import Mixer


def mixer_of(precision: str) -> Mixer | None:
    """Those of this device for products of this precision, if it has any."""
    if precision != "tf32" or jax.devices()[0].platform == "cpu":
        return None
    from headway.kernels.cuda import usable

    return Mixer(_covers, _mix) if usable() else None


def _covers(attention: Attention, queries: int, keys: int) -> bool:
    from headway.kernels.cuda import heads

    part = attention.query.shape[-1]
    return attention.value.shape[-1] == part and heads.covers(_heads(attention, queries, keys))


def _mix(attention: Attention, *rows: Float[Array, "_ _"]) -> Float[Array, "query inner"]:
    from headway.kernels.cuda import heads

    return heads.mix(_heads(attention, len(rows[0]), len(rows[-1])), *rows)


def _heads(attention: Attention, queries: int, keys: int):
    from headway.kernels.cuda.heads import Heads

    count, _, part = attention.query.shape
    return Heads(keys, queries, count, part, attention.causal, attention.scaled)
