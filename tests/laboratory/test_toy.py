"""Paper B's toy as cells: coordinates against matrices, seeds, training sets, and what is kept."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from headway.laboratory.toy import shape_of, toy_runs
from headway.records import Cell
from headway.settings import SettingsError, ToySettings

SMALL = ToySettings(dimension=3, length=12, points=6)
SIZES = [
    replace(SMALL, dimension=dimension, copies=copies, repeated=repeated)
    for dimension, copies, repeated in product((3, 6), (1, 3), (0.0, 0.3))
]
SEEDS = (0, 5)


def made(*every, seeds=SEEDS):
    return toy_runs([Cell(settings, seeds) for settings in every])


@pytest.fixture(scope="module")
def coordinates():
    return made(*SIZES)


def test_a_size_is_a_record_with_the_arrays_of_a_transformer_and_its_plateau_is_a_fact(coordinates):
    for settings, run in zip(SIZES, coordinates, strict=True):
        assert run["loss"].shape == run["gain"].shape == run["gain_repeated"].shape == (2, 6)
        assert run["attention_relevant"].shape == (2, 6, 1, 1), "one layer and one head"
        assert run["attention_relevant"][:, 0] == pytest.approx(settings.copies / settings.length)
        assert run["loss"][:, 0] == pytest.approx(0.5) and run["gain"][:, 0] == pytest.approx(0)
        assert {name: values.shape for name, values in run.facts.items()} == dict.fromkeys(
            ("plateau", "diverged_at", "closed_form", "escape_time"), (2,)
        )
        assert run.facts["diverged_at"].tolist() == [-1, -1]


def test_a_size_does_not_depend_on_those_that_are_descended_beside_it(coordinates):
    for settings, beside in zip(SIZES, coordinates, strict=True):
        (alone,) = made(settings)
        assert all(np.array_equal(alone[name], beside[name], equal_nan=True) for name in beside.arrays)
        assert all(np.array_equal(alone.facts[name], beside.facts[name]) for name in beside.facts)


def test_whatever_their_sizes_are_toys_in_coordinates_have_one_shape_and_matrices_their_own():
    assert len({shape_of(settings) for settings in SIZES}) == 1
    other = replace(SIZES[0], points=7), replace(SIZES[0], model="gap"), replace(SIZES[0], learning_rate=0.5)
    assert len({shape_of(settings) for settings in (*SIZES, *other)}) == 4
    assert len({shape_of(replace(settings, dynamics="flow")) for settings in SIZES}) == 1
    full = [replace(settings, model="matrices") for settings in SIZES]
    assert [shape_of(settings) for settings in full] == full


def test_matrices_and_logits_in_full_are_their_coordinates_and_w_does_not_matter(coordinates):
    """Whatever orthogonal W* a seed draws."""
    for settings, few in zip(SIZES, coordinates, strict=True):
        (full,) = made(replace(settings, model="matrices"))
        assert np.array_equal(full.facts["plateau"], few.facts["plateau"])
        for name in few.arrays:
            assert full[name] == pytest.approx(few[name], abs=1e-6, nan_ok=True), name


def test_a_large_training_set_is_the_expectation_and_a_small_one_depends_on_its_seed(coordinates):
    one = replace(SIZES[3], model="matrices")
    (large,) = made(replace(one, samples=20_000), seeds=(0,))
    assert large.facts["plateau"][0] == pytest.approx(coordinates[3].facts["plateau"][0], rel=0.05)
    (small,) = made(replace(one, samples=20), seeds=(0, 1, 2, 3))
    assert len(set(small.facts["plateau"].tolist())) > 1


def test_a_seed_does_not_depend_on_its_neighbours():
    few = replace(SMALL, model="matrices", samples=64)
    (both,), (alone,) = made(few, seeds=(4, 1)), made(few, seeds=(1,))
    assert both["loss"][1] == pytest.approx(alone["loss"][0], nan_ok=True)


def test_a_rate_that_is_too_large_is_told_as_a_divergence():
    lost = made(*(replace(settings, learning_rate=1000.0, longest=2000.0) for settings in SIZES))
    assert [0, 0] in [run.facts["diverged_at"].tolist() for run in lost]
    for run in lost:
        diverged = run.facts["diverged_at"] == 0
        assert np.isinf(run.facts["plateau"][diverged]).all() and not np.isnan(run.facts["plateau"]).any()


def test_without_points_only_plateaus_are_kept(coordinates):
    for bare, whole in zip(made(*(replace(each, points=0) for each in SIZES)), coordinates, strict=True):
        assert bare["loss"].shape == (2, 0)
        assert np.array_equal(bare.facts["plateau"], whole.facts["plateau"])


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"copies": 12}, "12 copies leave no other token among 12."),
        ({"dimension": 1}, "dimension is 1"),
        ({"repeated": 1.0}, "below 1"),
        ({"threshold": 0.5}, "below 0.5"),
        ({"model": "matrices", "dynamics": "flow"}, 'Use model "logits", or dynamics "descent"'),
        ({"model": "late"}, 'Use dynamics "flow"'),
        ({"samples": 10}, 'Use model "matrices", or no set'),
        ({"model": "late", "dynamics": "flow", "repeated": 0.3}, "without cross-sample repetition"),
    ],
)
def test_what_cannot_be_computed_is_refused(changes, words):
    with pytest.raises(SettingsError, match=words):
        replace(SMALL, **changes)
