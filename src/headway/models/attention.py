"""Multi-head attention, causal or not, whose parts can be left out, written for one sequence."""

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from headway.models import mixing, packed
from headway.models.positions import Positions

Drop = packed.Drop
"""What dropout leaves of the heads' attention."""


class HeadReadings(NamedTuple):
    """What the heads did: where they looked, before any dropout, and what each of them wrote."""

    pattern: Float[Array, "head query key"]
    written: Float[Array, "head query width"]
    shares: Float[Array, "head query key"] | None = None
    """|pattern| / sum |pattern|, where the pattern itself does not consist of shares."""

    @property
    def looked(self) -> Float[Array, "head query key"]:
        """Where the heads look, in shares."""
        return self.pattern if self.shares is None else self.shares


class Biases(NamedTuple):
    """Added to the heads' queries, keys and values, and to what all of them write."""

    query: Float[Array, "head score"]
    key: Float[Array, "head score"] | None
    value: Float[Array, "head inner"]
    output: Float[Array, " width"]


class Emphasis(NamedTuple):
    """Attention is multiplied by `factor` at these (query, key) positions; hashable, so that it is no weight."""

    factor: float
    places: tuple[tuple[int, int], ...]

    def of(self, queries: int, keys: int) -> Float[Array, "{queries} {keys}"]:
        """The factors of the last `queries` positions."""
        table = np.ones((keys, keys), np.float32)
        table[tuple(np.transpose(self.places))] = self.factor
        return jnp.asarray(table[-queries:])


