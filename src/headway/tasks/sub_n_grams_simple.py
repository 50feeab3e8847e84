"""The simple model of sub-n-grams (Varre et al. 2025): free attention, then a comparison whose answer is a mixture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from headway.lazily import Array, Float, PRNGKeyArray, jax, jnp
from headway.tasks.sub_n_grams import FLOOR, SubNGrams, evaluation, layer_1, training
from headway.tasks.task import Answer, Example


@dataclass(frozen=True)
class SimpleSubNGrams(SubNGrams):
    """f = sum_t softmax_t(z_T^T Q K z_t) e_{x_t}, z_t = [e_{x_t}, V_h sum_j softmax_{j <= t}(A_h[t, j]) e_{x_j}, ..].

    Layer 1 has n - 1 heads with free T x T scores; layer 2 compares the last token's blocks with everybody's. What it
    says is a mixture of tokens, a distribution already: no readout, norm or MLP.
    """

    NAME: ClassVar[str] = "sub-n-grams-simple"

    @classmethod
    def usual(cls) -> Any:
        from headway.tasks.run import Settings

        return Settings(cls(), None, training(), evaluation())

    def parameters(self, key: PRNGKeyArray) -> dict[str, Array]:
        """A = 0; V ~ N(0, 1/S); Q, K ~ N(0, 1/d), d = n S."""
        heads, size = self.grams - 1, self.grams * self.symbols
        values, queries, keys = jax.random.split(key, 3)
        return {
            "A": jnp.zeros((heads, self.length, self.length)),
            "V": jax.random.normal(values, (heads, self.symbols, self.symbols)) / math.sqrt(self.symbols),
            "Q": jax.random.normal(queries, (size, size)) / math.sqrt(size),
            "K": jax.random.normal(keys, (size, size)) / math.sqrt(size),
        }

    def answer(self, parameters: dict[str, Array], example: Example) -> Answer:
        """ln(f + 1e-8), whose softmax is f up to that."""
        pattern = causal(parameters["A"])
        mixture = mixed(parameters, pattern, jax.nn.one_hot(example.inputs, self.symbols))
        return Answer(jnp.log(mixture + FLOOR)[None], pattern[None])

    def measures(self, example: Example, reading: Any) -> dict[str, Array]:
        return layer_1(reading.attention[0], self.grams)


def causal(scores: Float[Array, "head time time"]) -> Float[Array, "head time time"]:
    """softmax over j <= t."""
    seen = jnp.tril(jnp.ones(scores.shape[1:], bool))
    return jax.nn.softmax(jnp.where(seen, scores, -jnp.inf))


def mixed(
    parameters: dict[str, Array], pattern: Float[Array, "head time time"], tokens: Float[Array, "time symbol"]
) -> Float[Array, " symbol"]:
    """f, from what layer 1 attends to."""
    heads = jnp.einsum("htj,js,hos->tho", pattern, tokens, parameters["V"])
    stream = jnp.concatenate([tokens, heads.reshape(len(tokens), -1)], axis=1)
    scores = stream @ (stream[-1] @ parameters["Q"] @ parameters["K"])
    return jax.nn.softmax(scores) @ tokens


def k_gram_point(task: SimpleSubNGrams, k: int, sharpness: float) -> dict[str, Array]:
    """Weights at which f is nearly the k-gram: a saddle, or for k = n a solution.

    V = I. Head h < k looks h back, A[t, t - h] = c, and the others everywhere. QK = c sum_{h < k} (block h - 1 of the
    query, block h of the key) (x) I: a position counts where what came before it is what came last.
    """
    heads, length, symbols = task.grams - 1, task.length, task.symbols
    scores = jnp.zeros((heads, length, length))
    blocks = jnp.zeros((task.grams, task.grams))
    for lag in range(1, k):
        place = jnp.arange(lag, length)
        scores = scores.at[lag - 1, place, place - lag].set(sharpness)
        blocks = blocks.at[lag - 1, lag].set(sharpness)
    return {
        "A": scores,
        "V": jnp.broadcast_to(jnp.eye(symbols), (heads, symbols, symbols)),
        "Q": jnp.kron(blocks, jnp.eye(symbols)),
        "K": jnp.eye(task.grams * symbols),
    }
