"""Large pictures: left out of a small copy, or thinned where a run is compared in detail."""

from dataclasses import replace

import numpy as np
import pytest

from headway.records import PILOT_SEEDS, Cell, Trajectory
from headway.store import Record, Store, small
from headway.store.coarse import is_known, widen
from headway.tasks.run import Settings

EVALUATIONS, SNAPSHOTS = np.array([0, 1, 2, 4, 8, 16]), np.array([0, 2, 4, 8, 16])
SEEDS = (0, 1)


@pytest.fixture
def record(tmp_path):
    """Of a run that is compared in detail, or not."""

    def placed(comparisons: bool, trajectory: Trajectory | None = None) -> Record:
        made = pictured() if trajectory is None else trajectory
        cell = Cell(Settings().changed(evaluation={"comparisons": comparisons}), made.seeds)
        with Store(tmp_path).open(cell) as work:
            return work.place(made, {})

    return placed


def pictured() -> Trajectory:
    rng = np.random.default_rng(0)

    def made(times: np.ndarray, *shape: int) -> np.ndarray:
        return rng.random((len(SEEDS), len(times), *shape), np.float32)

    arrays = {
        "loss": made(EVALUATIONS),
        "attention": made(SNAPSHOTS, 2, 4, 8, 64),
        "attention_by_lag": made(EVALUATIONS, 2, 4, 64),
        "attention_near": made(EVALUATIONS, 2, 4, 8),
        "shown_rung": made(EVALUATIONS, 64),
        "shown_attention": made(SNAPSHOTS, 2, 4, 8, 8).astype(np.float16),
    }
    clock_of = dict.fromkeys(arrays, "evaluation") | dict.fromkeys(("attention", "shown_attention"), "snapshot")
    return Trajectory(
        SEEDS,
        {"evaluation": EVALUATIONS, "snapshot": SNAPSHOTS},
        arrays,
        clock_of,
        {"shown_written": np.zeros((2, 3)), "entropy": np.ones(2)},
    )


@pytest.fixture
def few_are_large(monkeypatch):
    monkeypatch.setattr(small, "LARGE", 10_000)


def test_pictures_that_are_not_large_stay(record):
    full = record(comparisons=False)
    copy, reduced = small.reduce(full)
    assert set(copy.arrays) == set(full.trajectory.arrays)
    assert "pictures" not in reduced
    np.testing.assert_array_equal(copy.times("attention_by_lag"), EVALUATIONS)


@pytest.mark.usefixtures("few_are_large")
def test_large_pictures_and_what_only_a_page_shows_are_left_out_and_what_claims_read_stays(record):
    full = record(comparisons=False)
    copy, reduced = small.reduce(full)
    assert set(copy.arrays) == {"loss", "attention_by_lag", "attention_near"}
    assert set(copy.facts) == {"entropy"}
    assert reduced["pictures"].startswith("left out")
    np.testing.assert_array_equal(copy["attention_near"], full.trajectory["attention_near"])
    np.testing.assert_array_equal(copy["loss"], full.trajectory["loss"])
    assert list(copy.times("attention_by_lag")) == [0, 16], "one of four, the last among them"


@pytest.mark.usefixtures("few_are_large")
def test_a_run_that_is_compared_in_detail_keeps_every_second_picture_and_the_last(record):
    full = record(comparisons=True)
    copy, reduced = small.reduce(full)
    assert set(copy.arrays) == set(full.trajectory.arrays)
    assert list(copy.clocks["snapshot"]) == [0, 4, 16]
    assert reduced["pictures"] == "every 2nd"
    steps = copy["attention"].astype(float) / 254
    np.testing.assert_allclose(steps, full.trajectory["attention"][:, ::2], atol=0.5 / 254 + 1e-6)
    np.testing.assert_array_equal(copy["shown_rung"], full.trajectory["shown_rung"])
    assert is_known(reduced["arrays"]["shown_attention"]), "a reader accepts it"
    again = widen(copy["shown_attention"], reduced["arrays"]["shown_attention"])
    assert copy["shown_attention"].dtype == np.uint8 and again.dtype == np.float16
    np.testing.assert_allclose(again, full.trajectory["shown_attention"][:, ::2], atol=0.5 / 254 + 1e-3)


def told_apart(trajectory: Trajectory) -> Trajectory:
    """Claims read attention to the relevant position; attention by lag is only drawn."""
    arrays = {name: values for name, values in trajectory.arrays.items() if name not in ("attention_near", "attention")}
    relevant = {"attention_relevant": trajectory["attention_by_lag"][..., 0]}
    clock_of = {name: trajectory.clock_of.get(name, "evaluation") for name in arrays | relevant}
    return replace(trajectory, arrays=arrays | relevant, clock_of=clock_of)


def test_where_attention_to_the_relevant_position_is_measured_attention_by_lag_is_a_picture(record, monkeypatch):
    full = record(comparisons=False, trajectory=told_apart(pictured()))
    whole, reduced = small.reduce(full)
    assert "pictures" not in reduced and list(whole.times("attention_by_lag")) == list(EVALUATIONS)
    monkeypatch.setattr(small, "APART", {"attention_relevant": 5_000})
    copy, reduced = small.reduce(full)
    assert list(copy.times("attention_by_lag")) == [0, 16] and "pictures" in reduced
    np.testing.assert_array_equal(copy["loss"], full.trajectory["loss"])
    np.testing.assert_array_equal(copy.times("attention_relevant"), EVALUATIONS)


def test_pilots_keep_no_picture_however_small(record):
    full = record(comparisons=True, trajectory=replace(told_apart(pictured()), seeds=PILOT_SEEDS))
    copy, reduced = small.reduce(full)
    assert set(copy.arrays) == {"loss", "attention_relevant", "shown_rung"}
    assert set(copy.facts) == {"entropy"} and reduced["pictures"] == "left out"
