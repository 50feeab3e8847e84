"""Multi-head causal attention whose parts can be left out, written for one sequence."""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


class HeadReadings(NamedTuple):
    """What the heads did: where they looked and what each of them wrote."""

    pattern: Float[Array, "head query key"]
    written: Float[Array, "head query width"]


class Attention(eqx.Module):
    """out_q = sum_k W_k^T sum_j softmax_j( x_q . S_k x_j ) x_j, over the positions j <= q.

    S_k = query_k key_k^T, or one merged matrix where `key` is None.
    W_k = value_k output_k, or one full-width matrix where `output` is None.
    """

    query: Float[Array, "head width score"]
    key: Float[Array, "head width score"] | None
    value: Float[Array, "head width inner"]
    output: Float[Array, "head inner width"] | None
    scaled: bool = eqx.field(static=True)

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
            scores = jnp.einsum("hqf,kf->hqk", jnp.einsum("qe,hef->hqf", x[-queries:], merged), x)
        else:
            keys = jnp.einsum("ke,hes->hks", x, self.key)
            scores = jnp.einsum("hqs,hks->hqk", jnp.einsum("qe,hes->hqs", x[-queries:], self.query), keys)
        if self.scaled:
            scores = scores / math.sqrt(self.query.shape[-1])
        return jax.nn.softmax(jnp.where(causal_mask(queries, len(x)), scores, -jnp.inf))

    def _merging_pays(self, queries: int, keys: int) -> bool:
        """With few queries, projecting each of them by merged matrices is cheaper than projecting every key."""
        return queries * self.query.shape[0] <= keys


def causal_mask(queries: int, keys: int) -> Bool[Array, "{queries} {keys}"]:
    """Which keys the last `queries` of `keys` positions may see: themselves and what came before."""
    position = jnp.arange(keys - queries, keys)
    return jnp.arange(keys) <= position[:, None]
