"""One seed, many uses: changing one use of randomness leaves the others alone."""

import jax
from jaxtyping import Array, Integer, PRNGKeyArray

FEATURES, TRAINING_SET, TEST_SET, WEIGHTS, ORDER, NOISE = range(6)
"""What a seed's key is split into."""


def key_of(seed: Integer[Array, ""] | int, use: int) -> PRNGKeyArray:
    """The key of one use of a seed's randomness."""
    return jax.random.fold_in(jax.random.key(seed), use)
