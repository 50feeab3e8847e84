"""In-context associative recall of paper B: find the pair that the query names, and say its other half."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from headway.settings import RecallTaskSettings

Number = Float[Array, ""] | float


class RecallExample(NamedTuple):
    """What a model reads, what it should answer at its last position, and which pairs are the query's."""

    inputs: Int[Array, " read"]
    target: Int[Array, ""]
    relevant: Bool[Array, " pair"]


class AssociativeRecall(eqx.Module):
    """k_1 v_1 .. k_n v_n q -> f(q), where v_i = f(k_i) and f maps symbols to symbols, at random for each sequence.

    With three pairs from a pool of symbols 0 .. 9, keys and values alike:

        4 7   2 0   9 4 | 2   ->   0
                ^         ^ the query: its pair stands in exactly one slot

    The other keys are drawn, with replacement, from the other symbols. With B copies every other slot holds the
    query's pair, too, with probability (B - 1)/(n - 1): B slots on average. With cross-sample repetition the query is
    one of the first `favourites` symbols with probability p, and otherwise any symbol.
    """

    tokens: int = eqx.field(static=True)
    pairs: int = eqx.field(static=True)
    favourites: int = eqx.field(static=True)

    def sample(self, key: PRNGKeyArray, copies: Number, favoured: Number) -> RecallExample:
        """One sequence with B = `copies` and p = `favoured`, both of which may be traced."""
        mapping_key, query_key, choice_key, slot_key, copy_key, others_key = jax.random.split(key, 6)
        mapping = jax.random.randint(mapping_key, (self.tokens,), 0, self.tokens)
        usual = jax.random.uniform(choice_key) < favoured
        query = jax.random.randint(query_key, (), 0, jnp.where(usual, self.favourites, self.tokens))
        more = jax.random.uniform(copy_key, (self.pairs,)) < (copies - 1) / max(self.pairs - 1, 1)
        slot = jnp.arange(self.pairs) == jax.random.randint(slot_key, (), 0, self.pairs)
        relevant = slot | more
        # Any symbol but the query: one of the next tokens - 1, counted round the pool.
        others = (query + jax.random.randint(others_key, (self.pairs,), 1, self.tokens)) % self.tokens
        keys = jnp.where(relevant, query, others)
        inputs = jnp.append(jnp.stack([keys, mapping[keys]], axis=1).ravel(), query)
        return RecallExample(inputs, mapping[query], relevant)


def associative_recall(settings: RecallTaskSettings) -> AssociativeRecall:
    """The task; nothing of it is drawn before a sequence is."""
    return AssociativeRecall(settings.tokens, settings.pairs, settings.favourites)
