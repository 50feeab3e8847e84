"""A positional encoding of one's own: scores that fall with the logarithm of the distance, at a rate that is learnt.

headway run examples/my_positions.py
"""

import jax.numpy as jnp

from headway import Experiment, Positions, presets


def distances(queries, keys):
    """How far each key lies before each of the last `queries` positions."""
    here = jnp.arange(keys - queries, keys)[:, None]
    return jnp.maximum(here - jnp.arange(keys), 0)


def falling(rates, heads, queries, keys):
    """-rate_h log(1 + distance)."""
    return -rates[:, None, None] * jnp.log1p(distances(queries, keys))


logarithmic = Positions(shift=falling, shift_start=lambda heads, length: jnp.ones(heads))

full = presets.full_quick()

EXPERIMENT = Experiment(
    title="Scores that fall with the logarithm of the distance, beside learned positions",
    grids={
        "quick": {
            "logarithmic": full.changed(model={"positions": logarithmic}),
            "learned": full,
        }
    },
    seeds={"quick": 2},
)
