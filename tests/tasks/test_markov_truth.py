"""The chain's truth, rungs and entropy against the formula written out, sequence by sequence."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from headway.tasks.markov import MarkovChain, lag_weights, markov_chain, strengths
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as some
from tests.tasks.enumeration import (
    TINY,
    all_sequences,
    combinations,
    exact_entropy,
    joint,
    partial,
    probability,
    rung,
    truth,
)

from headway.tasks.chain import Chain

pytestmark = pytest.mark.usefixtures("double")


@pytest.fixture(scope="module", params=TINY, ids=lambda name: name.replace(", ", "-"))
def tiny(request, double) -> tuple[Chain, MarkovChain]:
    """Settings and a chain of three tokens, small enough to list all its sequences."""
    settings = TINY[request.param]
    return settings, markov_chain(settings, jax.random.key(11))


def test_the_conditionals_multiply_to_a_distribution_over_whole_sequences(tiny):
    settings, chain = tiny
    sequences = np.array(all_sequences(settings))
    product = np.full(len(sequences), settings.tokens**-settings.start)
    for time in range(settings.start, sequences.shape[1]):
        next_token = jax.vmap(chain.conditional)(jnp.asarray(sequences[:, time - settings.start : time]))
        product *= np.asarray(next_token)[np.arange(len(sequences)), sequences[:, time]]
    np.testing.assert_allclose(product, joint(settings, chain), rtol=1e-10)
    assert product.sum() == pytest.approx(1, abs=1e-12)


def test_every_rung_is_the_softmax_over_the_blocks_it_knows(tiny):
    settings, chain = tiny
    sequences = all_sequences(settings)
    found = np.exp(jax.vmap(chain.rungs)(jnp.asarray(sequences)))
    assert found.shape == (len(sequences), settings.horizon, len(settings.blocks) + 1, settings.tokens)
    for sequence, of_sequence in zip(sequences, found, strict=True):
        for step, of_step in enumerate(of_sequence):
            past = sequence[: settings.start + step]
            wanted = [rung(settings, chain, known, past) for known in range(len(settings.blocks) + 1)]
            np.testing.assert_allclose(of_step, wanted, rtol=1e-10)


def test_every_combination_of_blocks_is_the_softmax_over_them(tiny):
    settings, chain = tiny
    sequences = all_sequences(settings)[::7]
    found = np.exp(jax.vmap(chain.subsets)(jnp.asarray(sequences)))
    assert found.shape == (len(sequences), settings.horizon, 2 ** len(settings.blocks), settings.tokens)
    for sequence, of_sequence in zip(sequences, found, strict=True):
        for step, of_step in enumerate(of_sequence):
            past = sequence[: settings.start + step]
            wanted = [partial(settings, chain, blocks, past) for blocks in combinations(settings)]
            np.testing.assert_allclose(of_step, wanted, rtol=1e-10)


def test_the_first_i_blocks_are_combination_two_to_the_i_minus_one(tiny):
    """So the rungs are among the combinations: none is uniform, all are the truth."""
    settings, chain = tiny
    sequence = jnp.asarray(all_sequences(settings)[47])
    numbers = [2**known - 1 for known in range(len(settings.blocks) + 1)]
    for known, number in enumerate(numbers):
        assert combinations(settings)[number] == tuple(range(known))
    np.testing.assert_allclose(chain.subsets(sequence)[:, numbers], chain.rungs(sequence), rtol=1e-10, atol=1e-12)


def test_what_the_blocks_contribute_adds_up_to_the_truth(tiny):
    settings, chain = tiny
    sequence = jnp.asarray(all_sequences(settings)[53])
    blocks = chain.contributions(sequence)
    assert blocks.shape == (settings.horizon, len(settings.blocks), settings.tokens)
    for k in range(len(settings.blocks)):
        alone = jax.nn.softmax(blocks[0, k])
        np.testing.assert_allclose(alone, partial(settings, chain, [k], tuple(sequence[: settings.start])), rtol=1e-10)
    together = jax.nn.log_softmax(blocks.sum(axis=1))
    np.testing.assert_allclose(together, chain.rungs(sequence)[:, -1], rtol=1e-10, atol=1e-12)


def test_the_first_rung_is_uniform_and_the_last_is_the_truth(tiny):
    settings, chain = tiny
    sequence = jnp.asarray(all_sequences(settings)[41])
    rungs = np.exp(chain.rungs(sequence))
    np.testing.assert_allclose(rungs[:, 0], 1 / settings.tokens, rtol=1e-12)
    np.testing.assert_allclose(
        rungs[:, -1], jax.vmap(chain.conditional)(chain.windows(sequence, chain.start)), rtol=1e-12
    )


def test_the_rungs_of_a_window_are_those_of_the_sequence_it_lies_in(tiny):
    settings, chain = tiny
    sequence = jnp.asarray(all_sequences(settings)[53])
    alone = jax.nn.log_softmax(jax.vmap(chain.rung_logits)(chain.windows(sequence, chain.start)))
    np.testing.assert_allclose(alone, chain.rungs(sequence), rtol=1e-10, atol=1e-12)


def test_the_entropy_of_a_sequence_is_that_of_its_conditionals(tiny):
    settings, chain = tiny
    for sequence in all_sequences(settings)[::17]:
        wanted = 0.0
        for step in range(settings.horizon):
            conditional = truth(settings, chain, sequence[: settings.start + step])
            wanted -= np.sum(conditional * np.log(conditional)) / settings.horizon
        assert float(chain.entropy(jnp.asarray(sequence))) == pytest.approx(wanted, rel=1e-10)


def test_the_mean_entropy_of_the_sequences_is_the_chain_s_own(tiny):
    """sum_x p(x) entropy(x) = E[-log p(x_t | past)], by the definition of the joint law."""
    settings, chain = tiny
    entropies = jax.vmap(chain.entropy)(jnp.asarray(all_sequences(settings)))
    mean = np.sum(joint(settings, chain) * np.asarray(entropies))
    assert mean == pytest.approx(exact_entropy(settings, chain), rel=1e-10)
    assert mean < np.log(settings.tokens)


def test_windows_end_just_before_their_target():
    settings = Chain(vocab=3, blocks=((1,), (3,)), horizon=4)
    chain = markov_chain(settings, jax.random.key(0))
    sequence = jnp.asarray([4, 5, 6, 0, 1, 2, 3])
    np.testing.assert_array_equal(chain.targets(sequence), [0, 1, 2, 3])
    np.testing.assert_array_equal(chain.windows(sequence, 3), [[4, 5, 6], [5, 6, 0], [6, 0, 1], [0, 1, 2]])
    np.testing.assert_array_equal(chain.windows(sequence, 1), [[6], [0], [1], [2]])


def test_the_lag_that_no_block_uses_changes_nothing():
    settings = TINY["an unused lag"]
    chain = markov_chain(settings, jax.random.key(1))
    newest, oldest, used = (chain.conditional(jnp.asarray(w)) for w in ((0, 1, 2), (2, 1, 0), (0, 2, 2)))
    np.testing.assert_array_equal(newest, oldest)
    assert np.abs(newest - used).max() > 0.01


@pytest.mark.parametrize("orthogonal", [False, True])
def test_block_k_has_the_strength_m_to_the_h_minus_k_times_b0(orthogonal):
    """A_k A_k^T = m_k^2 I, so a block's strength can be read from its matrix."""
    settings = Chain(vocab=3, ratio=1.7, base=10.0, orthogonal=orthogonal)
    found = np.asarray(markov_chain(settings, jax.random.key(2)).features)
    for matrix, strength in zip(found, (10 * 1.7**2, 10 * 1.7, 10), strict=True):
        np.testing.assert_allclose(matrix @ matrix.T, strength**2 * np.eye(3), atol=1e-9 * strength**2)


