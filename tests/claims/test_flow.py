"""A14, part by part: a made flow that does everything it says, and one that misses each."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from tests.report.made_flow import SETTINGS, made_flow

from headway.experiments.flow import A14, A14_ATTENTION, A14_PI_ONCE, A14_SMALLER_NOISE, AS_RUN, EXPERIMENT, PRINTED
from headway.records import Trajectory

PARTS = (
    "positions in order",
    "each stage slower",
    "clearly separated",
    "all at position 1 first",
    "one head per position",
    "remaining attention is offset",
)
SEEDS = (4, 7)
FIRST, SECOND, THIRD = range(3)


def judged(trajectory: Trajectory, settings=SETTINGS, claim=A14_ATTENTION):
    return claim.held_against({"flow": (settings, trajectory)})


def changed(name: str, change: Callable[[np.ndarray], None]) -> Trajectory:
    """The made flow of two seeds, with one array changed in the second."""
    made = made_flow(seeds=SEEDS)
    values = made[name].copy()
    change(values[1])
    return dataclasses.replace(made, arrays={**made.arrays, name: values})


def with_ends(*ends: float) -> Trajectory:
    made = made_flow(seeds=SEEDS)
    facts = {"boundaries": np.array([made.facts["boundaries"][0], ends])}
    return dataclasses.replace(made, facts=facts)


def missed(found) -> set[str]:
    """Parts that the second seed misses; the first has them all."""
    assert found.holds[0] and set(found.parts) == set(PARTS)
    return {part for part, count in found.parts.items() if count == 1}


def test_a_flow_that_does_what_the_paper_says_holds():
    found = judged(made_flow(seeds=SEEDS))
    assert found.verdict == "holds" and found.parts == dict.fromkeys(PARTS, 2)
    assert found.values == pytest.approx((3.0, 3.0))
    assert "Boundaries at times 12.8, 38.2, 115" in found.detail
    assert "remaining attention to position 1 is 0.2, adds 0.29 of its feature there, and the first one adds -0.29" in (
        found.detail
    )


def test_a_head_belongs_to_the_position_where_it_holds_most_of_the_feature_and_not_where_it_looks_most():
    """As the paper's third head: a little more attention on position 1 than on its own, of which it alone knows."""

    def keeps(attention):
        attention[-1, THIRD, FIRST], attention[-1, THIRD, THIRD] = 0.52, 0.48

    made = changed("attention", keeps)
    values = made["values"].copy()
    put = made["attention"][1, -1, THIRD, FIRST] * values[1, -1, THIRD, THIRD]
    values[1, -1, FIRST, THIRD] = -put / made["attention"][1, -1, FIRST, FIRST]
    made = dataclasses.replace(made, arrays={**made.arrays, "values": values})
    assert missed(judged(made)) == {"one head per position", "remaining attention is offset"}
    assert judged(made, claim=A14).verdict == "holds"


@pytest.mark.parametrize("claim", [A14, A14_ATTENTION])
def test_two_features_held_by_one_head_are_not_specialised(claim):
    def takes(values):
        values[-1, SECOND, THIRD] = 100.0

    def looks(attention):
        attention[-1, SECOND] = attention[-1, THIRD]

    assert "one head per position" in missed(judged(changed("attention", looks), claim=claim)) or claim is A14
    if claim is A14:
        assert "one head per position" in missed(judged(changed("values", takes), claim=claim))


def test_heads_may_have_any_numbers():
    made = made_flow(seeds=SEEDS)
    order = [2, 0, 1]
    arrays = {name: made[name][:, :, order] for name in ("attention", "attention_elsewhere", "values")}
    assert judged(dataclasses.replace(made, arrays={**made.arrays, **arrays})).verdict == "holds"


def test_a_feature_learned_before_a_stronger_one_breaks_the_order():
    def swap(parts):
        weaker = parts[:, THIRD, THIRD].copy()
        parts[:, THIRD, THIRD] = parts[:, SECOND, SECOND] * 0.5 / parts[0, SECOND, SECOND]
        parts[:, SECOND, SECOND] = weaker / 0.5 * parts[0, SECOND, SECOND]

    found = judged(changed("loss_parts", swap))
    assert missed(found) == {"positions in order"} and found.holds == (True, False)


def test_a_feature_that_is_never_learned_breaks_the_order():
    def never(parts):
        parts[:, THIRD, THIRD] = parts[0, THIRD, THIRD]

    assert missed(judged(changed("loss_parts", never))) == {"positions in order"}


