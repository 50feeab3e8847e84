"""The chain's truth, rungs and entropy against the formula written out, sequence by sequence."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
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

from headway.kernels.windows import contexts_of
from headway.tasks.chain import Chain, Features
from headway.tasks.task import as_example, with_numbers

pytestmark = pytest.mark.usefixtures("double")


@cache
def compiled(task: Chain, name: str) -> Callable[[Features, Any], Any]:
    """A method of the chain for all sequences at once, in one program: each of its operations alone would be one."""
    return jax.jit(jax.vmap(getattr(task, name), in_axes=(None, 0)))


def ladders(task: Chain, world: Features, sequences: Any) -> np.ndarray:
    """Log-probabilities of the rungs: (sequence, rung, predicted, token)."""
    return np.asarray(compiled(task, "ladder")(world, np.asarray(sequences)))


def subsets(task: Chain, world: Features, sequences: Any) -> np.ndarray:
    """The same of every combination of blocks."""
    return np.asarray(compiled(task, "comparisons")(world, np.asarray(sequences))["subsets"])


def conditionals(task: Chain, world: Features, windows: Any) -> np.ndarray:
    """Probabilities of the token behind each window."""
    return np.asarray(compiled(task, "conditional")(world, np.asarray(windows)))


def entropies(task: Chain, world: Features, sequences: Any) -> np.ndarray:
    """Mean over the predicted positions of the last rung's entropy, of every sequence."""
    return mean_entropy(ladders(task, world, sequences)[:, -1])


def mean_entropy(truth: np.ndarray) -> np.ndarray:
    return -np.sum(np.exp(truth) * truth, axis=-1).mean(axis=-1)


@pytest.fixture(scope="module", params=TINY, ids=lambda name: name.replace(", ", "-"))
def tiny(request, double) -> tuple[Chain, Features]:
    """A chain of three tokens, small enough to list all its sequences."""
    task = TINY[request.param]
    return task, jax.jit(task.world)(jax.random.key(11))


def test_the_conditionals_multiply_to_a_distribution_over_whole_sequences(tiny):
    task, world = tiny
    sequences = np.array(all_sequences(task))
    product = np.full(len(sequences), task.vocab**-task.start)
    for time in range(task.start, sequences.shape[1]):
        next_token = conditionals(task, world, sequences[:, time - task.start : time])
        product *= next_token[np.arange(len(sequences)), sequences[:, time]]
    np.testing.assert_allclose(product, joint(task, world), rtol=1e-10)
    assert product.sum() == pytest.approx(1, abs=1e-12)


def test_every_rung_is_the_softmax_over_the_blocks_it_knows(tiny):
    task, world = tiny
    sequences = all_sequences(task)
    found = np.exp(ladders(task, world, sequences))
    assert found.shape == (len(sequences), len(task.blocks) + 1, task.horizon, task.vocab)
    for sequence, of_sequence in zip(sequences, found, strict=True):
        for step, of_step in enumerate(np.swapaxes(of_sequence, 0, 1)):
            past = sequence[: task.start + step]
            wanted = [rung(task, world, known, past) for known in range(len(task.blocks) + 1)]
            np.testing.assert_allclose(of_step, wanted, rtol=1e-10)


def test_every_combination_of_blocks_is_the_softmax_over_them(tiny):
    task, world = tiny
    sequences = all_sequences(task)[::7]
    found = np.exp(subsets(task, world, sequences))
    assert found.shape == (len(sequences), 2 ** len(task.blocks), task.horizon, task.vocab)
    for sequence, of_sequence in zip(sequences, found, strict=True):
        for step, of_step in enumerate(np.swapaxes(of_sequence, 0, 1)):
            past = sequence[: task.start + step]
            wanted = [partial(task, world, blocks, past) for blocks in combinations(task)]
            np.testing.assert_allclose(of_step, wanted, rtol=1e-10)


