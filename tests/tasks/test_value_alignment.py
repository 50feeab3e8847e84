"""What heads add to the logits, compared with what the blocks have to add."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.models.switches import chosen_settings, name, stirred

from headway.models.attribution import attributed
from headway.models.construction import construction
from headway.tasks.chain import Chain
from headway.tasks.value_alignment import cosines, token_maps

CHAIN = Chain(vocab=5, blocks=((1,), (2, 3)), horizon=4)


def test_the_hand_made_solutions_values_are_the_features():
    """Head k has cosine 1 with block k, and with another block what the two features have in common."""
    world = CHAIN.world(jax.random.key(0))
    model = construction(world.matrices, world.weights, CHAIN.horizon, sharpness=3.0)
    found = np.asarray(CHAIN.parameter_measures(world, model)["value_alignment"])
    assert found.shape == (1, 2, 2)
    np.testing.assert_allclose(np.diagonal(found[0]), 1, rtol=1e-5)
    assert found[0, 0, 1] == pytest.approx(found[0, 1, 0], abs=1e-6)
    assert abs(found[0, 0, 1]) < 0.9


def test_cosines_are_blind_to_size_and_to_what_a_softmax_does_not_see():
    """c V + 1 a^T has the cosines of V, -V the negative ones, and a head that adds nothing has 0."""
    rng = np.random.default_rng(0)
    V, A = jnp.asarray(rng.normal(size=(2, 3, 3))), jnp.asarray(rng.normal(size=(4, 3, 3)))
    usual = cosines(V, A)
    np.testing.assert_allclose(cosines(7 * V + rng.normal(size=(2, 1, 3)), A), usual, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(cosines(-V, A), -usual, rtol=1e-5)
    np.testing.assert_array_equal(cosines(0 * V, A), 0)
    assert np.all(np.abs(usual) <= 1)


@pytest.mark.parametrize(
    "settings", [each for each in chosen_settings() if each.norm == "none" and each.layers == 1][:5], ids=name
)
def test_maps_are_what_heads_add_along_the_direct_path(settings):
    """With attention to a single token x the heads add column x of V_k, up to what its position adds."""
    model = stirred(settings, vocab=4, length=1)
    maps = token_maps(model, 4)[0]
    added = np.stack([attributed(model, jnp.asarray([x])).contributions[0][:, 0] for x in range(4)], axis=-1)
    # The position is the same for every token, so it goes with the mean over them.
    np.testing.assert_allclose(
        added - added.mean(axis=-1, keepdims=True),
        maps - maps.mean(axis=-1, keepdims=True),
        rtol=1e-4,
        atol=1e-4,
    )