@pytest.mark.parametrize(
    "ends, wanted",
    [
        ((10, 19, 40), {"each stage slower", "clearly separated"}),
        ((10, 25, 39), {"each stage slower", "clearly separated"}),
        ((10, 21, 41), {"clearly separated"}),
        ((10, 30, np.inf), {"each stage slower", "clearly separated"}),
        ((10, np.inf, np.inf), {"each stage slower", "clearly separated"}),
    ],
    ids=["a second stage as fast", "a third stage as fast", "not far apart", "two stages only", "one stage only"],
)
def test_stages_that_are_not_slower_and_slower_or_not_far_apart(ends, wanted):
    assert missed(judged(with_ends(*ends))) == wanted


def test_the_ratio_of_a_seed_without_a_boundary_is_no_number():
    found = judged(with_ends(10, 30, np.inf))
    assert np.isnan(found.values[1]) and found.values[0] == pytest.approx(3.0)


def test_a_head_that_never_comes_to_position_1_is_no_competition():
    def stays_away(attention):
        attention[:, SECOND, FIRST] = np.minimum(attention[:, SECOND, FIRST], 0.45)

    assert missed(judged(changed("attention", stays_away))) == {"all at position 1 first"}


def test_heads_that_come_to_position_1_after_the_second_boundary_do_not_count():
    made = made_flow(seeds=SEEDS)
    before = made.times("attention") < made.facts["boundaries"][1, SECOND]

    def late(attention):
        attention[:, FIRST, FIRST] = np.where(before, 0.1, 0.8)

    assert missed(judged(changed("attention", late))) == {"all at position 1 first"}


def test_two_heads_at_one_position_are_not_specialised():
    def follows(attention):
        attention[-1, THIRD] = attention[-1, SECOND]

    assert missed(judged(changed("attention", follows))) == {"one head per position", "remaining attention is offset"}


def test_a_head_whose_favourite_position_holds_no_feature_is_not_specialised():
    def strays(elsewhere):
        elsewhere[-1, THIRD] = 0.75

    found = judged(changed("attention_elsewhere", strays))
    assert missed(found) == {"one head per position", "remaining attention is offset"}


def test_without_leftover_attention_nothing_is_offset():
    def lets_go(attention):
        attention[-1, THIRD, FIRST] = 0.9 / SETTINGS.length

    assert missed(judged(changed("attention", lets_go))) == {"remaining attention is offset"}


@pytest.mark.parametrize("share", [-1.0, 0.0, 0.4, 1.7], ids=["adds to it", "does nothing", "too little", "too much"])
def test_a_first_head_that_does_not_cancel_the_leftover_does_not_offset_it(share):
    def scale(values):
        values[-1, FIRST, THIRD] *= share

    assert missed(judged(changed("values", scale))) == {"remaining attention is offset"}


def test_what_another_head_cancels_is_not_offset_by_the_first():
    def other(values):
        values[-1, FIRST, THIRD], values[-1, SECOND, THIRD] = 0.01, 4 * values[-1, FIRST, THIRD]

    assert missed(judged(changed("values", other))) == {"remaining attention is offset"}


@pytest.mark.parametrize("change", [{"heads": 2}, {"heads": 4}, {"features": 1}])
def test_it_is_not_asked_of_other_numbers_of_heads(change):
    settings = dataclasses.replace(SETTINGS, **change)
    found = judged(made_flow(settings), settings)
    assert found.verdict == "not run" and "as many heads as features" in found.detail


@pytest.mark.parametrize("claim, run", [(A14_SMALLER_NOISE, "smaller noise"), (A14_PI_ONCE, "Pi once")])
def test_a_flow_with_one_setting_changed_is_judged_as_the_printed_flow_is(claim, run):
    """Whatever the printed flow beside it does."""

    def stays_away(attention):
        attention[:, SECOND, FIRST] = np.minimum(attention[:, SECOND, FIRST], 0.45)

    kept, other = (SETTINGS, made_flow(seeds=SEEDS)), (SETTINGS, changed("attention", stays_away))
    alone = judged(other[1], claim=A14)
    found = claim.held_against({"flow": kept, run: other})
    assert (found.holds, found.parts) == (alone.holds, alone.parts) == ((True, False), found.parts)
    assert claim.held_against({"flow": other, run: kept}).verdict == "holds"


def test_each_of_the_two_settings_between_printed_and_as_run_is_changed_alone():
    def changes(start, end) -> set[str]:
        return {each.name for each in dataclasses.fields(start) if getattr(start, each.name) != getattr(end, each.name)}

    runs = EXPERIMENT.grids["printed"]
    assert changes(PRINTED, AS_RUN) == {"noise", "projections"}
    assert changes(PRINTED, runs["smaller noise"]) == changes(runs["Pi once"], AS_RUN) == {"noise"}
    assert changes(PRINTED, runs["Pi once"]) == changes(runs["smaller noise"], AS_RUN) == {"projections"}