class Attention(eqx.Module):
    """out_q = sum_k W_k^T sum_j softmax_j( x_q . S_k x_j + bias_k[q, j] ) x_j, over the positions j <= q, or all.

    S_k = query_k key_k^T, or one merged matrix where `key` is None.
    W_k = value_k output_k, or one full-width matrix where `output` is None.
    bias_k, if the positions shift scores, may be learned; they may turn queries and keys before their product, or add
    to it what a query makes of each distance. Linear attention leaves the softmax out.
    """

    query: Float[Array, "head width score"]
    key: Float[Array, "head width score"] | None
    value: Float[Array, "head width inner"]
    output: Float[Array, "head inner width"] | None
    scaled: bool = eqx.field(static=True)
    bias: Any = None
    """What the positions' shift of the scores learns."""
    positions: Positions = eqx.field(static=True, default=Positions())
    biases: Biases | None = None
    linear: bool = eqx.field(static=True, default=False)
    emphasis: Emphasis | None = eqx.field(static=True, default=None)
    codes: Any = None
    """What the positions learn that queries meet beside the keys."""
    causal: bool = eqx.field(static=True, default=True)

    def __call__(
        self, x: Float[Array, "key width"], queries: int, coordinates: int, drop: Drop | None = None
    ) -> tuple[Float[Array, "{queries} {coordinates}"], HeadReadings]:
        """What the last `queries` positions receive, in the first `coordinates` of the width, and how."""
        if not self._merging_pays(queries, len(x)):
            if drop is None and mixing.served(self, queries, len(x)):
                return self._mixed_by_kernels(x, queries, coordinates)
            if packed.wanted() and packed.serves(self):
                assert self.output is not None
                return self._written(*packed.mixed_values(self, x, queries, drop), self.output[:, :, :coordinates])
        pattern = self.pattern(x, queries)
        kept = pattern if drop is None else drop(pattern)
        if self._merging_pays(queries, len(x)):
            # The same sums in other brackets: mix the inputs first, then one product with the merged matrices.
            mixed = jnp.einsum("hqk,ke->hqe", kept, x)
            merged = self.value if self.output is None else jnp.einsum("hei,hio->heo", self.value, self.output)
            last = merged[:, :, :coordinates]
        else:
            last = (self.value if self.output is None else self.output)[:, :, :coordinates]
            inner = jnp.einsum("ke,hei->hki", x, last if self.output is None else self.value)
            if self.biases is not None:
                inner = inner + self.biases.value[:, None, : inner.shape[-1]]
            mixed = jnp.einsum("hqk,hki->hqi", kept, inner)
            if self.output is None:
                return self._with_bias(jnp.sum(mixed, axis=0)), self._readings(pattern, mixed)
        return self._written(pattern, mixed, last)

    def _mixed_by_kernels(
        self, x: Float[Array, "key width"], queries: int, coordinates: int
    ) -> tuple[Float[Array, "{queries} {coordinates}"], HeadReadings]:
        """The same; patterns are computed apart, if anybody looks at them."""
        assert self.output is not None
        mixed, last = mixing.mixed_rows(self, x, queries), self.output[:, :, :coordinates]
        received = self._with_bias(mixed @ last.reshape(-1, coordinates))
        by_head = jnp.swapaxes(mixed.reshape(queries, len(last), -1), 0, 1)
        return received, self._readings(self.pattern(x, queries), jnp.einsum("hqi,hio->hqo", by_head, last))

    def _written(
        self,
        pattern: Float[Array, "head query key"],
        mixed: Float[Array, "head query inner"],
        last: Float[Array, "head inner coordinate"],
    ) -> tuple[Float[Array, "query coordinate"], HeadReadings]:
        """What all heads write together, and each of them."""
        written = jnp.einsum("hqi,hio->hqo", mixed, last)
        return self._with_bias(jnp.einsum("hqi,hio->qo", mixed, last)), self._readings(pattern, written)

    def _readings(self, pattern: Float[Array, "head query key"], written: Array) -> HeadReadings:
        shared = not self.linear and self.emphasis is None
        return HeadReadings(pattern, written, None if shared else shares(pattern))

    def _with_bias(self, received: Float[Array, "query coordinate"]) -> Float[Array, "query coordinate"]:
        return received if self.biases is None else received + self.biases.output[: received.shape[-1]]

    def pattern(self, x: Float[Array, "key width"], queries: int) -> Float[Array, "head {queries} key"]:
        """Attention of the last `queries` positions."""
        if self.key is None or self._merging_pays(queries, len(x)):
            merged = self.query if self.key is None else jnp.einsum("hes,hfs->hef", self.query, self.key)
            query = jnp.einsum("qe,hef->hqf", x[-queries:], merged)
            query = query if self.biases is None else query + self.biases.query[:, None]
            scores = jnp.einsum("hqf,kf->hqk", query, x)
        else:
            key, query = jnp.einsum("ke,hes->hks", x, self.key), jnp.einsum("qe,hes->hqs", x[-queries:], self.query)
            if self.biases is not None and self.biases.key is not None:
                key, query = key + self.biases.key[:, None], query + self.biases.query[:, None]
            query, key = (self.turned(each, len(x), axis=1) for each in (query, key))
            scores = jnp.einsum("hqs,hks->hqk", query, key)
        if self.positions.face is not None:
            scores = scores + self.faced(jnp.swapaxes(query, 0, 1), len(x))
        if self.scaled:
            scores = scores / math.sqrt(self.query.shape[-1])
        shift = self.shift(queries, len(x))
        scores = scores if shift is None else scores + shift
        seen = self.seen(queries, len(x))
        pattern = jnp.where(seen, scores, 0) if self.linear else jax.nn.softmax(jnp.where(seen, scores, -jnp.inf))
        return pattern if self.emphasis is None else pattern * self.emphasis.of(queries, len(x)).astype(pattern.dtype)

    def turned(self, x: Float[Array, "*shape"], length: int, axis: int) -> Float[Array, "*shape"]:
        """Queries or keys as they meet each other; along `axis` lie the last of `length` positions."""
        return x if self.positions.turn is None else self.positions.turn(x, length, axis)

    def seen(self, queries: int, keys: int) -> Bool[Array, "{queries} {keys}"]:
        """What the last `queries` of `keys` positions may look at."""
        return causal_mask(queries, keys) if self.causal else jnp.ones((queries, keys), bool)

    def shift(self, queries: int, keys: int) -> Float[Array, "head {queries} {keys}"] | None:
        """What positions alone add to the scores of the last `queries` positions."""
        if self.positions.shift is None:
            return None
        return self.positions.shift(self.bias, len(self.query), queries, keys).astype(self.query.dtype)

    def faced(self, query: Float[Array, "query head score"], keys: int) -> Float[Array, "head query {keys}"]:
        """What the last positions' queries make of the distance of every key, where the encoding has such codes."""
        assert self.positions.face is not None
        return self.positions.face(self.codes, query, keys)

    def _merging_pays(self, queries: int, keys: int) -> bool:
        return self.can_merge and queries * self.query.shape[0] <= keys

    @property
    def can_merge(self) -> bool:
        """With few queries, projecting each of them by merged matrices is cheaper than projecting every key.

        Turns and biases lie between the matrices, and codes of distances meet the queries, which then must be there.
        """
        return self.positions.turn is None and self.positions.face is None and self.biases is None


def shares(pattern: Float[Array, "*more key"]) -> Float[Array, "*more key"]:
    """|A| / sum |A| along the keys; zero where all of them are."""
    size = jnp.abs(pattern)
    total = jnp.sum(size, axis=-1, keepdims=True)
    return jnp.where(total > 0, size / jnp.where(total > 0, total, 1), 0)


def causal_mask(queries: int, keys: int) -> Bool[Array, "{queries} {keys}"]:
    """Which keys the last `queries` of `keys` positions may see: themselves and what came before."""
    position = jnp.arange(keys - queries, keys)
    return jnp.arange(keys) <= position[:, None]
