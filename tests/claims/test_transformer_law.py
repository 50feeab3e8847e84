"""B3 and B5 to B7 of transformers: made runs that show them, and runs that break each part alone."""

import numpy as np
import pytest
from tests.report.made_emergence import SEEDS, made_location

from headway.claims import transformer_law as law
from headway.claims.plateau_laws import plateau
from headway.experiments.transformer_law import GRIDS

PAPER = GRIDS["paper"]
PLAIN = [settings for name, settings in PAPER.items() if name.startswith("T")]
XAVIER = [settings for name, settings in PAPER.items() if name.startswith("Xavier")]
COPIED = [settings for settings in PAPER.values() if settings.task.copies > 1]
SHARED = [settings for settings in PAPER.values() if settings.task.repeated > 0]


def made(many, **how):
    return [(settings, made_location(settings, SEEDS, **how)) for settings in many]


def by(many, length):
    """Runs whose plateaus are a function of their task."""
    return [(settings, made_location(settings, SEEDS, length(settings.task))) for settings in many]


def test_a_plateau_is_the_first_evaluation_at_or_below_the_threshold():
    for settings, trajectory in made(PLAIN[:2] + SHARED):
        np.testing.assert_array_equal(plateau((settings, trajectory)), trajectory.facts["plateau"])


def test_the_published_law_is_found_where_it_was_put():
    runs = made(PLAIN + COPIED)
    for claim, factor, wanted in (
        (law.B3, "dimension", 1.29),
        (law.B3_LENGTH, "length", 0.80),
        (law.B3_COPIES, "copies", -0.80),
    ):
        found = law.law_exponent(claim, *runs, factor=factor)
        assert found.verdict == "holds" and found.values == pytest.approx([wanted] * 4, abs=0.01)
    found = law.law_constant(law.B3_CONSTANT, *runs)
    assert found.verdict == "holds" and found.values == pytest.approx([0.76] * 4, rel=0.02)
    detail = law.law_exponent(law.B3_LENGTH, *runs, factor="length").detail
    assert "0.76 dimension^1.29 length^0.80 copies^-0.80" in detail and "0.80 at d = 16, 0.80 at d = 32" in detail


def test_the_law_of_another_start_is_fitted_without_copies():
    runs = made(XAVIER)
    for claim, factor, wanted in ((law.B3_XAVIER, "dimension", 1.29), (law.B3_XAVIER_LENGTH, "length", 0.80)):
        found = law.law_exponent(claim, *runs, factor=factor, law=law.ONE_COPY)
        assert found.verdict == "holds" and found.values == pytest.approx([wanted] * 4, abs=0.01)
    slower = by(XAVIER, lambda task: 13 * task.dimension**0.8 * task.length**0.8)
    assert law.law_exponent(law.B3_XAVIER, *slower, factor="dimension", law=law.ONE_COPY).verdict == "fails"
    assert law.law_exponent(law.B3_XAVIER_LENGTH, *slower, factor="length", law=law.ONE_COPY).verdict == "holds"


def test_another_power_or_another_constant_fails_alone():
    def length(task):
        return 3 * 0.76 * task.dimension**0.5 * task.length**0.8 * task.copies**-0.8

    runs = by(PLAIN + COPIED, length)
    assert law.law_exponent(law.B3, *runs, factor="dimension").values == pytest.approx([0.5] * 4, abs=0.01)
    assert law.law_exponent(law.B3, *runs, factor="dimension").verdict == "fails"
    assert law.law_exponent(law.B3_LENGTH, *runs, factor="length").verdict == "holds"
    longer = by(PLAIN + COPIED, lambda task: 3 * 0.76 * task.dimension**1.29 * task.length**0.8 * task.copies**-0.8)
    assert law.law_constant(law.B3_CONSTANT, *longer).verdict == "fails"


def test_runs_that_never_left_are_left_out_of_the_law_and_counted():
    runs = made(PLAIN + COPIED)
    trajectory = runs[3][1]
    trajectory.arrays["loss"][1] = 0.5
    found = law.law_exponent(law.B3, *runs, factor="dimension")
    assert found.verdict == "holds" and f"1 of {4 * len(runs)} plateaus never ended" in found.detail


def test_a_factor_that_does_not_change_says_nothing():
    assert law.law_exponent(law.B3_COPIES, *made(PLAIN), factor="copies").verdict == "not run"


def test_a_sharp_fall_behind_a_gain_holds():
    found = law.sharp_and_in_order(law.B5_TRANSFORMER, *made(PLAIN))
    assert found.verdict == "holds" and max(found.values) < 0.2


@pytest.mark.parametrize("how, missing", [({"fall": 0.9}, "sharp"), ({"gain_at": 1.0}, "attention later")])
def test_a_slow_fall_or_attention_that_comes_first_fails(how, missing):
    found = law.sharp_and_in_order(law.B5_TRANSFORMER, *made(PLAIN, **how))
    assert {part for part, count in found.parts.items() if count == 0} == {missing}


def test_a_gain_that_is_noise_at_first_does_not_count_before_it_lasts():
    runs = made(PLAIN, gain_at=1.0)
    for _, trajectory in runs:
        trajectory.arrays["gain"][:, 0] = 0.5
    assert law.sharp_and_in_order(law.B5_TRANSFORMER, *runs).parts["attention later"] == 0


@pytest.mark.parametrize("missing, other", [("grows with T", "dimension"), ("grows with d", "length")])
def test_plateaus_that_grow_along_one_axis_only_fail(missing, other):
    assert law.grows_with_length_and_dimension(law.B6_TRANSFORMER, *made(PLAIN)).verdict == "holds"
    runs = by(PLAIN, lambda task: 100.0 * getattr(task, other))
    found = law.grows_with_length_and_dimension(law.B6_TRANSFORMER, *runs)
    assert {part for part, count in found.parts.items() if count == 0} == {missing}


def test_repetition_shortens_and_copies_do_so_faster():
    found = law.repetition_shortens(law.B7_TRANSFORMER, *made([PLAIN[0], *COPIED, *SHARED], fall=0.02))
    assert found.verdict == "holds"
    assert found.values[0] > 1
    slow = by([PLAIN[0], *COPIED, *SHARED], lambda task: 1000 * task.copies**-0.1 * (1 - task.repeated))
    found = law.repetition_shortens(law.B7_TRANSFORMER, *slow)
    assert {part for part, count in found.parts.items() if count == 0} == {"B more efficient"}


def test_the_shares_are_compared_at_the_higher_loss():
    """The run without repetition has a threshold of its own, which its plateau is longer for."""
    runs = made([PLAIN[0], *COPIED, *SHARED])
    trajectory = runs[0][1]
    trajectory.arrays["loss"][:, 1:] = 0.39
    assert law.repetition_shortens(law.B7_TRANSFORMER, *runs).parts["shorter with p"] == 0
