"""The flow of paper B's toy as cells: one program for all sizes, and what is kept."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from headway.laboratory.toy_flow import shape_of, toy_flows
from headway.records import Cell
from headway.settings import SettingsError, ToyFlowSettings

SMALL = ToyFlowSettings(dimension=3, length=12, points=6)
SIZES = [
    replace(SMALL, dimension=dimension, copies=copies, repeated=repeated)
    for dimension, copies, repeated in product((3, 6), (1, 3), (0.0, 0.3))
]
SEEDS = (0, 5)


def made(*every, seeds=SEEDS):
    return toy_flows([Cell(settings, seeds) for settings in every])


def test_a_size_is_a_record_with_the_arrays_of_a_descent_and_its_plateau_is_a_fact():
    for settings, run in zip(SIZES, made(*SIZES), strict=True):
        assert run["loss"].shape == run["gain"].shape == run["gain_repeated"].shape == (2, 6)
        assert run["attention_relevant"].shape == (2, 6, 1, 1), "one layer and one head"
        assert run["attention_relevant"][:, 0] == pytest.approx(settings.copies / settings.length)
        assert run["loss"][:, 0] == pytest.approx(0.5) and run["gain"][:, 0] == pytest.approx(0)
        assert {name: values.shape for name, values in run.facts.items()} == dict.fromkeys(
            ("plateau", "closed_form", "escape_time"), (2,)
        )


def test_whatever_their_sizes_are_flows_have_one_shape():
    assert len({shape_of(settings) for settings in SIZES}) == 1
    other = replace(SIZES[0], points=7), replace(SIZES[0], model="gap")
    assert len({shape_of(settings) for settings in (*SIZES, *other)}) == 3


def test_without_points_only_plateaus_are_kept():
    [bare], [whole] = made(replace(SMALL, points=0)), made(SMALL)
    assert bare["loss"].shape == (2, 0)
    assert np.array_equal(bare.facts["plateau"], whole.facts["plateau"])


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"copies": 12}, "12 copies leave no other token among 12."),
        ({"dimension": 1}, "dimension is 1"),
        ({"repeated": 1.0}, "below 1"),
        ({"threshold": 0.5}, "below 0.5"),
        ({"model": "late", "repeated": 0.3}, "without cross-sample repetition"),
    ],
)
def test_what_cannot_be_computed_is_refused(changes, words):
    with pytest.raises(SettingsError, match=words):
        replace(SMALL, **changes)
