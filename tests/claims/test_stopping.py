"""Stopping over sizes: made runs of which the best step is known."""

import numpy as np

from headway.claims.stopping import by_patience, by_stages, equal_patience, stops
from headway.experiments.dataset_size import A10_PATIENCE, A10_STOPPING
from headway.presets import minimal_as_run
from headway.records import Trajectory

TIMES = np.unique(np.round(np.geomspace(1, 2000, 60)))


def made(size: int, best: float, rise: float = 3.0) -> tuple:
    """A loss that falls until `best` and rises from there on, on two seeds; heads that never specialise."""
    settings = minimal_as_run().changed(training={"samples": size})
    fall = np.log(TIMES / best)
    loss = 2 + np.where(fall < 0, -0.3 * fall, rise * fall)
    halves = np.broadcast_to(loss[None, :, None], (2, len(TIMES), 2)).copy()
    halves[:, :, 1] += 0.5
    arrays = {"excess_halves": halves, "attention_by_lag": np.full((2, len(TIMES), 1, 3, 25), 1 / 25)}
    return settings, Trajectory((0, 1), {"evaluation": TIMES}, arrays, dict.fromkeys(arrays, "evaluation"), {})


RUNS = [made(100, 30.0), made(1000, 100.0), made(9000, 400.0)]


def test_what_is_lost_is_counted_on_the_other_half_from_its_own_best_step():
    found = stops(RUNS, by_stages)
    assert found.lost.shape == (3, 2)
    np.testing.assert_allclose(found.lost, 0, atol=1e-12)
    assert np.all(np.diff(found.trained, axis=0) > 0)
    assert np.all(stops(RUNS, by_patience(1e9)).trained == 2000)


def test_a_patience_in_proportion_to_time_beats_any_fixed_one_and_the_claim_says_by_how_much():
    results = {str(number): run for number, run in enumerate(RUNS)}
    near, less = (claim.held_against(results, "as-run") for claim in (A10_STOPPING, A10_PATIENCE))
    assert near.verdict == "holds" and near.values == (0.0, 0.0)
    own = stops(RUNS, by_stages)
    patience, other = equal_patience(RUNS, own, 1e-3)
    assert less.values == tuple(other.trained.sum(axis=0) / own.trained.sum(axis=0))
    assert f"That patience: {patience} steps" in less.detail


def test_two_sizes_are_too_few():
    assert A10_STOPPING.held_against({"100": RUNS[0], "1000": RUNS[1]}, "as-run").verdict == "not run"
