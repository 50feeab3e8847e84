"""Early stopping on made curves: stages, overfitting within a stage, and what a rule may not look at."""

import numpy as np
import pytest

from headway.analysis import Stopped, stop_by_patience, stop_by_stages

TIMES = np.unique(np.round(np.geomspace(1, 2000, 120))).astype(float)


def steps_down(*drops: float, level: float = 3.0, width: float = 0.1) -> np.ndarray:
    """A loss that falls by 1 at each of these steps."""
    return level - sum(1 / (1 + (drop / TIMES) ** (1 / width)) for drop in drops)


def test_a_stage_that_comes_later_than_patience_allows_is_waited_for():
    """Stages at 50 and 300, a rise of 5 % in between: the next one begins before time has grown threefold."""
    loss = steps_down(50.0, 300.0) + 0.05 * (TIMES > 110)
    assert stop_by_stages(TIMES, loss).best > 400
    assert stop_by_patience(TIMES, loss, 60).best < 120


def test_a_loss_that_rises_by_a_tenth_of_its_fall_is_overfitted():
    loss = steps_down(40.0) + 0.01 * np.maximum(TIMES - 80, 0)
    found = stop_by_stages(TIMES, loss)
    assert found.why == "rise"
    assert 90 < found.time < 110
    assert found.best == TIMES[np.argmin(loss)]


def test_heads_that_have_specialised_shorten_the_wait():
    loss = steps_down(4.0, 10.0, 25.0, 50.0, 100.0) + 1e-5 * TIMES
    best = TIMES[np.argmin(loss)]
    alike, specialised = np.full(len(TIMES), 0.3), np.where(TIMES > 120, 0.1, 0.3)
    assert stop_by_stages(TIMES, loss, alike) == stop_by_stages(TIMES, loss)
    found = stop_by_stages(TIMES, loss, specialised)
    assert found.why == "specialised"
    assert 1.25 * best < found.time < 1.4 * best
    slow = stop_by_stages(TIMES, loss)
    assert slow.why == "patience" and slow.time > 3 * best


def test_a_plateau_at_the_start_has_to_be_bridged_by_hand():
    """A factor of a time near 0 is no patience: what waits at its first loss is given up, unless it may not be yet."""
    loss = steps_down(100.0) + 1e-5 * TIMES
    assert stop_by_stages(TIMES, loss).time < 20
    assert stop_by_stages(TIMES, loss, least_evaluations=70).best > 150


def test_a_loss_that_keeps_falling_is_never_stopped():
    loss = 1 / (1 + TIMES)
    assert stop_by_stages(TIMES, loss, np.linspace(1, 0, len(TIMES))) == Stopped(2000.0, 2000.0, "end")
    assert stop_by_patience(TIMES, loss, 10).why == "end"


@pytest.mark.parametrize("seed", range(5))
def test_no_rule_looks_ahead(seed):
    """What comes after the stop does not change it, and a rule that has not stopped yet says so."""
    rng = np.random.default_rng(seed)
    loss = steps_down(30.0, 300.0) + 0.05 * rng.normal(size=len(TIMES))
    overlap = rng.uniform(size=len(TIMES))
    for rule in (
        lambda n: stop_by_stages(TIMES[:n], loss[:n], overlap[:n]),
        lambda n: stop_by_patience(TIMES[:n], loss[:n], 40),
    ):
        found = rule(len(TIMES))
        at = int(np.flatnonzero(found.time == TIMES)[0])
        assert rule(at + 1) == found
        if found.why != "end":
            assert rule(at).why == "end"


def test_the_unit_of_the_loss_and_a_constant_do_not_matter():
    """So entropy need not be known."""
    loss = steps_down(40.0) + 0.01 * np.maximum(TIMES - 80, 0)
    assert stop_by_stages(TIMES, 7 * loss + 5) == stop_by_stages(TIMES, loss)


def test_missing_values_are_left_out_and_wrong_shapes_refused():
    loss = steps_down(40.0) + 0.01 * np.maximum(TIMES - 80, 0)
    holes = np.where(np.arange(len(TIMES)) % 7 == 3, np.nan, loss)
    assert stop_by_stages(TIMES, holes, np.ones(len(TIMES))).why == "rise"
    with pytest.raises(ValueError, match="wanted"):
        stop_by_stages(TIMES, np.full(len(TIMES), np.nan))
    with pytest.raises(ValueError, match="at the same times"):
        stop_by_stages(TIMES, loss, np.ones(3))