def test_the_first_i_blocks_are_combination_two_to_the_i_minus_one(tiny):
    """So the rungs are among the combinations: none is uniform, all are the truth."""
    task, world = tiny
    sequence = all_sequences(task)[47]
    numbers = [2**known - 1 for known in range(len(task.blocks) + 1)]
    for known, number in enumerate(numbers):
        assert combinations(task)[number] == tuple(range(known))
    [found], [rungs] = subsets(task, world, [sequence]), ladders(task, world, [sequence])
    np.testing.assert_allclose(found[numbers], rungs, rtol=1e-10, atol=1e-12)


def test_what_the_blocks_contribute_adds_up_to_the_truth(tiny):
    task, world = tiny
    sequence = all_sequences(task)[53]
    [blocks] = np.asarray(compiled(task, "contributions")(world, np.array([sequence])))
    assert blocks.shape == (task.horizon, len(task.blocks), task.vocab)
    for k in range(len(task.blocks)):
        alone = jax.nn.softmax(blocks[0, k])
        np.testing.assert_allclose(alone, partial(task, world, [k], sequence[: task.start]), rtol=1e-10)
    together = jax.nn.log_softmax(blocks.sum(axis=1))
    np.testing.assert_allclose(together, ladders(task, world, [sequence])[0, -1], rtol=1e-10, atol=1e-12)


def test_the_first_rung_is_uniform_and_the_last_is_the_truth(tiny):
    task, world = tiny
    sequence = all_sequences(task)[41]
    [rungs] = np.exp(ladders(task, world, [sequence]))
    np.testing.assert_allclose(rungs[0], 1 / task.vocab, rtol=1e-12)
    windows = [sequence[step : step + task.start] for step in range(task.horizon)]
    np.testing.assert_allclose(rungs[-1], conditionals(task, world, windows), rtol=1e-12)


def test_the_rungs_of_a_window_are_those_of_the_sequence_it_lies_in(tiny):
    task, world = tiny
    sequence = all_sequences(task)[53]
    windows = [sequence[step : step + task.start + 1] for step in range(task.horizon)]
    [whole] = ladders(task, world, [sequence])
    alone = ladders(replace(task, horizon=1), world, windows)
    np.testing.assert_allclose(np.moveaxis(alone[:, :, 0], 0, 1), whole, rtol=1e-10, atol=1e-12)


def test_the_entropy_of_a_sequence_is_that_of_its_conditionals(tiny):
    task, world = tiny
    sequences = all_sequences(task)[::17]
    for sequence, found in zip(sequences, entropies(task, world, sequences), strict=True):
        wanted = 0.0
        for step in range(task.horizon):
            conditional = truth(task, world, sequence[: task.start + step])
            wanted -= np.sum(conditional * np.log(conditional)) / task.horizon
        assert found == pytest.approx(wanted, rel=1e-10)


def test_the_mean_entropy_of_the_sequences_is_the_chain_s_own(tiny):
    """sum_x p(x) entropy(x) = E[-log p(x_t | past)], by the definition of the joint law."""
    task, world = tiny
    mean = np.sum(joint(task, world) * entropies(task, world, all_sequences(task)))
    assert mean == pytest.approx(exact_entropy(task, world), rel=1e-10)
    assert mean < np.log(task.vocab)


def test_windows_end_just_before_their_target():
    task = Chain(vocab=7, blocks=((1,), (3,)), horizon=4)
    sequence = jnp.asarray([4, 5, 6, 0, 1, 2, 3])
    np.testing.assert_array_equal(as_example(task, sequence).targets, [0, 1, 2, 3])
    for size, wanted in ((3, [[4, 5, 6], [5, 6, 0], [6, 0, 1], [0, 1, 2]]), (1, [[6], [0], [1], [2]])):
        windows, predicted = contexts_of(size, task, sequence[None])
        np.testing.assert_array_equal(windows[:, :-1], wanted)
        np.testing.assert_array_equal(windows[:, -1], [0, 1, 2, 3])
        assert predicted == 1


