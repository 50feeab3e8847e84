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
    """out_q = sum_k W_k sum_j softmax_j( x_q . S_k x_j ) x_j, over the positions j <= q.

    S_k = query_k key_k^T, or one merged matrix where `key` is None.
    W_k = value_k output_k, or one full-width matrix where `output` is None.
    """

    query: Float[Array, "head width score"]
    key: Float[Array, "head width score"] | None
    value: Float[Array, "head width inner"]
    output: Float[Array, "head inner width"] | None
    scaled: bool = eqx.field(static=True)

    def pattern(self, x: Float[Array, "key width"], queries: int) -> Float[Array, "head {queries} key"]:
        """Attention of the last `queries` positions."""
        projected = jnp.einsum("qe,hes->hqs", x[-queries:], self.query)
        if self.key is None:
            scores = jnp.einsum("hqe,ke->hqk", projected, x)
        elif self._absorbing_pays(queries, len(x)):
            absorbed = jnp.einsum("hqs,hes->hqe", projected, self.key)
            scores = jnp.einsum("hqe,ke->hqk", absorbed, x)
        else:
            keys = jnp.einsum("ke,hes->hks", x, self.key)
            scores = jnp.einsum("hqs,hks->hqk", projected, keys)
        if self.scaled:
            scores = scores / math.sqrt(self.query.shape[-1])
        return jax.nn.softmax(jnp.where(causal_mask(queries, len(x)), scores, -jnp.inf))

    def __call__(self, x: Float[Array, "key width"], queries: int, coordinates: int) -> HeadReadings:
        """Attend from the last `queries` positions and write the first `coordinates` of the width."""
        pattern = self.pattern(x, queries)
        last = self.value if self.output is None else self.output
        last = last[:, :, :coordinates]
        if self._absorbing_pays(queries, len(x)):
            mixed = jnp.einsum("hqk,ke->hqe", pattern, x)
            inner = mixed if self.output is None else jnp.einsum("hqe,hei->hqi", mixed, self.value)
            return HeadReadings(pattern, jnp.einsum("hqi,hio->hqo", inner, last))
        if self.output is None:
            return HeadReadings(pattern, jnp.einsum("hqk,hko->hqo", pattern, jnp.einsum("ke,heo->hko", x, last)))
        values = jnp.einsum("hqk,hki->hqi", pattern, jnp.einsum("ke,hei->hki", x, self.value))
        return HeadReadings(pattern, jnp.einsum("hqi,hio->hqo", values, last))

    def _absorbing_pays(self, queries: int, keys: int) -> bool:
        """Whether to project the few queries twice rather than every key once: the same sum, other brackets."""
        return queries * self.query.shape[0] <= keys


def causal_mask(queries: int, keys: int) -> Bool[Array, "{queries} {keys}"]:
    """Which keys the last `queries` of `keys` positions may see: themselves and what came before."""
    position = jnp.arange(keys - queries, keys)
    return jnp.arange(keys) <= position[:, None]
