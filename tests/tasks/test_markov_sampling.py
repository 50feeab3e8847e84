"""What is drawn from the chain follows its law."""

import jax
import numpy as np
import pytest
from scipy import stats
from tests.tasks.enumeration import TINY, exact_entropy, joint

from headway.settings import TaskSettings
from headway.tasks.markov import MarkovChain, markov_chain

SAMPLES = 20_000


@pytest.fixture(scope="module", params=["unequal, mean", "overlapping, sum"], ids=["unequal", "overlapping"])
def drawn(request) -> tuple[TaskSettings, MarkovChain, np.ndarray]:
    """Settings, a tiny chain and many sequences of it."""
    settings = TINY[request.param]
    chain = markov_chain(settings, jax.random.key(11))
    return settings, chain, np.asarray(jax.jit(lambda k: chain.sample_set(k, SAMPLES))(jax.random.key(12)))


def within_its_error(values: np.ndarray, wanted: float) -> bool:
    """Whether a mean is at most four of its standard errors away."""
    return abs(values.mean() - wanted) < 4 * values.std() / np.sqrt(len(values))


def surprise_and_entropy(chain: MarkovChain, sequences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean over the horizon of -log p(x_t | past) and of the conditional entropy, of every sequence."""

    @jax.jit
    @jax.vmap
    def both(sequence):
        surprise = -chain.rungs(sequence)[np.arange(chain.horizon), -1, chain.targets(sequence)]
        return surprise.mean(), chain.entropy(sequence)

    surprise, entropy = both(sequences)
    return np.asarray(surprise, np.float64), np.asarray(entropy, np.float64)


def test_whole_sequences_come_as_often_as_their_probability_says(drawn):
    """Chi-square over every possible sequence; the rare ones count together."""
    settings, chain, sequences = drawn
    number = sequences @ settings.tokens ** np.arange(sequences.shape[1])[::-1]
    wanted = SAMPLES * joint(settings, chain)
    counts = np.bincount(number, minlength=len(wanted))
    rare = wanted < 5
    counts = np.append(counts[~rare], counts[rare].sum())
    wanted = np.append(wanted[~rare], wanted[rare].sum())
    if wanted[-1] < 5:
        counts, wanted = (np.append(each[:-2], each[-2:].sum()) for each in (counts, wanted))
    assert len(wanted) > 60
    assert stats.chisquare(counts, wanted * counts.sum() / wanted.sum()).pvalue > 0.01


def test_the_entropy_of_a_long_sample_is_the_exact_one(drawn):
    settings, chain, sequences = drawn
    _, entropy = surprise_and_entropy(chain, sequences)
    assert within_its_error(entropy, exact_entropy(settings, chain))


def test_the_cross_entropy_of_the_truth_is_the_exact_entropy(drawn):
    settings, chain, sequences = drawn
    surprise, _ = surprise_and_entropy(chain, sequences)
    assert within_its_error(surprise, exact_entropy(settings, chain))


@pytest.mark.parametrize("weighting", ["mean", "sum"])
def test_at_paper_scale_too_the_cross_entropy_of_the_truth_is_the_entropy(weighting):
    """50 tokens, blocks of two, 20 predictions: one standard error of the difference is about 0.004 nats."""
    chain = markov_chain(TaskSettings(weighting=weighting), jax.random.key(0))
    sequences = np.asarray(jax.jit(lambda k: chain.sample_set(k, 1500))(jax.random.key(1)))
    surprise, entropy = surprise_and_entropy(chain, sequences)
    assert within_its_error(surprise - entropy, 0)
    assert (surprise - entropy).std() / np.sqrt(len(surprise)) < 0.01


def test_what_the_truth_thinks_impossible_is_never_drawn():
    """Strong features leave most tokens below one in a million; none of 6000 draws is such a token."""
    chain = markov_chain(TaskSettings(tokens=10, blocks=((1,), (2,)), base=60, horizon=3), jax.random.key(5))
    sequences = jax.jit(lambda k: chain.sample_set(k, 2000))(jax.random.key(6))
    truth = np.asarray(jax.jit(jax.vmap(chain.rungs))(sequences))[:, :, -1]
    assert (truth < np.log(1e-6)).mean() > 0.5
    drawn = np.take_along_axis(truth, np.asarray(sequences)[:, chain.start :, None], axis=2)
    assert drawn.min() > np.log(1e-6)


def test_a_smaller_set_is_the_beginning_of_a_larger_one():
    chain = markov_chain(TINY["singletons"], jax.random.key(0))
    large, small = (np.asarray(chain.sample_set(jax.random.key(1), count)) for count in (20, 7))
    np.testing.assert_array_equal(small, large[:7])


def test_sets_of_different_keys_and_sequences_of_a_set_are_different():
    """With 50 tokens and 26 times, no two of a few hundred sequences agree by chance."""
    chain = markov_chain(TaskSettings(), jax.random.key(0))
    draw = jax.jit(lambda key: chain.sample_set(key, 100))
    sequences = np.concatenate([draw(jax.random.fold_in(jax.random.key(1), step)) for step in range(3)])
    assert len(np.unique(sequences, axis=0)) == 300
    np.testing.assert_array_equal(draw(jax.random.fold_in(jax.random.key(1), 2)), sequences[200:])
