"""A task of one's own: every sequence has a Markov chain of its own, and two layers learn to read it in stages.

    headway run examples/in_context_chain.py

The ladder is uniform, unigram (which states came so far), bigram (what followed the present state so far). A model that
gets to the last rung has built an induction head: layer 1 attends to the token before, layer 2 to the tokens that
followed earlier occurrences of the present one (Edelman et al. 2024, arXiv 2402.11004).
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from headway import Claim, Evaluation, Experiment, Model, Training
from headway.analysis import minima


@dataclass(frozen=True)
class InContextChain:
    """P_a ~ Dirichlet(1, .., 1) for every state a, anew in each sequence; predict every next state."""

    states: int = 3
    length: int = 64

    rungs = ("uniform", "unigram", "bigram")

    @property
    def vocab(self):
        return self.states

    def sample(self, key):
        """A row of tokens: each is predicted from those before it."""
        rows, first, rest = jax.random.split(key, 3)
        matrix = jax.random.dirichlet(rows, jnp.ones(self.states), (self.states,))

        def step(state, key):
            new = jax.random.categorical(key, jnp.log(matrix[state]))
            return new, new

        start = jax.random.randint(first, (), 0, self.states)
        _, states = jax.lax.scan(step, start, jax.random.split(rest, self.length - 1))
        return jnp.concatenate([start[None], states])

    def ladder(self, row):
        """Log-probabilities of the next state, (rung, position, state), from what was seen up to each position."""
        seen = jax.nn.one_hot(row[:-1], self.states)
        counts = jnp.cumsum(seen, axis=0)
        unigram = (counts + 1) / (counts.sum(axis=1, keepdims=True) + self.states)
        pairs = jnp.cumsum(seen[:-1, :, None] * seen[1:, None, :], axis=0)
        pairs = jnp.concatenate([jnp.zeros_like(pairs[:1]), pairs])
        followers = pairs[jnp.arange(len(pairs)), row[:-1]]
        bigram = (followers + 1) / (followers.sum(axis=1, keepdims=True) + self.states)
        return jnp.log(jnp.stack([jnp.full_like(unigram, 1 / self.states), unigram, bigram]))

    def measures(self, row, reading):
        """Attention of every head to the token before, and to the tokens that followed the present one earlier."""
        read = row[:-1]
        followed = jnp.concatenate([jnp.zeros((len(read), 1), bool), read[:, None] == read[:-1]], axis=1)
        earlier = jnp.tril(followed)
        patterns = jnp.stack([heads.pattern for heads in reading.heads])
        return {
            "previous_token": jnp.mean(jnp.diagonal(patterns, -1, 2, 3), axis=-1),
            "induction": jnp.mean(jnp.sum(patterns * earlier, axis=-1), axis=-1),
        }


def in_order(claim, results):
    """KL to the rungs reaches its minimum at unigram before bigram."""
    (_, trajectory), *_ = results.values()
    steps = minima(trajectory.times("kl_rungs"), trajectory["kl_rungs"])
    return steps[:, 2] / steps[:, 1].clip(1), steps[:, 2] > steps[:, 1]


experiment = Experiment.of(
    InContextChain(),
    title="In-context Markov chains: uniform, unigram, bigram",
    model=Model(
        layers=2, heads=1, width=32, mlp=0, norm="pre", positions="relative", dropout=0.0, initialisation="fan-in"
    ),
    training=Training(
        optimiser="adamw", learning_rate=3e-3, schedule="constant", steps=1200, batch=64, data="fresh", test_samples=256
    ),
    evaluation=Evaluation(points=60, snapshots=20),
    seeds=4,
    claims=(
        Claim(
            "in order",
            "A model passes unigrams before it reaches bigrams.",
            "KL(unigram || model) reaches its minimum at an earlier step than KL(bigram || model).",
            "step of the bigram's minimum, relative to the unigram's",
            judge=in_order,
        ),
    ),
)