def test_the_lag_that_no_block_uses_changes_nothing():
    task = TINY["an unused lag"]
    world = task.world(jax.random.key(1))
    newest, oldest, used = (task.conditional(world, jnp.asarray(w)) for w in ((0, 1, 2), (2, 1, 0), (0, 2, 2)))
    np.testing.assert_array_equal(newest, oldest)
    assert np.abs(newest - used).max() > 0.01


@pytest.mark.parametrize("orthogonal", [False, True])
def test_block_k_has_the_strength_m_to_the_h_minus_k_times_b0(orthogonal):
    """A_k A_k^T = m_k^2 I, so a block's strength can be read from its matrix."""
    task = Chain(vocab=3, ratio=1.7, base=10.0, orthogonal=orthogonal)
    found = np.asarray(task.world(jax.random.key(2)).matrices)
    for matrix, strength in zip(found, (10 * 1.7**2, 10 * 1.7, 10), strict=True):
        np.testing.assert_allclose(matrix @ matrix.T, strength**2 * np.eye(3), atol=1e-9 * strength**2)


def test_a_ratio_of_one_makes_all_blocks_equally_strong_and_a_smaller_one_turns_the_order():
    np.testing.assert_allclose(Chain(ratio=1, base=3).strengths(), 3)
    assert all(a < b for a, b in pairwise(np.asarray(Chain(ratio=0.5).strengths())))


def test_a_ratio_given_at_run_time_acts_as_the_one_in_the_settings():
    task, key = TINY["unequal, mean"], jax.random.key(4)
    traced = jax.jit(lambda ratio: with_numbers(task, {"ratio": ratio}).world(key))(2.5)
    wanted = replace(task, ratio=2.5).world(key)
    np.testing.assert_allclose(traced.matrices, wanted.matrices, rtol=1e-12)


def test_weights_of_lags_read_like_the_blocks():
    weights = ((0.7, 0.2), (0.4, 0.6))
    task = Chain(blocks=((3, 1), (2, 3)), weighting="given", weights=weights, order=4)
    np.testing.assert_array_equal(task.lag_weights(), [[0.2, 0, 0.7, 0], [0, 0.4, 0.6, 0]])
    mean = replace(task, weighting="mean", weights=())
    np.testing.assert_array_equal(mean.lag_weights(), [[0.5, 0, 0.5, 0], [0, 0.5, 0.5, 0]])
    np.testing.assert_array_equal(replace(mean, weighting="sum").lag_weights(), [[1, 0, 1, 0], [0, 1, 1, 0]])


@some.composite
def chains(draw: some.DrawFn) -> dict[str, Any]:
    """Any blocks of lags up to 4, with any weighting and strength that the settings allow."""
    block = some.lists(some.integers(1, 4), min_size=1, max_size=4, unique=True).map(tuple)
    blocks = tuple(draw(some.lists(block, min_size=1, max_size=3)))
    weighting = draw(some.sampled_from(["mean", "sum", "given"]))
    weight = some.floats(-3, 3)
    rows = tuple(tuple(draw(weight) for _ in block) for block in blocks) if weighting == "given" else ()
    return {
        "vocab": 5,
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
    task = Chain(**chosen, horizon=2, order=4)
    world = jax.jit(task.world)(jax.random.key(seed))
    sequence = tuple(np.random.default_rng(seed).integers(0, task.vocab, 6).tolist())
    ladder = np.asarray(jax.jit(task.ladder)(world, np.asarray(sequence)))
    rungs = np.exp(ladder)
    np.testing.assert_allclose(rungs.sum(axis=-1), 1, rtol=1e-9)
    for known, found in enumerate(rungs[:, 1]):
        np.testing.assert_allclose(found, rung(task, world, known, sequence[:-1]), rtol=1e-7, atol=1e-12)
    assert 0 <= mean_entropy(ladder[-1]) <= np.log(task.vocab) + 1e-9
    assert probability(task, world, sequence) <= task.vocab**-4
