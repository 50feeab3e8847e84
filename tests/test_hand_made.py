"""The hand-made solution on test sequences, against attention written out in NumPy."""

import jax
import numpy as np
import pytest

from headway.laboratory.hand_made import hand_made
from headway.records import Cell, Trajectory
from headway.tasks.chain import Chain, Features
from headway.tasks.construction import ConstructionSettings
from headway.training.randomness import FEATURES, TEST_SET, key_of

TASK = Chain(vocab=4, blocks=((2, 3), (1,)), weighting="sum", horizon=3, base=4.0)
SHARPNESS = (0.0, 1.0, 2.0, 20.0)
COUNT = 150
"""More than are measured at a time."""
SETTINGS = ConstructionSettings(TASK, SHARPNESS, test_samples=COUNT)
SEEDS = (4, 1)


@pytest.fixture(scope="module")
def found() -> Trajectory:
    return hand_made(Cell(SETTINGS, SEEDS))


def softmax(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores - scores.max())
    return raised / raised.sum()


def excess(world: Features, sequence: np.ndarray, sharpness: float) -> float:
    """Mean over the predicted tokens of log p(truth) - log p(heads that look at their block, but not only there)."""
    features, weights = np.asarray(world.matrices, np.float64), TASK.lag_weights()
    total = 0.0
    for time in range(TASK.start, len(sequence)):
        truth, guess = np.zeros(TASK.vocab), np.zeros(TASK.vocab)
        seen = np.arange(1, time + 1)  # lags
        for matrix, row in zip(features, weights, strict=True):
            looks = softmax(np.array([sharpness if lag <= len(row) and row[lag - 1] else 0.0 for lag in seen]))
            for lag, share in zip(seen, looks, strict=True):
                guess += row.sum() * share * matrix[:, sequence[time - lag]]
                truth += (row[lag - 1] if lag <= len(row) else 0.0) * matrix[:, sequence[time - lag]]
        total += np.log(softmax(truth)[sequence[time]] / softmax(guess)[sequence[time]])
    return total / TASK.horizon


def test_the_excess_loss_is_what_attention_written_out_gives(found):
    for row, seed in enumerate(SEEDS):
        world = TASK.world(key_of(seed, FEATURES))
        keys = jax.vmap(lambda i, seed=seed: jax.random.fold_in(key_of(seed, TEST_SET), i))(np.arange(COUNT))
        sequences = np.asarray(jax.vmap(lambda key, world=world: TASK.sample(world, key))(keys))
        wanted = [np.mean([excess(world, sequence, sharpness) for sequence in sequences]) for sharpness in SHARPNESS]
        np.testing.assert_allclose(found["excess_loss"][row], wanted, rtol=1e-4, atol=1e-5)


def test_the_sharper_the_scores_the_smaller_the_loss_until_nothing_is_left(found):
    assert (np.diff(found["excess_loss"], axis=1) < 0).all()
    np.testing.assert_allclose(found["excess_loss"][:, -1], 0, atol=1e-5)
    assert (found["excess_loss"][:, 0] > 0.2).all()


def test_the_clock_is_the_sharpness(found):
    assert found.seeds == SEEDS
    np.testing.assert_array_equal(found.times("excess_loss"), SHARPNESS)


def test_a_seed_does_not_depend_on_its_neighbours(found):
    alone = hand_made(Cell(SETTINGS, (1,)))
    np.testing.assert_array_equal(alone["excess_loss"][0], found["excess_loss"][1])
    assert (found["excess_loss"][0, :-1] != found["excess_loss"][1, :-1]).all()
