"""Trees of arrays as named arrays and back."""

import re
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.training.checkpoint import fill, flatten


class Pair(NamedTuple):
    left: object
    right: object


def tree():
    """Every kind of number that a state holds, with values whose bits are easily lost."""
    return Pair(
        {"weights": jnp.asarray([[1 / 3, -0.0], [np.nan, 1e-45]], jnp.float32), "none": None},
        (jnp.asarray(2**31 - 1, jnp.int32), [jnp.asarray([True, False])], jnp.asarray([4294967295], jnp.uint32)),
    )


def test_filling_undoes_flattening_bit_for_bit():
    flat = flatten(tree())
    back = fill(jax.tree.map(jnp.zeros_like, tree()), flat)
    assert jax.tree.structure(back) == jax.tree.structure(tree())
    for new, old in zip(jax.tree.leaves(back), jax.tree.leaves(tree()), strict=True):
        assert (new.dtype, new.shape) == (old.dtype, old.shape)
        assert np.asarray(new).tobytes() == np.asarray(old).tobytes()


def test_every_leaf_lies_under_the_path_that_leads_to_it():
    assert list(flatten(tree())) == [".left['weights']", ".right[0]", ".right[1][0]", ".right[2]"]


def test_a_template_may_be_mere_shapes():
    shapes = jax.eval_shape(tree)
    assert flatten(fill(shapes, flatten(tree()))).keys() == flatten(tree()).keys()


def test_what_the_template_does_not_name_is_ignored():
    flat = flatten(tree()) | {"seconds": np.ones(1)}
    assert "seconds" not in flatten(fill(tree(), flat))


WRONG = {
    "nothing": {},
    "float32[2, 4]": {"['w']": np.zeros((2, 4), np.float32)},
    "float64[2, 3]": {"['w']": np.zeros((2, 3), np.float64)},
}


@pytest.mark.parametrize(("got", "saved"), WRONG.items(), ids=["missing", "shape", "type"])
def test_a_state_that_does_not_fit_says_what_is_there_what_is_needed_and_what_to_do(got, saved):
    wanted = re.escape(f"has {got} for ['w'], but float32[2, 3] is needed.")
    with pytest.raises(ValueError, match=f"{wanted}.*remove the unfinished folder to start this run from scratch"):
        fill({"w": jnp.zeros((2, 3), jnp.float32)}, saved)
