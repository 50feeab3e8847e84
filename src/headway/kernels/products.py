"""x W for very many rows x, as a GPU likes it: sizes filled up to multiples of eight, long sums cut into pieces.

The gradient of W is one sum over all rows, x^T g: a small matrix, of which the library computes each block by one
multiprocessor, however long the sum is. In pieces it fills the device. And rows of 255 numbers are not aligned, for
which the library has only its slow kernels.
"""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from headway.models.packed import ALIGNED, wanted
from headway.models.transformer import ACTIVATIONS, MLP, Transformer

PIECES = 16
"""Parts that a sum over all rows is cut into."""


def product(x: Float[Array, "example *more i"], matrix: Float[Array, "i o"]) -> Float[Array, "example *more o"]:
    """Every row of x times the matrix."""
    inner, outer = matrix.shape
    if not wanted():
        return (x.reshape(-1, inner) @ matrix).reshape(*x.shape[:-1], outer)
    rows = aligned(x.reshape(len(x), -1, inner), -1)
    return _product(rows, aligned(aligned(matrix, 0), 1))[..., :outer].reshape(*x.shape[:-1], outer)


def through(mlp: MLP, x: Float[Array, "example *more width"]) -> Float[Array, "example *more width"]:
    """What the MLP makes of every row."""
    if not wanted():
        return mlp(x.reshape(-1, x.shape[-1])).reshape(x.shape)
    return product(ACTIVATIONS[mlp.activation](product(x, mlp.inner) + mlp.inner_bias), mlp.outer) + mlp.outer_bias


def embedded(model: Transformer, tokens: Int[Array, "example time"]) -> Float[Array, "example time width"]:
    """The vectors that enter the first layer; a GPU adds their slopes up by a product, and not row by row."""
    if model.embedding is None or not wanted():
        return jax.vmap(model.embed)(tokens)
    return jax.vmap(model.placed)(_looked_up(model.embedding, tokens))


def summed(left: Float[Array, "example row i"], right: Float[Array, "example row o"]) -> Float[Array, "i o"]:
    """sum over all rows of left (x) right."""
    examples, rows = len(left), math.prod(left.shape[1:-1])
    fitting = [n for n in range(1, PIECES + 1) if examples % n == 0]
    # Pieces of a length that is not aligned would be copied and filled up.
    pieces = max([n for n in fitting if examples // n * rows % ALIGNED == 0] or fitting)
    left, right = (side.reshape(pieces, -1, side.shape[-1]) for side in (left, right))
    dtype = jnp.promote_types(left.dtype, jnp.float32)
    return jnp.sum(jnp.einsum("pni,pno->pio", left, right, preferred_element_type=dtype), axis=0)


def aligned(x: Float[Array, "*shape"], axis: int) -> Float[Array, "*filled"]:
    """`x` with zeros behind it, up to a multiple of eight along the axis."""
    missing = -x.shape[axis] % ALIGNED
    around = [(0, 0)] * x.ndim
    around[axis] = (0, missing)
    return jnp.pad(x, around) if missing else x


@jax.custom_vjp
def _product(x: Float[Array, "example row i"], matrix: Float[Array, "i o"]) -> Float[Array, "example row o"]:
    return (x.reshape(-1, x.shape[-1]) @ matrix).reshape(*x.shape[:-1], -1)


def _product_backward(kept, slope):
    x, matrix = kept
    return _product(slope, matrix.T), summed(x, slope)


_product.defvjp(lambda x, matrix: (_product(x, matrix), (x, matrix)), _product_backward)


@jax.custom_vjp
def _looked_up(table: Float[Array, "token code"], tokens: Int[Array, "example time"]):
    return table[tokens]


def _looked_up_backward(kept, slope):
    table, tokens = kept
    count, width = table.shape
    own = aligned(jax.nn.one_hot(tokens, count, dtype=slope.dtype), -1)
    return summed(own, aligned(slope, -1))[:count, :width], None


_looked_up.defvjp(lambda table, tokens: (table[tokens], (table, tokens)), _looked_up_backward)
