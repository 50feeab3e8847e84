"""Positional encodings: functions that act in the stream, on queries and keys, or on the scores.

A new one is a `Positions` with the functions that it needs:

    spiral = Positions(stream=lambda _parameters, x: x + code(*x.shape))

Ours are made the same way, and found by their names in `ENCODINGS`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from headway.settings import ModelSettings
from headway.settings.given import given

Draw = Callable[[PRNGKeyArray, tuple[int, ...], int, int], Float[Array, "..."]]


class Positions(NamedTuple):
    """An encoding; what is left out does nothing.

    `stream` changes what enters the first layer, (length, width); `extra` is by how much it widens it.
    `turn` changes queries and keys: vectors along the last axis, the last of `length` positions along another.
    `shift` is added to the scores, (head, query, key); so is `face`, before they are scaled, which sees the queries.
    """

    stream: Callable[[Any, Float[Array, "length _"]], Float[Array, "length _"]] | None = None
    """(parameters, x) -> x."""
    stream_start: Callable[[Draw, PRNGKeyArray, int, int], Any] | None = None
    """(draw, key, length, width) -> what the stream's encoding learns."""
    turn: Callable[[Array, int, int], Array] | None = None
    """(x, length, axis) -> x."""
    shift: Callable[[Any, int, int, int], Array] | None = None
    """(parameters, heads, queries, keys) -> (head, query, key)."""
    shift_start: Callable[[int, int], Any] | None = None
    """(heads, length) -> what a layer's shift learns."""
    face: Callable[[Any, Float[Array, "query head score"], int], Array] | None = None
    """(parameters, queries, keys) -> (head, query, key)."""
    face_start: Callable[[Draw, PRNGKeyArray, int, int, int], Any] | None = None
    """(draw, key, heads, length, score) -> what a layer's `face` learns."""
    extra: Callable[[int], int] | None = None
    """Length -> coordinates that the stream's encoding takes for itself."""


def encoding(settings: ModelSettings) -> Positions:
    """The encoding that the settings name or bring."""
    asked = settings.positions
    return ENCODINGS[asked] if isinstance(asked, str) else given(asked).use()


def is_additive(settings: ModelSettings) -> bool:
    """Whether the stream's part only adds a row to each position's vector: tokens' and positions' rows can be apart."""
    asked = settings.positions
    return asked != "one-hot" if isinstance(asked, str) else given(asked).use().stream is None


def sinusoidal(length: int, width: int) -> Float[Array, "length width"]:
    """code[p, 2i] = sin(p / 10000^(2i/width)), code[p, 2i+1] = cos of the same."""
    angle = _angles(length, width)
    code = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(length, -1)
    return jnp.asarray(code[:, :width])


def rotated(x: Float[Array, "*shape"], length: int, axis: int) -> Float[Array, "*shape"]:
    """(x_2i, x_2i+1) turned by the angle p / 10000^(2i/size), for vectors of `size` at the positions p.

    Along `axis` lie the last of `length` positions, along the last axis the vectors. The product of two
    turned vectors depends on their positions through the distance alone.
    """
    angle = _angles(length, x.shape[-1])[-x.shape[axis] :]
    shape = [1] * x.ndim
    shape[axis], shape[-1] = angle.shape
    cosine, sine = (jnp.asarray(part.reshape(shape), x.dtype) for part in (np.cos(angle), np.sin(angle)))
    even, odd = x[..., 0::2], x[..., 1::2]
    return jnp.stack([even * cosine - odd * sine, even * sine + odd * cosine], axis=-1).reshape(x.shape)


def slopes(heads: int) -> Float[np.ndarray, " {heads}"]:
    """2^(-8h/heads) for h = 1, .., heads (ALiBi: Press et al. 2022)."""
    return 2.0 ** (-8 * np.arange(1, heads + 1) / heads)


def distances(queries: int, keys: int) -> Int[np.ndarray, "{queries} {keys}"]:
    """How many steps each key lies before each of the last `queries` positions; 0 for what comes after."""
    position = np.arange(keys - queries, keys)[:, None]
    return np.maximum(position - np.arange(keys), 0)


def _angles(length: int, width: int) -> Float[np.ndarray, "{length} _"]:
    """p / 10000^(2i/width) for every position p and every pair i of coordinates."""
    return np.arange(length)[:, None] / 10000 ** (2 * np.arange((width + 1) // 2) / width)


def _facing(
    codes: Float[Array, "head length score"], query: Float[Array, "query head score"], keys: int
) -> Float[Array, "head query {keys}"]:
    """q_i . r_{i-j}: what a query makes of the distance of each key (Shaw et al. 2018)."""
    met = jnp.einsum("qhs,hds->hqd", query, codes)
    far = jnp.asarray(distances(len(query), keys))
    return jnp.take_along_axis(met, jnp.broadcast_to(far, (len(codes), *far.shape)), axis=2)


def _alibi(_parameters: Any, heads: int, queries: int, keys: int) -> Float[Array, "{heads} {queries} {keys}"]:
    return jnp.asarray(-slopes(heads)[:, None, None] * distances(queries, keys))


ENCODINGS = {
    "none": Positions(),
    "learned": Positions(
        stream=lambda table, x: x + table,
        stream_start=lambda draw, key, length, width: draw(key, (length, width), length, width),
    ),
    "sinusoidal": Positions(stream=lambda _, x: x + sinusoidal(*x.shape).astype(x.dtype)),
    "one-hot": Positions(
        stream=lambda _, x: jnp.concatenate([x, jnp.eye(len(x), dtype=x.dtype)], axis=1), extra=lambda length: length
    ),
    "rotary": Positions(turn=rotated),
    "relative": Positions(
        shift=lambda bias, _heads, queries, keys: bias[:, distances(queries, keys)],
        # Zero, so that every start attends by content alone.
        shift_start=lambda heads, length: jnp.zeros((heads, length)),
    ),
    "relative-keys": Positions(
        face=_facing,
        face_start=lambda draw, key, heads, length, score: draw(key, (heads, length, score), length, score),
    ),
    "alibi": Positions(shift=_alibi),
}
