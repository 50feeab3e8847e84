"""B1, B2, B5 to B7: made toys that show them, and toys that break each part alone."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.made_toy import made_toy

from headway.claims import emergence, toy_laws
from headway.settings import ToySettings

SIZES = ToySettings(dimensions=(32, 128), lengths=(256, 1024), points=51)
COPIES = replace(SIZES, copies=(1, 4), points=0)
SHARES = replace(SIZES, repeated=(0.0, 0.1, 0.4), points=0)
SEEDS = (0, 1, 2)


def made(settings=SIZES, **how):
    return settings, made_toy(settings, SEEDS, **how)


def with_plateaus(run, change):
    settings, trajectory = run
    return settings, replace(trajectory, facts={**trajectory.facts, "plateau": change(trajectory.facts["plateau"])})


def test_a_sharp_transition_that_w_announces_holds():
    found = emergence.sharp_and_in_order(emergence.B5, made())
    assert found.verdict == "holds"
    assert found.values == pytest.approx([0.1 * 0.75 / 0.975] * 3, rel=0.6)


@pytest.mark.parametrize("how, missing", [({"fall": 0.9}, "sharp"), ({"w_first": False}, "W first")])
def test_a_slow_fall_or_attention_that_moves_first_fails(how, missing):
    found = emergence.sharp_and_in_order(emergence.B5, made(**how))
    assert found.verdict == "fails"
    assert {part for part, count in found.parts.items() if count == 0} == {missing}


def test_an_exponential_decay_is_not_sharp():
    settings, trajectory = made()
    decay = 0.5 * np.exp(-np.log(5) * trajectory.times("loss")[:, None] / (1.3 / 1.25)) * np.ones((3, 51, 4))
    found = emergence.sharp_and_in_order(
        emergence.B5, (settings, replace(trajectory, arrays={**trajectory.arrays, "loss": decay.astype(np.float32)}))
    )
    assert found.parts["sharp"] == 0


def test_without_curves_nothing_is_said_about_the_transition():
    assert emergence.sharp_and_in_order(emergence.B5, made(replace(SIZES, points=0))).verdict == "not run"


def test_a_plateau_that_never_ends_is_not_sharp():
    run = with_plateaus(made(), lambda plateaus: np.where(np.arange(4) == 2, np.inf, plateaus))
    found = emergence.sharp_and_in_order(emergence.B5, run)
    assert found.verdict == "fails" and np.isnan(found.values).all()


@pytest.mark.parametrize("powers, missing", [((0.0, 1.0, 1.0), "grows with d"), ((0.5, -0.1, 1.0), "grows with T")])
def test_a_plateau_that_does_not_grow_fails(powers, missing):
    assert emergence.grows_with_length_and_dimension(emergence.B6, made()).verdict == "holds"
    found = emergence.grows_with_length_and_dimension(emergence.B6, made(powers=powers))
    assert {part for part, count in found.parts.items() if count == 0} == {missing}
    run = with_plateaus(made(), lambda plateaus: np.where(np.arange(4) == 3, np.inf, plateaus))
    assert emergence.grows_with_length_and_dimension(emergence.B6, run).verdict == "fails"


def test_the_closed_form_must_be_near_at_the_largest_length():
    near, far = (emergence.closed_form_holds(emergence.B6_CLOSED, made(constant=c)) for c in (1.26, 1.6))
    assert (near.verdict, far.verdict) == ("holds", "fails")
    away = emergence.closed_form_holds(emergence.B6_CLOSED, made(constant=0.99, powers=(0.5, 1.04, 1.0)))
    assert away.parts["ever nearer"] == 0 and away.parts["near at the largest T"] == 3


def test_the_plateau_must_be_proportional_to_the_escape_time():
    found = emergence.proportional_to_the_escape_time(emergence.B6_LINEAR, made())
    assert found.verdict == "holds" and found.values == pytest.approx([1.0] * 3)
    assert "2.9 times the plateau" in found.detail
    other = emergence.proportional_to_the_escape_time(emergence.B6_LINEAR, made(powers=(0.4, 0.9, 1.0)))
    assert other.verdict == "fails"


def test_repetition_must_shorten_and_copies_more_than_shares():
    repeated = made(SHARES)
    fast = emergence.repetition_shortens(emergence.B7, made(COPIES), repeated)
    assert fast.verdict == "holds" and all(value > 1 for value in fast.values)
    slow = emergence.repetition_shortens(emergence.B7, made(COPIES, powers=(0.5, 1.0, 0.3)), repeated)
    assert slow.parts == {"shorter with B": 3, "shorter with p": 3, "B more efficient": 0}
    longer = emergence.repetition_shortens(emergence.B7, made(COPIES, powers=(0.5, 1.0, -0.1)), repeated)
    assert longer.parts["shorter with B"] == 0
    worse = with_plateaus(repeated, lambda plateaus: plateaus[:, ::-1])
    assert emergence.repetition_shortens(emergence.B7, made(COPIES), worse).parts["shorter with p"] == 0
    alone = emergence.repetition_shortens(emergence.B7, made(replace(COPIES, copies=(1,))), repeated)
    assert alone.verdict == "not run"


def test_published_exponents_and_constants_are_met_or_missed():
    run = made(COPIES, constant=1.51, powers=(0.49, 0.99, 0.99))
    judged = (
        (toy_laws.dimension_exponent, toy_laws.B1, {"powers": (0.6, 0.99, 0.99)}),
        (toy_laws.token_exponent, toy_laws.B1_TOKENS, {"powers": (0.49, 0.9, 0.9)}),
        (toy_laws.context_constant, toy_laws.B1_CONSTANT, {"constant": 2.0}),
    )
    for judge, claim, other in judged:
        assert judge(claim, run).verdict == "holds", claim.name
        wrong = made(COPIES, **{"constant": 1.51, "powers": (0.49, 0.99, 0.99), **other})
        assert judge(claim, wrong).verdict == "fails", claim.name


def test_copies_with_a_power_of_their_own_do_not_count_as_tokens():
    same, own = (
        toy_laws.copies_count_as_tokens(toy_laws.B1_LOGITS, made(COPIES, powers=(0.5, 1.0, power)))
        for power in (1, 0.5)
    )
    assert (same.verdict, own.verdict) == ("holds", "fails")
    assert own.values == pytest.approx([-0.5] * 3)
    assert "The plateau is 1.31 d^0.50 T^1.00 B^-0.50." in own.detail


def test_the_law_of_a_repeated_vector_is_in_one_size():
    found = toy_laws.across_exponent(toy_laws.B2, made(SHARES))
    assert found.values == pytest.approx([1.0] * 3) and found.verdict == "holds"
    assert toy_laws.across_constant(toy_laws.B2_CONSTANT, made(SHARES)).verdict == "fails"
    assert toy_laws.across_constant(toy_laws.B2_CONSTANT, made(SHARES, constant=2.0)).verdict == "holds"


def test_what_is_censored_is_told_and_a_law_without_points_fails():
    run = with_plateaus(made(COPIES), lambda plateaus: np.where(np.arange(8) == 3, np.inf, plateaus))
    assert "3 of 24 runs never left the plateau" in toy_laws.dimension_exponent(toy_laws.B1, run).detail
    nothing = with_plateaus(made(COPIES), lambda plateaus: np.full_like(plateaus, np.inf))
    for judge, claim in (
        (toy_laws.dimension_exponent, toy_laws.B1),
        (toy_laws.context_constant, toy_laws.B1_CONSTANT),
        (toy_laws.copies_count_as_tokens, toy_laws.B1_LOGITS),
        (emergence.proportional_to_the_escape_time, emergence.B6_LINEAR),
    ):
        assert judge(claim, nothing).verdict == "fails"


def test_a_curve_meets_a_level_between_its_points():
    times = np.array([0.0, 1.0, 2.0])
    assert emergence.reached(times, np.array([0.0, 0.2, 0.6]), 0.3) == pytest.approx(1.25)
    assert emergence.reached(times, np.array([0.5, 0.4, 0.0]), 0.45) == pytest.approx(0.5)
    assert emergence.reached(times, np.array([0.5, 0.4, np.nan]), 0.1) == np.inf
