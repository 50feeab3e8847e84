"""The loss plateau with weakened attention: 1/c times as long, held-out c inside, and none for stronger attention."""

from pathlib import Path

import numpy as np
import pytest

from headway.forecast.answer import NotMeasured
from headway.forecast.ask import ask, runs_of
from headway.forecast.from_strength import Cells, Trained, from_strength, held_back, measured, splits, told
from headway.forecast.held_out import held_out
from headway.forecast.question import Question
from headway.settings import SettingsError
from headway.tasks.moving_window import MovingWindow

RESULTS = [Path(__file__).parents[2] / "results"]
USUAL = MovingWindow.usual()
TRAINED = Trained(USUAL.task, USUAL.model, 1e-4, 256, "float32")
FACTORS = np.array([0.2, 0.4, 0.7, 1.0])


def asked(strength: float, **more) -> Question:
    return Question("moving-window", strength=strength, **more)


def made(power=-1.0, seed=0, seeds=10, apart=0.2, noise=0.05, factors=FACTORS) -> Cells:
    """T = 200 c^power, seeds differ by `apart`, and each run by `noise`, in logarithms."""
    random = np.random.default_rng(seed)
    off = random.normal(0, apart, seeds) + random.normal(0, noise, (len(factors), seeds))
    return Cells(TRAINED, factors, 200 * factors[:, None] ** power * np.exp(off))


def test_without_noise_the_plateau_is_the_one_at_1_over_c():
    found = told(asked(0.3), made(apart=0, noise=0))
    assert found.steps == pytest.approx(200 / 0.3)
    assert found.low == pytest.approx(found.high)
    assert "200 / c (fitted: c^-1.00)" in found.basis and found.warnings == ()


def test_of_new_seeds_and_new_c_95_percent_fall_inside():
    inside = []
    for seed in range(300):
        found, truth = told(asked(0.3), made(seed=seed)), made(seed=10_000 + seed, factors=np.array([0.3]))
        inside += list((found.low <= truth.steps[0]) & (truth.steps[0] <= found.high))
    assert 0.92 < np.mean(inside) < 0.98


def test_where_the_law_does_not_hold_the_interval_is_wider():
    true, bent = (told(asked(0.3), made(power=power, apart=0.05, noise=0)) for power in (-1.0, -0.5))
    assert bent.high / bent.low > 1.5 * true.high / true.low
    assert "fitted: c^-0.5" in bent.basis


def test_each_c_is_held_back_once_and_all_below_1_together():
    folds = dict(splits(made()))
    assert [held.tolist() for held in folds["all c below 1"]] == [[True, True, True, False]]
    pairs = held_back(made(apart=0, noise=0), folds["each c alone"])
    assert [told.steps for told, _ in pairs] == pytest.approx([steps[0] for _, steps in pairs])
    assert list(splits(made(factors=np.array([1.0])))) == []


def test_a_plateau_that_never_ended_is_left_out_and_said():
    cells = made()
    cells.steps[0, 3] = np.inf
    found = told(asked(0.1), cells)
    assert found.seeds == 9
    assert [words.split()[0] for words in found.warnings] == ["c", "1"]


def test_another_rate_is_an_assumption():
    slow, usual = told(asked(0.5, learning_rate=5e-5), made()), told(asked(0.5), made())
    assert slow.steps == pytest.approx(2 * usual.steps)
    assert "an assumption" in slow.warnings[0]


def test_stored_runs_predict_each_other_and_only_whole_trainings_of_sums_count():
    runs = runs_of("moving-window", RESULTS)
    cells = measured(runs)
    assert [group.factors.tolist() for group in cells] == [[0.2, 0.5, 1.0]], "no stronger, frozen, softmax or repeat"
    rows = held_out("moving-window", runs)
    assert [(row.inside, row.of) for row in rows] == [(30, 30), (20, 20)]
    assert ask(asked(0.5), RESULTS).steps == pytest.approx(np.median(cells[0].steps[1]), rel=0.1)


def test_what_cannot_be_answered_is_refused_in_words():
    for wrong, words in (
        ({"strength": 3.0}, "at most 1"),
        ({}, "strength was not given"),
        ({"strength": -1.0}, "above"),
    ):
        with pytest.raises(SettingsError, match=words):
            Question("moving-window", **wrong)
    with pytest.raises(SettingsError, match="about paper B"):
        asked(0.5, copies=2.0)
    with pytest.raises(SettingsError, match=r"strength is 0\.5, but toy has"):
        Question("toy", dimension=16, length=64, strength=0.5)
    with pytest.raises(NotMeasured, match="headway run loss-plateau"):
        from_strength(asked(0.5), [])
