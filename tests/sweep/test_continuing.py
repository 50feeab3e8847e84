"""More steps go on where a shorter run ended, with the bits of a run that was never shorter."""

import numpy as np
import pytest
from tests.training.tiny import TINY, changed

from headway.records import Cell
from headway.settings.keeping import Keep
from headway.store import Store
from headway.sweep.here import run_cells
from headway.sweep.watch import Silence
from headway.tasks.single_location import SingleLocation

# The same runs are made with every shape and type checked in `test_here.py`.
pytestmark = pytest.mark.usefixtures("unchecked")

SEEDS = (0, 1, 2)
EVERY = changed(TINY, evaluation={"every": 3, "snapshots": 99})


class Heard(Silence):
    def __init__(self):
        self.notes, self.from_step = [], []

    def note(self, text):
        self.notes.append(text)

    def begin(self, cells, position, steps):
        self.from_step.append(position)


def steps(settings, count):
    return Cell(changed(settings, training={"steps": count}), SEEDS)


def shared(longer, fresh):
    """Every array at the times that both have; every fact; every weight."""
    for name in fresh.trajectory:
        times, own = fresh.trajectory.times(name), longer.trajectory.times(name)
        both = np.intersect1d(times, own)
        assert len(both) and (name != "train_loss" or len(both) == len(times))
        a, b = longer.trajectory[name][:, np.isin(own, both)], fresh.trajectory[name][:, np.isin(times, both)]
        assert a.tobytes() == b.tobytes(), name
    for a, b in ((longer.trajectory.facts, fresh.trajectory.facts), (longer.weights(), fresh.weights())):
        assert {name: values.tobytes() for name, values in a.items()} == {
            name: values.tobytes() for name, values in b.items()
        }


@pytest.mark.parametrize("settings", [TINY, EVERY], ids=["log-spaced", "every"])
def test_more_steps_go_on_with_the_bits_of_a_run_from_the_start(store, tmp_path, settings, bits):
    run_cells([steps(settings, 12)], store, keep=Keep("2"))
    heard = Heard()
    run_cells([steps(settings, 21)], store, heard)
    assert heard.from_step == [12]
    longer = store.load(steps(settings, 21))
    assert longer.provenance["continued"] == {"from": steps(settings, 12).identity, "at": 12}
    assert {0, 12} <= set(longer.kept) and longer.has_state
    elsewhere = Store(tmp_path / "fresh")
    run_cells([steps(settings, 21)], elsewhere)
    fresh = elsewhere.load(steps(settings, 21))
    shared(longer, fresh)
    if settings is EVERY:
        assert bits(longer) == bits(fresh)
    else:
        assert any("the evaluations are those of" in note for note in heard.notes)
        before, behind = np.split(longer.trajectory.clocks["evaluation"], [6])
        assert list(before) == TINY.evaluation.steps(12)
        assert list(behind) == [step for step in TINY.evaluation.steps(21) if step > 12]


@pytest.mark.usefixtures("save_always")
def test_a_run_that_goes_on_and_is_killed_goes_on_again(store, dying_at, death, bits, tmp_path):
    run_cells([steps(EVERY, 12)], store, keep=Keep("stages"))
    with pytest.raises(death):
        run_cells([steps(EVERY, 21)], store, dying_at(18))
    heard = Heard()
    run_cells([steps(EVERY, 21)], store, heard)
    assert heard.from_step == [15]
    elsewhere = Store(tmp_path / "fresh")
    run_cells([steps(EVERY, 21)], elsewhere, keep=Keep("stages"))
    found, fresh = store.load(steps(EVERY, 21)), elsewhere.load(steps(EVERY, 21))
    assert bits(found) == bits(fresh)
    assert found.provenance["continued"]["at"] == 12 and found.provenance["keep_weights"] == "stages"
    kept = {step: found.weights(step) for step in fresh.kept}
    for step, models in kept.items():
        for name, values in fresh.weights(step).items():
            assert values.tobytes() == models[name].tobytes()


@pytest.mark.parametrize(
    "change, words",
    [
        ({"training": {"schedule": "cosine"}}, "with the schedule cosine every step depends on how many there are"),
        ({"task": {"references": (2,)}}, "needs other runs"),
    ],
)
def test_where_the_first_steps_depend_on_their_number_it_starts_anew_and_says_why(store, change, words):
    settings = changed(TINY, **change)
    run_cells([steps(settings, 6)], store, keep=Keep("2"))
    heard = Heard()
    run_cells([steps(settings, 9)], store, heard)
    assert any(words in note and "starting from scratch" in note for note in heard.notes)
    assert "continued" not in store.load(steps(settings, 9)).provenance
    assert 0 in heard.from_step


def test_without_a_kept_state_it_starts_anew(store):
    run_cells([steps(TINY, 6)], store)
    heard = Heard()
    run_cells([steps(TINY, 9)], store, heard)
    assert heard.from_step == [0]


def test_other_settings_or_seeds_do_not_go_on(store):
    run_cells([steps(TINY, 6)], store, keep=Keep("2"))
    heard = Heard()
    run_cells([Cell(changed(TINY, training={"steps": 9}), (0, 1))], store, heard)
    run_cells([steps(changed(TINY, task={"ratio": 1.3}), 9)], store, heard)
    assert heard.from_step == [0, 0]


def test_seeds_that_had_learnt_stay_and_the_others_go_on(store, tmp_path, bits):
    """Until learnt: whom only the budget of steps stopped is stopped no longer."""
    base = SingleLocation.usual()
    settings = changed(
        base,
        task={"length": 3, "dimension": 2},
        model={"heads": 1, "layers": 1, "width": 8, "mlp": 8},
        training={"threshold": 0.45, "tail": 0.0, "batch": 8, "test_samples": 32, "learning_rate": 0.01, "steps": 40},
        evaluation={"every": 10, "growth": 0.0},
    )
    short, long = steps(settings, 40), steps(settings, 120)
    run_cells([short], store, keep=Keep("2"))
    stopped = store.load(short).trajectory.facts["stopped_at"]
    heard = Heard()
    run_cells([long], store, heard)
    elsewhere = Store(tmp_path / "fresh")
    run_cells([long], elsewhere)
    assert heard.from_step == [40]
    assert bits(store.load(long)) == bits(elsewhere.load(long))
    assert len(set(stopped)) > 1 or (stopped == 40).all(), "choose a threshold that some seeds miss"
