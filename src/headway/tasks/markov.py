"""The importance-structured Markov chain of paper A, section 2.1, with everything about it exact."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from headway.settings import TaskSettings
from headway.tasks.features import independent_features, mutually_orthogonal_features


class MarkovChain(eqx.Module):
    """p(x_t | past) = softmax( sum_k features[k] sum_i weights[k, i] x_{t-i} ), lags i = 1 (newest) .. w.

    With blocks (1, 2) and (3, 4), the first `start` = 4 tokens are uniform and the rest is drawn:

        tokens:   7  2  0  5 | 3  1  6 ..
                  uniform    | each drawn from the four before it
        lags of 3: 4  3  2  1
                  `block 2` `block 1`: the strongest

    A learner that has found the first i blocks predicts by rung i; rung 0 is the uniform
    distribution and the last rung is the truth.
    """

    features: Float[Array, "block token token"]
    weights: Float[Array, "block lag"]
    horizon: int = eqx.field(static=True)

    @property
    def start(self) -> int:
        """w: number of uniform tokens before the chain begins."""
        return self.weights.shape[-1]

    @property
    def tokens(self) -> int:
        """d: size of the dictionary."""
        return self.features.shape[-1]

    def rung_logits(self, window: Int[Array, " lag"]) -> Float[Array, "rung token"]:
        """Logits of every rung after `window`, the newest token last."""
        lagged = jax.nn.one_hot(window[::-1], self.tokens, dtype=self.features.dtype)
        mixed = jnp.matmul(self.weights, lagged, precision="highest")  # whatever precision the model is trained in
        blocks = jnp.einsum("kyx,kx->ky", self.features, mixed, precision="highest")
        return jnp.concatenate([jnp.zeros_like(blocks[:1]), jnp.cumsum(blocks, axis=0)])

    def conditional(self, window: Int[Array, " lag"]) -> Float[Array, " token"]:
        """p(next token | window): the truth, which is the last rung."""
        return jax.nn.softmax(self.rung_logits(window)[-1])

    def rungs(self, sequence: Int[Array, " time"]) -> Float[Array, "predicted rung token"]:
        """Log-probabilities of every rung at every predicted position of a whole sequence."""
        blocks = self.contributions(sequence)
        logits = jnp.concatenate([jnp.zeros_like(blocks[:, :1]), jnp.cumsum(blocks, axis=1)], axis=1)
        return jax.nn.log_softmax(logits)

    def subsets(self, sequence: Int[Array, " time"]) -> Float[Array, "predicted subset token"]:
        """The same for every combination of blocks: number n knows block k + 1 exactly if bit k of n is set."""
        blocks = self.contributions(sequence)
        known = (jnp.arange(2 ** blocks.shape[1])[:, None] >> jnp.arange(blocks.shape[1])) & 1
        chosen = jnp.einsum("sk,tky->tsy", known.astype(blocks.dtype), blocks, precision="highest")
        return jax.nn.log_softmax(chosen)

    def contributions(self, sequence: Int[Array, " time"]) -> Float[Array, "predicted block token"]:
        """What every block adds to the logits at every predicted position of a whole sequence."""
        # Rows of the features instead of products with one-hot vectors, and sums instead of products with the weights.
        added = jnp.moveaxis(self.features, 2, 0)[sequence]
        blocks = jnp.zeros((self.horizon, *self.features.shape[:2]), self.features.dtype)
        for lag in range(1, self.start + 1):
            first = self.start - lag
            blocks = blocks + self.weights[:, lag - 1, None] * added[first : first + self.horizon]
        return blocks

    def windows(self, sequence: Int[Array, " time"], size: int) -> Int[Array, "predicted {size}"]:
        """The `size` tokens before each predicted position, the newest last."""
        first = self.start - size
        return sequence[first + jnp.arange(self.horizon)[:, None] + jnp.arange(size)]

    def targets(self, sequence: Int[Array, " time"]) -> Int[Array, " predicted"]:
        """The tokens that are predicted."""
        return sequence[self.start :]

    def sample(self, key: PRNGKeyArray) -> Int[Array, " time"]:
        """One sequence: `start` uniform tokens, then `horizon` tokens of the chain."""
        first, rest = jax.random.split(key)

        def draw(window, level):
            # Inverse of the distribution function: one random number a token instead of one a candidate.
            cumulative = jnp.cumsum(self.conditional(window))
            token = jnp.sum(cumulative <= level * cumulative[-1]).astype(window.dtype)
            return jnp.append(window[1:], token), token

        beginning = jax.random.randint(first, (self.start,), 0, self.tokens)
        levels = jax.random.uniform(rest, (self.horizon,), self.features.dtype)
        _, drawn = jax.lax.scan(draw, beginning, levels)
        return jnp.concatenate([beginning, drawn])

    def sample_set(self, key: PRNGKeyArray, count: int) -> Int[Array, "{count} time"]:
        """`count` sequences; a smaller set from the same key is the beginning of a larger one."""
        return jax.vmap(lambda i: self.sample(jax.random.fold_in(key, i)))(jnp.arange(count))

    def entropy(self, sequence: Int[Array, " time"]) -> Float[Array, ""]:
        """Mean over the predicted positions of the truth's conditional entropy, in nats.

        Its mean over sequences is the smallest cross-entropy that any model can reach.
        """
        truth = self.rungs(sequence)[:, -1]
        return -jnp.mean(jnp.sum(jnp.exp(truth) * truth, axis=-1))


def lag_weights(settings: TaskSettings) -> np.ndarray:
    """weights[k, i-1]: the weight of lag i in block k; zero outside the block."""
    table = np.zeros((len(settings.blocks), settings.start))
    for k, block in enumerate(settings.blocks):
        inside = {
            "mean": np.full(len(block), 1 / len(block)),
            "sum": np.ones(len(block)),
            "given": np.asarray(settings.weights[k] if settings.weights else ()),
        }[settings.weighting]
        table[k, np.asarray(block) - 1] = inside
    return table


def strengths(settings: TaskSettings, ratio: Float[Array, ""] | float | None = None) -> Float[Array, " block"]:
    """m_k = m^(h-k) b0: the first block is the strongest; `ratio` may be traced to differ between runs."""
    ratio = settings.ratio if ratio is None else ratio
    return jnp.asarray(ratio) ** jnp.arange(len(settings.blocks) - 1, -1, -1) * settings.base


def markov_chain(
    settings: TaskSettings, key: PRNGKeyArray, ratio: Float[Array, ""] | float | None = None
) -> MarkovChain:
    """A chain with freshly drawn features A_k = m_k Q_k."""
    draw = mutually_orthogonal_features if settings.orthogonal else independent_features
    features = draw(key, len(settings.blocks), settings.tokens)
    scaled = strengths(settings, ratio).astype(features.dtype)[:, None, None] * features
    return MarkovChain(scaled, jnp.asarray(lag_weights(settings), features.dtype), settings.horizon)
