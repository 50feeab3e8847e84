"""A learning rate that is chosen: by runs on seeds of their own, by which learns first, and the record says so."""

import numpy as np
import pytest

from headway.cli import main
from headway.cli.copies import bring_pilots
from headway.records import PILOT_SEEDS, Cell
from headway.settings.checks import SettingsError
from headway.store import Store
from headway.sweep.bundle import Bundle, cut, for_workers, waves
from headway.sweep.here import run_cells
from headway.sweep.schedule import left_of
from headway.tasks.toy import Toy, toy_settings
from headway.training.group import Group
from headway.training.pilots import best_rate

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
    np.testing.assert_array_equal(np.isfinite(facts["tried_plateaus"][0]), [[False] * 2, [True] * 2, [False] * 2])


def test_pilots_of_a_rate_that_cannot_win_any_more_are_given_up_and_the_choice_is_the_same(store, tmp_path):
    """Each rate in a program of its own runs to the end of its plateau."""
    pilots, apart = Cell(CHOSEN, (0, 1)).pilots(), Store(tmp_path)
    for pilot in pilots:
        run_cells([pilot], apart)
    whole, cut_short = ([each.load(pilot).trajectory.facts for pilot in pilots] for each in (apart, store))
    plateaus = np.stack([facts["plateau"] for facts in whole])
    assert np.isfinite(plateaus).all() and best_rate(CHOSEN.training.rates, plateaus) == 1.0
    np.testing.assert_array_equal(cut_short[1]["plateau"], whole[1]["plateau"])
    for slow in (0, 2):
        assert (cut_short[slow]["stopped_at"] < whole[slow]["plateau"]).all()
        assert (cut_short[slow]["stopped_at"] >= whole[1]["plateau"].max()).all()


def test_pilots_of_one_run_stay_in_one_program_as_long_as_they_fit():
    runs = [Cell(CHOSEN.changed(task={"dimension": d}), (0,)) for d in (4, 5, 6)]
    pilots = [pilot for rates in zip(*(run.pilots() for run in runs), strict=True) for pilot in rates]
    bundle = Bundle(tuple(pilots))
    pieces = cut(bundle, 2)
    assert [{cell.settings.task.dimension for cell in piece.cells} for piece in pieces] == [{4, 5}, {6}]
    assert for_workers(bundle, 9) == 3, "more workers would not know who has lost"
    assert sorted(len(piece.cells) for piece in cut(bundle, 9)) == [1] * 9, "memory may ask for it"


def test_the_runs_that_choose_lie_beside_with_seeds_that_nobody_reports_and_end_with_their_plateau(store):
    for pilot, rate in zip(Cell(CHOSEN, (0, 1)).pilots(), CHOSEN.training.rates, strict=True):
        record = store.load(pilot)
        assert record.cell.seeds == PILOT_SEEDS and not set(PILOT_SEEDS) & {0, 1}
        training = record.cell.settings.training
        assert (training.learning_rate, training.rates, training.tail) == (rate, (), 0.0)


def test_pilots_that_another_store_has_are_not_trained_again(store, tmp_path, monkeypatch):
    run, own, kept = Cell(CHOSEN, (0, 1)), Store(tmp_path / "own"), Store(tmp_path / "kept")
    for pilot in run.pilots():
        store.copy_small(pilot, kept)
    assert {each for bundle in left_of([run], own, [kept]) for each in bundle.cells} == {run}
    assert {each for bundle in left_of([run], own) for each in bundle.cells} == {run, *run.pilots()}
    bring_pilots([run], [own, kept])
    trained: list[Cell] = []
    monkeypatch.setattr("headway.sweep.here.Group", watched(trained))
    run_cells([run], own)
    assert [each.seeds for each in trained] == [(0, 1)]
    np.testing.assert_array_equal(own.load(run).trajectory.facts["chosen_rate"], [1.0, 1.0])


def watched(trained: list[Cell]):
    """A group of cells that says what it trains."""

    def group(cells, *more):
        trained.extend(cells)
        return Group(cells, *more)

    return group


def test_pilots_are_no_runs_of_their_own_among_the_ladders(store, capsys):
    main(["ladders", "--from", str(store.root)])
    [line] = [each for each in capsys.readouterr().out.splitlines() if each.startswith("toy")]
    assert line.split()[1:3] == ["2", "4"], "runs and seeds"


def test_what_chooses_is_computed_before_what_it_chooses_for():
    cell = Cell(CHOSEN, (0,))
    first, then = waves([cell])
    assert {each for bundle in first for each in bundle.cells} == set(cell.pilots())
    assert [bundle.cells for bundle in then] == [(cell,)]


@pytest.mark.parametrize(
    ("training", "words"),
    [
        ({"rates": (0.1,)}, "two or more"),
        ({"rates": (0.1, 0.1)}, "different rates"),
        ({"rates": (0.1, 0.0)}, "above 0"),
        ({"rates": (0.1, 0.2), "threshold": None}, "training.rates needs training.threshold"),
        ({"rates": (0.1, 0.2), "optimiser": "lion"}, "adamw and sgd"),
    ],
)
def test_rates_that_cannot_be_chosen_from_are_refused(training, words):
    with pytest.raises(SettingsError, match=words):
        PLAIN.changed(training=training)
