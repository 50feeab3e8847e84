"""out[q] = start[q, x_q] + sum_hj softmax_j( S[h, q, x_q, j, x_j] ) W[j, x_j, h], for all examples in one call.

A kernel on the CPU, in float32. A score table has tokens^2 numbers where an example has one, so it is served only
where the examples are many enough to use them.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from headway.kernels.cpu import room, usable
from headway.kernels.cpu.attention_shape import Shape
from headway.models.transformer import Transformer

SLICES = 8
"""Pieces of a batch, each with a value table of its own; their number fixes the order of all sums."""
SCORE_BYTES = 2**28
"""Larger score tables are left to the form without a kernel."""


def serves(model: Transformer, examples: int, queries: int) -> bool:
    """Whether this machine, this precision and the size of the score table suit the kernel."""
    attention = model.layers[0].attention
    size = 4 * attention.query.shape[0] * queries * model.length * model.vocab**2
    return (
        jax.devices()[0].platform == "cpu"
        and attention.value.dtype == jnp.float32
        and model.vocab**2 <= 4 * examples
        and size <= SCORE_BYTES
        and usable()
    )


@jax.custom_vjp
def attend(
    scores: Float[Array, "head query token key token"],
    values: Float[Array, "key token head coordinate"],
    start: Float[Array, "query token coordinate"],
    tokens: Int[Array, "example key"],
) -> tuple[Float[Array, "example query coordinate"], Float[Array, "example head query key"]]:
    """What every query has behind the heads, and the heads' pattern, through which no gradient passes."""
    out, pattern = _forward(scores, values, start, tokens)
    return out, pattern[..., : tokens.shape[1]]


def _attend(scores, values, start, tokens):
    out, pattern = _forward(scores, values, start, tokens)
    return (out, pattern[..., : tokens.shape[1]]), (values, tokens, pattern)


def _pull(kept, changes):
    values, tokens, pattern = kept
    _, heads, queries, _ = pattern.shape
    length, vocabulary, _, coordinates = values.shape
    shape = Shape(heads, vocabulary, length, queries, coordinates)
    slices = min(SLICES, len(tokens))
    tokens = _inside(tokens, vocabulary)
    _, of_values, of_start, of_scores = jax.ffi.ffi_call(
        _call(shape, "backward"),
        (
            room(slices, shape.scratch),
            room(slices, length, vocabulary, heads, shape.width),
            room(slices, queries, vocabulary, shape.width),
            room(heads * queries, len(tokens), shape.key_room),
        ),
        vmap_method="sequential",
    )(tokens, _padded(values, shape), pattern, changes[0])
    of_table = jax.ffi.ffi_call(
        _call(shape, "scatter"), room(heads * queries, vocabulary, length, vocabulary), vmap_method="sequential"
    )(tokens, of_scores)
    return (
        of_table.reshape(heads, queries, vocabulary, length, vocabulary),
        jnp.sum(of_values, axis=0)[..., :coordinates],
        jnp.sum(of_start, axis=0)[..., :coordinates],
        None,
    )


attend.defvjp(_attend, _pull)


def _forward(scores, values, start, tokens):
    """As `attend`; the pattern's keys are rounded up to whole vectors."""
    heads, queries, vocabulary, length, _ = scores.shape
    shape = Shape(heads, vocabulary, length, queries, values.shape[-1])
    slices = min(SLICES, len(tokens))
    _, _, out, pattern = jax.ffi.ffi_call(
        _call(shape, "forward"),
        (
            room(slices, shape.scratch),
            jax.ShapeDtypeStruct((slices, shape.key_room), jnp.int32),
            room(len(tokens), queries, values.shape[-1]),
            room(len(tokens), heads, queries, shape.key_room),
        ),
        vmap_method="sequential",
    )(_inside(tokens, vocabulary), scores, _padded(values, shape), _padded(start, shape))
    return out, pattern


def _inside(tokens, vocabulary: int):
    """A token outside of the vocabulary would be an address outside of the tables."""
    return jnp.clip(tokens, 0, vocabulary - 1).astype(jnp.int32)


def _padded(table, shape):
    return jnp.pad(table, [(0, 0)] * (table.ndim - 1) + [(0, shape.width - shape.coordinates)])


def _call(shape: Shape, part: str) -> str:
    """The name of a compiled part."""
    from headway.kernels.cpu.register import register  # late: llvmlite need not be there where nothing is compiled

    register(shape.name(part), lambda: work_of(part)(shape))
    return shape.name(part)


def work_of(part: str) -> Callable:
    """Makes a part for a shape."""
    # Late: numba takes a while to import, and a kernel that was kept needs none.
    from headway.kernels.cpu.attention_backward import backward_work, scatter_work
    from headway.kernels.cpu.attention_forward import forward_work

    return {"forward": forward_work, "backward": backward_work, "scatter": scatter_work}[part]
