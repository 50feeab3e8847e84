"""Every logit is the sum of what the heads and the rest add, for every switch of the model."""

import jax
import numpy as np
import pytest
from tests.made_model import CASES, PREDICTED, made_model

from headway.models.attribution import attributed


@pytest.mark.parametrize("case", CASES)
def test_the_parts_add_up_to_the_logits(case):
    model, inputs = made_model(case)
    seen = model(inputs)
    together = seen.rest + sum(each.sum(axis=-3) for each in seen.contributions)
    np.testing.assert_allclose(together, seen.logits, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("case", CASES)
def test_logits_and_attention_are_those_that_training_reads(case):
    model, inputs = made_model(case)
    seen = model(inputs)
    reading = jax.vmap(lambda row: model.module.read(row, PREDICTED))(inputs)
    np.testing.assert_allclose(seen.logits, reading.logits, atol=1e-5, rtol=1e-4)
    for layer, heads in zip(seen.attention, reading.heads, strict=True):
        np.testing.assert_allclose(layer[:, :, -heads.pattern.shape[2] :], heads.pattern, atol=1e-5)


def test_a_head_that_writes_nothing_adds_nothing_and_the_others_do_not_notice():
    model, inputs = made_model("attention-only")
    before = model(inputs)
    silent = jax.tree_util.tree_map_with_path(
        lambda path, leaf: leaf.at[0].set(0) if "layers[1].attention.output" in jax.tree_util.keystr(path) else leaf,
        model.module,
    )
    after = jax.vmap(lambda row: attributed(silent, row))(inputs)
    np.testing.assert_array_equal(after.contributions[1][:, 0], 0)
    last = np.asarray(after.logits)[:, -PREDICTED:]
    np.testing.assert_allclose(last, before.logits - before.contributions[1][:, 0], atol=1e-5)


def test_the_minimal_model_is_its_heads_alone():
    model, inputs = made_model("minimal")
    assert not model(inputs).rest.any()