def test_a_ratio_of_one_makes_all_blocks_equally_strong_and_a_smaller_one_turns_the_order():
    np.testing.assert_allclose(strengths(Chain(ratio=1, base=3)), 3)
    assert all(a < b for a, b in pairwise(np.asarray(strengths(Chain(ratio=0.5)))))


def test_a_ratio_given_at_run_time_acts_as_the_one_in_the_settings():
    settings, key = TINY["unequal, mean"], jax.random.key(4)
    traced = jax.jit(lambda ratio: markov_chain(settings, key, ratio))(2.5)
    wanted = markov_chain(replace(settings, ratio=2.5), key)
    np.testing.assert_allclose(traced.features, wanted.features, rtol=1e-12)


def test_weights_of_lags_read_like_the_blocks():
    weights = ((0.7, 0.2), (0.4, 0.6))
    settings = Chain(blocks=((3, 1), (2, 3)), weighting="given", weights=weights, order=4)
    np.testing.assert_array_equal(lag_weights(settings), [[0.2, 0, 0.7, 0], [0, 0.4, 0.6, 0]])
    mean = replace(settings, weighting="mean", weights=())
    np.testing.assert_array_equal(lag_weights(mean), [[0.5, 0, 0.5, 0], [0, 0.5, 0.5, 0]])
    np.testing.assert_array_equal(lag_weights(replace(mean, weighting="sum")), [[1, 0, 1, 0], [0, 1, 1, 0]])


@some.composite
def chains(draw: some.DrawFn) -> dict[str, Any]:
    """Any blocks of lags up to 4, with any weighting and strength that the settings allow."""
    block = some.lists(some.integers(1, 4), min_size=1, max_size=4, unique=True).map(tuple)
    blocks = tuple(draw(some.lists(block, min_size=1, max_size=3)))
    weighting = draw(some.sampled_from(["mean", "sum", "given"]))
    weight = some.floats(-3, 3)
    rows = tuple(tuple(draw(weight) for _ in block) for block in blocks) if weighting == "given" else ()
    return {
        "tokens": 5,
        "blocks": blocks,
        "weighting": weighting,
        "weights": rows,
        "ratio": draw(some.floats(0.2, 4)),
        "base": draw(some.floats(1e-3, 100)),
        "orthogonal": draw(some.booleans()),
    }


@hypothesis_settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(chains(), some.integers(0, 2**31 - 1))
def test_any_settings_give_a_chain_whose_every_rung_is_a_distribution(chosen, seed):
    settings = Chain(**chosen, horizon=2, order=4)
    chain = markov_chain(settings, jax.random.key(seed))
    sequence = tuple(np.random.default_rng(seed).integers(0, settings.tokens, 6).tolist())
    rungs = np.exp(chain.rungs(jnp.asarray(sequence)))
    np.testing.assert_allclose(rungs.sum(axis=-1), 1, rtol=1e-9)
    for known, found in enumerate(rungs[1]):
        np.testing.assert_allclose(found, rung(settings, chain, known, sequence[:-1]), rtol=1e-7, atol=1e-12)
    assert 0 <= float(chain.entropy(jnp.asarray(sequence))) <= np.log(settings.tokens) + 1e-9
    assert probability(settings, chain, sequence) <= settings.tokens**-4
