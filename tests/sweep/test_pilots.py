"""A learning rate that is chosen: by runs on seeds of their own, by which learns first, and the record says so."""

import numpy as np
import pytest

from headway.records import PILOT_SEEDS, Cell
from headway.settings.checks import SettingsError
from headway.store import Store
from headway.sweep.bundle import waves
from headway.sweep.here import run_cells
from headway.sweep.pilots import best_rate
from headway.tasks.toy import Toy, toy_settings

PLAIN = toy_settings(Toy(dimension=4, length=8), seen=False)
CHOSEN = PLAIN.changed(training={"rates": (0.25, 1.0, 0.5)})


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Store:
    found = Store(tmp_path_factory.mktemp("pilots"))
    run_cells([Cell(CHOSEN, (0, 1)), Cell(PLAIN, (0, 1))], found)
    return found


def test_the_rate_that_learns_first_is_taken_and_the_record_says_which_were_tried(store):
    """Descent of the toy is faster in proportion to its rate."""
    record, plain = (store.load(Cell(settings, (0, 1))) for settings in (CHOSEN, PLAIN))
    facts = record.trajectory.facts
    np.testing.assert_array_equal(facts["chosen_rate"], [1.0, 1.0])
    np.testing.assert_array_equal(facts["tried_rates"][0], CHOSEN.training.rates)
    assert facts["tried_plateaus"].shape == (2, 3, len(PILOT_SEEDS))
    np.testing.assert_array_equal(facts["plateau"], plain.trajectory.facts["plateau"])
    assert record.cell.settings.training.rates == CHOSEN.training.rates
    slow, fast, between = facts["tried_plateaus"][0, :, 0]
    assert slow > between > fast


def test_the_runs_that_choose_lie_beside_with_seeds_that_nobody_reports_and_end_with_their_plateau(store):
    for pilot, rate in zip(Cell(CHOSEN, (0, 1)).pilots(), CHOSEN.training.rates, strict=True):
        record = store.load(pilot)
        assert record.cell.seeds == PILOT_SEEDS and not set(PILOT_SEEDS) & {0, 1}
        training = record.cell.settings.training
        assert (training.learning_rate, training.rates, training.tail) == (rate, (), 0.0)


def test_what_chooses_is_computed_before_what_it_chooses_for():
    cell = Cell(CHOSEN, (0,))
    first, then = waves([cell])
    assert {each for bundle in first for each in bundle.cells} == set(cell.pilots())
    assert [bundle.cells for bundle in then] == [(cell,)]


@pytest.mark.parametrize(
    ("plateaus", "wanted"),
    [
        ([[100, 100], [50, 60]], 3e-4),
        ([[100, 100], [20, np.nan]], 1e-4),  # more of its seeds learn
        ([[100, 100], [100, 100]], 1e-4),  # of equal ones the smaller
        ([[np.nan, np.nan], [np.nan, np.nan]], 1e-4),
        ([[1000, 10], [200, 200]], 1e-4),  # by the mean of logarithms, 100 and 200
    ],
)
def test_more_seeds_that_learn_come_first_then_shorter_plateaus_then_smaller_rates(plateaus, wanted):
    assert best_rate((1e-4, 3e-4), np.array(plateaus, float)) == wanted


@pytest.mark.parametrize(
    ("training", "words"),
    [
        ({"rates": (0.1,)}, "two or more"),
        ({"rates": (0.1, 0.1)}, "different rates"),
        ({"rates": (0.1, 0.0)}, "above 0"),
        ({"rates": (0.1, 0.2), "threshold": None}, "training.threshold"),
        ({"rates": (0.1, 0.2), "optimiser": "lion"}, "adamw and sgd"),
    ],
)
def test_rates_that_cannot_be_chosen_from_are_refused(training, words):
    with pytest.raises(SettingsError, match=words):
        PLAIN.changed(training=training)
