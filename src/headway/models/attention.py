"""Multi-head causal attention whose parts can be left out, written for one sequence."""

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from headway.models.positions import Positions


class HeadReadings(NamedTuple):
    """What the heads did: where they looked and what each of them wrote."""

    pattern: Float[Array, "head query key"]
    written: Float[Array, "head query width"]


class Attention(eqx.Module):
    """out_q = sum_k W_k^T sum_j softmax_j( x_q . S_k x_j + bias_k[q, j] ) x_j, over the positions j <= q.

    S_k = query_k key_k^T, or one merged matrix where `key` is None.
    W_k = value_k output_k, or one full-width matrix where `output` is None.
    bias_k, if the positions shift scores, may be learned; they may turn queries and keys before their product, or add
    to it what a query makes of each distance.
    """

    query: Float[Array, "head width score"]
    key: Float[Array, "head width score"] | None
    value: Float[Array, "head width inner"]
    output: Float[Array, "head inner width"] | None
    scaled: bool = eqx.field(static=True)
    bias: Any = None
    """What the positions' shift of the scores learns."""
    positions: Positions = eqx.field(static=True, default=Positions())
    codes: Any = None
    """What the positions learn that queries meet beside the keys."""

    def __call__(
        self, x: Float[Array, "key width"], queries: int, coordinates: int
    ) -> tuple[Float[Array, "{queries} {coordinates}"], HeadReadings]:
        """What the last `queries` positions receive, in the first `coordinates` of the width, and how."""
        pattern = self.pattern(x, queries)
        if self._merging_pays(queries, len(x)):
            # The same sums in other brackets: mix the inputs first, then one product with the merged matrices.
            mixed = jnp.einsum("hqk,ke->hqe", pattern, x)
            merged = self.value if self.output is None else jnp.einsum("hei,hio->heo", self.value, self.output)
            last = merged[:, :, :coordinates]
        else:
            last = (self.value if self.output is None else self.output)[:, :, :coordinates]
            inner = jnp.einsum("ke,hei->hki", x, last if self.output is None else self.value)
            mixed = jnp.einsum("hqk,hki->hqi", pattern, inner)
            if self.output is None:
                return jnp.sum(mixed, axis=0), HeadReadings(pattern, mixed)
        written = jnp.einsum("hqi,hio->hqo", mixed, last)
        return jnp.einsum("hqi,hio->qo", mixed, last), HeadReadings(pattern, written)

    def pattern(self, x: Float[Array, "key width"], queries: int) -> Float[Array, "head {queries} key"]:
        """Attention of the last `queries` positions."""
        if self.key is None or self._merging_pays(queries, len(x)):
            merged = self.query if self.key is None else jnp.einsum("hes,hfs->hef", self.query, self.key)
            query = jnp.einsum("qe,hef->hqf", x[-queries:], merged)
            scores = jnp.einsum("hqf,kf->hqk", query, x)
        else:
            key = self.turned(jnp.einsum("ke,hes->hks", x, self.key), len(x), axis=1)
            query = self.turned(jnp.einsum("qe,hes->hqs", x[-queries:], self.query), len(x), axis=1)
            scores = jnp.einsum("hqs,hks->hqk", query, key)
        faced = self.faced(jnp.swapaxes(query, 0, 1), len(x))
        scores = scores if faced is None else scores + faced
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

    def faced(self, query: Float[Array, "query head score"], keys: int) -> Float[Array, "head query {keys}"] | None:
        """What the last positions' queries make of the distance of every key."""
        return None if self.positions.face is None else self.positions.face(self.codes, query, keys)

    def _merging_pays(self, queries: int, keys: int) -> bool:
        return self.can_merge and queries * self.query.shape[0] <= keys

    @property
    def can_merge(self) -> bool:
        """With few queries, projecting each of them by merged matrices is cheaper than projecting every key.

        Turns lie between the matrices, and codes of distances meet the queries, which therefore must be there.
        """
        return self.positions.turn is None and self.positions.face is None


def causal_mask(queries: int, keys: int) -> Bool[Array, "{queries} {keys}"]:
    """Which keys the last `queries` of `keys` positions may see: themselves and what came before."""
    position = jnp.arange(keys - queries, keys)
    return jnp.arange(keys) <= position[:, None]
