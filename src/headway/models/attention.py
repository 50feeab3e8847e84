"""Multi-head causal attention whose parts can be left out, written for one sequence."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from headway.models.positions import Positions

Drop = Callable[[Float[Array, "head query key"]], Float[Array, "head query key"]]
"""What dropout leaves of the heads' attention."""


class HeadReadings(NamedTuple):
    """What the heads did: where they looked, before any dropout, and what each of them wrote."""

    pattern: Float[Array, "head query key"]
    written: Float[Array, "head query width"]


class Attention(eqx.Module):
    """out_q = sum_k W_k^T sum_j softmax_j( x_q . S_k x_j + bias_k[q, j] ) x_j, over the positions j <= q.

    S_k = query_k key_k^T, or one merged matrix where `key` is None.
    W_k = value_k output_k, or one full-width matrix where `output` is None.
    bias_k, if the positions shift scores, may be learned; and they may turn queries and keys before their product.
    """

    query: Float[Array, "head width score"]
    key: Float[Array, "head width score"] | None
    value: Float[Array, "head width inner"]
    output: Float[Array, "head inner width"] | None
    scaled: bool = eqx.field(static=True)
    bias: Any = None
    """What the positions' shift of the scores learns."""
    positions: Positions = eqx.field(static=True, default=Positions())

    def __call__(
        self, x: Float[Array, "key width"], queries: int, coordinates: int, drop: Drop = lambda pattern: pattern
    ) -> tuple[Float[Array, "{queries} {coordinates}"], HeadReadings]:
        """What the last `queries` positions receive, in the first `coordinates` of the width, and how."""
        pattern = self.pattern(x, queries)
        shares = drop(pattern)
        if self._merging_pays(queries, len(x)):
            # The same sums in other brackets: mix the inputs first, then one product with the merged matrices.
            mixed = jnp.einsum("hqk,ke->hqe", shares, x)
            merged = self.value if self.output is None else jnp.einsum("hei,hio->heo", self.value, self.output)
            last = merged[:, :, :coordinates]
        else:
            last = (self.value if self.output is None else self.output)[:, :, :coordinates]
            inner = jnp.einsum("ke,hei->hki", x, last if self.output is None else self.value)
            mixed = jnp.einsum("hqk,hki->hqi", shares, inner)
            if self.output is None:
                return jnp.sum(mixed, axis=0), HeadReadings(pattern, mixed)
        written = jnp.einsum("hqi,hio->hqo", mixed, last)
        return jnp.einsum("hqi,hio->qo", mixed, last), HeadReadings(pattern, written)

    def pattern(self, x: Float[Array, "key width"], queries: int) -> Float[Array, "head {queries} key"]:
        """Attention of the last `queries` positions."""
        if self.key is None or self._merging_pays(queries, len(x)):
            merged = self.query if self.key is None else jnp.einsum("hes,hfs->hef", self.query, self.key)
            scores = jnp.einsum("hqf,kf->hqk", jnp.einsum("qe,hef->hqf", x[-queries:], merged), x)
        else:
            key = self.turned(jnp.einsum("ke,hes->hks", x, self.key), len(x), axis=1)
            query = self.turned(jnp.einsum("qe,hes->hqs", x[-queries:], self.query), len(x), axis=1)
            scores = jnp.einsum("hqs,hks->hqk", query, key)
        if self.scaled:
            scores = scores / math.sqrt(self.query.shape[-1])
        shift = self.shift(queries, len(x))
        scores = scores if shift is None else scores + shift
        return jax.nn.softmax(jnp.where(causal_mask(queries, len(x)), scores, -jnp.inf))

    def turned(self, x: Float[Array, "*shape"], length: int, axis: int) -> Float[Array, "*shape"]:
        """Queries or keys as they meet each other; along `axis` lie the last of `length` positions."""
        return x if self.positions.turn is None else self.positions.turn(x, length, axis)

    def shift(self, queries: int, keys: int) -> Float[Array, "head {queries} {keys}"] | None:
        """What positions alone add to the scores of the last `queries` positions."""
        if self.positions.shift is None:
            return None
        return self.positions.shift(self.bias, len(self.query), queries, keys).astype(self.query.dtype)

    def _merging_pays(self, queries: int, keys: int) -> bool:
        """With few queries, projecting each of them by merged matrices is cheaper than projecting every key.

        Turns lie between the matrices, which therefore cannot be merged.
        """
        return self.positions.turn is None and queries * self.query.shape[0] <= keys


def causal_mask(queries: int, keys: int) -> Bool[Array, "{queries} {keys}"]:
    """Which keys the last `queries` of `keys` positions may see: themselves and what came before."""
    position = jnp.arange(keys - queries, keys)
    return jnp.arange(keys) <= position[:, None]
