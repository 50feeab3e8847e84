"""Paper B's toy as a cell: coordinates against matrices, seeds, training sets, and what is kept."""

from dataclasses import replace

import numpy as np
import pytest

from headway.laboratory.toy import toy_run
from headway.records import Cell
from headway.settings import SettingsError, ToySettings

SMALL = ToySettings(dimensions=(3, 6), lengths=(12,), copies=(1, 3), repeated=(0.0, 0.3), points=6)
SEEDS = (0, 5)


@pytest.fixture(scope="module")
def coordinates():
    return toy_run(Cell(SMALL, SEEDS))


def test_a_case_is_the_last_axis_and_a_plateau_a_fact(coordinates):
    assert coordinates["loss"].shape == (2, 6, 8)
    assert coordinates.facts["plateau"].shape == (2, 8)
    assert SMALL.cases[:3] == ((3, 12, 1, 0.0), (3, 12, 1, 0.3), (3, 12, 3, 0.0))
    assert coordinates["loss"][:, 0] == pytest.approx(np.full((2, 8), 0.5))
    assert coordinates.facts["diverged_at"].tolist() == [-1, -1]


def test_matrices_and_logits_in_full_are_their_coordinates_and_w_does_not_matter(coordinates):
    """Whatever orthogonal W* a seed draws."""
    full = toy_run(Cell(replace(SMALL, model="matrices"), SEEDS))
    assert np.array_equal(full.facts["plateau"], coordinates.facts["plateau"])
    for name in coordinates.arrays:
        assert full[name] == pytest.approx(coordinates[name], abs=1e-6, nan_ok=True), name


def test_a_large_training_set_is_the_expectation_and_a_small_one_depends_on_its_seed(coordinates):
    one = replace(SMALL, dimensions=(3,), copies=(3,), repeated=(0.3,), model="matrices")
    exact = coordinates.facts["plateau"][0, 3]
    large = toy_run(Cell(replace(one, samples=20_000), (0,))).facts["plateau"]
    assert large[0, 0] == pytest.approx(exact, rel=0.05)
    small = toy_run(Cell(replace(one, samples=20), (0, 1, 2, 3))).facts["plateau"][:, 0]
    assert len(set(small.tolist())) > 1


def test_a_seed_does_not_depend_on_its_neighbours():
    few = replace(SMALL, dimensions=(3,), copies=(1,), repeated=(0.0,), model="matrices", samples=64)
    assert toy_run(Cell(few, (4, 1)))["loss"][1] == pytest.approx(toy_run(Cell(few, (1,)))["loss"][0], nan_ok=True)


def test_a_rate_that_is_too_large_is_told_as_a_divergence():
    lost = toy_run(Cell(replace(SMALL, learning_rate=1000.0, longest=2000.0), SEEDS))
    assert lost.facts["diverged_at"].tolist() == [0, 0]
    assert not np.isfinite(lost.facts["plateau"]).any(axis=1).all() and not np.isnan(lost.facts["plateau"]).any()


def test_without_points_only_plateaus_are_kept(coordinates):
    bare = toy_run(Cell(replace(SMALL, points=0), SEEDS))
    assert bare["loss"].shape == (2, 0, 8)
    assert np.array_equal(bare.facts["plateau"], coordinates.facts["plateau"])


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"copies": (1, 12)}, "12 copies leave no other token among 12."),
        ({"dimensions": ()}, "it must be one number or more"),
        ({"lengths": (12, 8)}, "each larger than the one before"),
        ({"repeated": (1.0,)}, "below 1"),
        ({"threshold": 0.5}, "below 0.5"),
        ({"model": "matrices", "dynamics": "flow"}, 'Use model "logits", or dynamics "descent"'),
        ({"model": "late"}, 'Use dynamics "flow"'),
        ({"samples": 10}, 'Use model "matrices", or no set'),
        ({"model": "late", "dynamics": "flow"}, "without cross-sample repetition"),
    ],
)
def test_what_cannot_be_computed_is_refused(changes, words):
    with pytest.raises(SettingsError, match=words):
        replace(SMALL, **changes)
