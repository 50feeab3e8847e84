"""Forecasts of linear attention's drops: nothing is fitted, and what was not trained is told."""

import numpy as np
import pytest

from headway.analysis.linear_attention import descend, levels, loss, spectrum
from headway.forecast.from_descent import from_descent
from headway.forecast.question import Question
from headway.settings import SettingsError


def question(**more):
    asked = {"spectrum": (4.0, 3.0, 2.0, 1.0), "pairs": 31, "heads": 5, "start": 0.01}
    return Question("linear-attention", **(asked | more))


def plainly(v, k, q, eigenvalues, pairs, rate, steps):
    """The same descent, head by head in loops; when half of each drop is done."""
    goals = levels(eigenvalues, pairs)
    halves, found = (goals[1:] + goals[:-1]) / 2, [np.nan] * (len(goals) - 1)
    own, second = np.diag(eigenvalues), np.diag(eigenvalues**2 + (eigenvalues + 1) * eigenvalues / pairs)
    for step in range(steps):
        M = sum(v[i] * np.outer(k[i], q[i]) for i in range(len(v)))
        now = loss(M, eigenvalues, pairs)
        found = [step if np.isnan(at) and now <= half else at for at, half in zip(found, halves, strict=True)]
        G = 2 * rate * (own @ own - second @ M @ own)
        v, k, q = (
            np.array([v[i] + k[i] @ G @ q[i] for i in range(len(v))]),
            np.array([k[i] + v[i] * G @ q[i] for i in range(len(v))]),
            np.array([q[i] + v[i] * G.T @ k[i] for i in range(len(v))]),
        )
    return found


def test_many_starts_descend_as_one_does():
    eigenvalues, random = spectrum((2.0, 1.0)), np.random.default_rng(0)
    v, k, q = (0.4 * random.normal(size=(3, 3, *more)) for more in ((), (2,), (2,)))
    together = descend((v, k, q), eigenvalues, 8, 0.1, 400)
    for start in range(3):
        np.testing.assert_array_equal(together[start], plainly(v[start], k[start], q[start], eigenvalues, 8, 0.1, 400))
    first = descend((v, k, q), eigenvalues, 8, 0.1, 400, drops=1)
    np.testing.assert_array_equal(first, together[:, :1])


def test_drops_come_in_order_later_from_smaller_starts_and_within_their_intervals():
    """Time is 1 / start for separate heads, and the logarithm of it for merged ones."""
    told = [from_descent(question(drop=drop)) for drop in (1, 2)]
    assert told[0].low < told[0].steps < told[0].high < told[1].high and told[0].steps < told[1].steps
    small = from_descent(question(start=0.001))
    assert small.steps == pytest.approx(10 * told[0].steps, rel=0.05)
    merged = [from_descent(question(keys="merged", heads=8, start=start)) for start in (1e-6, 1e-4)]
    assert merged[0].steps == pytest.approx(1028, rel=0.01), "the median of ten seeds"
    assert 1.3 < merged[0].steps / merged[1].steps < 1.8


@pytest.mark.parametrize(
    "more, words",
    [
        ({"spectrum": ()}, "Give their ratios"),
        ({"drop": 5}, "the loss has 4"),
        ({"keys": "merged", "drop": 2}, "the loss has 1"),
        ({"start": None}, "start was not given"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(more, words):
    with pytest.raises(SettingsError, match=words):
        question(**more)


def test_other_models_have_no_spectrum():
    with pytest.raises(SettingsError, match="are about linear-attention"):
        Question("toy", dimension=16, length=64, spectrum=(1.0,))
