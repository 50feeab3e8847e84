"""In-context Markov chains: what is drawn follows its law, and the rungs are as far from the truth as they must be."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate

from headway.models.initialisation import transformer
from headway.settings import SettingsError
from headway.tasks.in_context_chain import InContextChain
from headway.tasks.walks import contexts_of, dirichlet, doubly_stochastic, followers, matches, stationary, walk

MANY = 8000
walked = jax.jit(walk, static_argnums=3)


def drawn_by(sample, key: int, count: int = 4000):
    """In one program: step by step, each operation would be one."""
    return jax.jit(jax.vmap(sample))(jax.random.split(jax.random.key(key), count))


def means(task: InContextChain, of, count: int = MANY) -> tuple[np.ndarray, np.ndarray]:
    """Mean over tested sequences and its standard error."""
    own = replace(task, tested=1.0)
    keys = jax.random.split(jax.random.key(1), count)
    values = np.asarray(
        jax.jit(lambda keys: jax.lax.map(lambda key: of(own, own.sample(key)), keys, batch_size=500))(keys)
    )
    return values.mean(axis=0), values.std(axis=0) / np.sqrt(count)


def distances(task: InContextChain, example) -> jax.Array:
    """KL(truth || rung) behind the last token."""
    return jnp.stack([task.loss(rung, example) for rung in task.ladder(example)])


@pytest.mark.parametrize(
    ("states", "length", "wanted"),
    [
        (2, 100, (0.2123, 0.0877, 0.0093)),
        (3, 100, (0.280, 0.170, 0.0264)),
        (4, 100, (0.312, 0.226, 0.0486)),
        (8, 200, (0.363, 0.324, 0.098)),
    ],
)
def test_the_rungs_are_as_far_from_the_truth_as_was_computed_before(states, length, wanted):
    """To 0.0005, and what sampling adds."""
    found, error = means(InContextChain(states=states, length=length), distances)
    np.testing.assert_array_less(np.abs(found - wanted), 0.0005 + 3 * error)


def test_for_two_states_knowing_nothing_and_all_frequencies_are_known_exactly():
    """ln 2 - 2 int h(a) (1 - a ln(1 + 1/a)) da = 0.21226 from uniform; 0.08294 from pi itself, the unigram's limit.

    Behind a state a with P(leave) = a the truth is (1 - a, a), and pi_a = b / (a + b) with b ~ U(0, 1).
    """
    binary = lambda a: -a * np.log(a) - (1 - a) * np.log1p(-a) if 0 < a < 1 else 0.0  # noqa: E731
    uniform = np.log(2) - 2 * integrate.quad(lambda a: binary(a) * (1 - a * np.log1p(1 / a)), 0, 1)[0]
    assert uniform == pytest.approx(0.21226, abs=1e-5)

    def from_frequencies(b: float, a: float) -> float:
        """2 pi_a KL((1 - a, a) || (pi_a, 1 - pi_a)): both states alike."""
        share = b / (a + b)
        return 2 * share * (-binary(a) - (1 - a) * np.log(share) - a * np.log1p(-share))

    unigram = integrate.dblquad(from_frequencies, 0, 1, 0, 1, epsabs=1e-5, epsrel=1e-5)[0]
    assert unigram == pytest.approx(0.08294, abs=1e-5)
    (near, limit, _), error = means(InContextChain(length=400), distances, 500)
    assert abs(near - uniform) < 4 * error[0] and abs(limit - unigram) < 4 * error[1] + 0.002


def test_a_walk_takes_the_steps_of_its_rows():
    """Every context is followed by its row; the first tokens are those given."""
    rows = jnp.asarray(np.random.default_rng(0).dirichlet(np.ones(3), 9), jnp.float32)
    tokens = np.asarray(walked(jax.random.key(0), rows, jnp.array([2, 1]), 60_001))
    assert tuple(tokens[:2]) == (2, 1)
    context = 3 * tokens[:-2] + tokens[1:-1]
    for own in range(9):
        after = tokens[2:][context == own]
        share = np.bincount(after, minlength=3) / len(after)
        assert np.abs(share - rows[own]).max() < 4 / np.sqrt(len(after))


def test_a_walk_is_what_one_step_after_the_other_makes_of_the_same_numbers():
    rows = np.asarray(dirichlet(jax.random.key(3), 0.5, 8, 2))
    drawn = np.asarray(jax.random.uniform(jax.random.key(4), (40, 1, 1)))[:, 0, 0]
    tokens = [1, 0, 1]
    for number in drawn:
        context = 4 * tokens[-3] + 2 * tokens[-2] + tokens[-1]
        tokens.append(int(number >= rows[context, 0]))
    assert np.asarray(walked(jax.random.key(4), rows, jnp.array([1, 0, 1]), 43)).tolist() == tokens


@pytest.mark.parametrize("alpha", [0.5, 1.0, 0.7])
def test_rows_have_the_moments_of_a_dirichlet_distribution(alpha):
    """E p = 1/k, var p = (k - 1) / (k^2 (k alpha + 1))."""
    rows = np.asarray(dirichlet(jax.random.key(0), alpha, 40_000, 4))
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(rows.mean(axis=0), 0.25, atol=0.006)
    np.testing.assert_allclose(rows.var(axis=0), 3 / (16 * (4 * alpha + 1)), rtol=0.03)


@pytest.mark.parametrize(("states", "one_in"), [(3, 8), (4, 1031)])
def test_doubly_stochastic_matrices_have_the_law_of_a_completed_block(states, one_in):
    """As rare among blocks of U(0, 1) as was counted before, and with the same second moments."""
    found = np.asarray(drawn_by(lambda key: doubly_stochastic(key, states), 0))
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(found.sum(axis=2), 1, rtol=1e-5)
    assert found.min() >= 0
    blocks = np.random.default_rng(0).random((1_500_000, states - 1, states - 1))
    fit = (blocks.sum(axis=1) <= 1).all(axis=1) & (blocks.sum(axis=2) <= 1).all(axis=1)
    fit &= blocks.sum(axis=(1, 2)) >= states - 2
    assert fit.mean() * one_in == pytest.approx(1, rel=0.1)
    np.testing.assert_allclose(found[:, :-1, :-1].mean(axis=0), blocks[fit].mean(axis=0), atol=0.02)
    np.testing.assert_allclose(found[:, :-1, :-1].var(axis=0), blocks[fit].var(axis=0), rtol=0.15)


def test_a_stationary_start_keeps_its_frequencies():
    matrix = dirichlet(jax.random.key(5), 1.0, 4, 4)
    pi = stationary(matrix)
    np.testing.assert_allclose(pi @ matrix, pi, atol=1e-6)
    task = InContextChain(states=3, first="stationary")
    drawn = drawn_by(task.sample, 6)
    each = np.asarray(jax.jit(jax.vmap(stationary))(drawn.extra.rows))
    # At the first position as at the last: no drift of the frequencies, sequence by sequence.
    first, last = (each[np.arange(4000), np.asarray(drawn.inputs)[:, at]] for at in (0, -1))
    assert abs(first.mean() - last.mean()) < 5 * np.hypot(first.std(), last.std()) / np.sqrt(4000)


def test_followers_are_counted_by_hand():
    tokens = jnp.array([0, 1, 1, 0, 1])
    np.testing.assert_array_equal(followers(tokens, 2, 0)[-1], [2, 3])
    np.testing.assert_array_equal(followers(tokens, 2, 1), [[0, 0], [0, 0], [0, 1], [0, 1], [1, 1]])
    np.testing.assert_array_equal(followers(tokens, 2, 2)[-1], [0, 1], "1 1 came, behind 0 1, once: then a 1")
    np.testing.assert_array_equal(matches(tokens, 2, 1)[-1], [False, False, True, True, False])
    np.testing.assert_array_equal(contexts_of(tokens, 2, 2)[1:], [1, 3, 2, 1])


def test_unigrams_have_equal_rows_and_come_as_often_as_they_should():
    task = InContextChain(states=4, law="doubly-stochastic", unigrams=0.25)
    rows = np.asarray(drawn_by(task.sample, 0).extra.rows)
    equal = np.ptp(rows, axis=1).max(axis=1) < 1e-6
    assert equal.mean() == pytest.approx(0.25, abs=0.03)
    np.testing.assert_allclose(rows[~equal].sum(axis=1), 1, rtol=1e-5)


def test_it_is_trained_everywhere_and_tested_at_the_end_on_rows_at_random():
    task = InContextChain(states=3, law="doubly-stochastic", unigrams=0.5)
    tested = task.tests()[""]
    training, test = (jax.jit(each.sample)(jax.random.key(2)) for each in (task, tested))
    assert np.asarray(training.weights).tolist() == [1.0] * 100
    assert np.asarray(test.weights).tolist() == [0.0] * 99 + [1.0]
    np.testing.assert_array_equal(training.extra.wanted, np.eye(3)[training.targets])
    np.testing.assert_allclose(test.extra.wanted[-1], test.extra.rows[test.inputs[-1]])
    assert np.abs(test.extra.rows.sum(axis=0) - 1).max() > 0.05


def test_the_model_has_as_many_weights_as_published():
    """5,440, of which 32 are of a distance that never comes."""
    usual = InContextChain.usual()
    model = transformer(usual.model, 2, usual.task.reads, jax.random.key(0))
    assert sum(leaf.size for leaf in jax.tree.leaves(model)) == 5440 - 32


def test_higher_orders_have_neither_doubly_stochastic_matrices_nor_stationary_starts():
    with pytest.raises(SettingsError, match="order"):
        InContextChain(order=2, first="stationary")
    assert InContextChain(order=2).rungs == ("uniform", "unigram", "bigram", "trigram")
