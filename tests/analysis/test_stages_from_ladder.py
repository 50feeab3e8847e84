"""Stages where the KL to every rung is known."""

import numpy as np
import pytest
from tests.analysis.ladders_of_blocks import ladder_of

from headway.analysis import Stages, stages_from_ladder

TIMES = np.unique(np.concatenate([[0.0], np.round(np.geomspace(1, 2000, 120))]))


def climb(rung_of_time: np.ndarray, rungs: int = 4) -> np.ndarray:
    """KL to rung i = distance to it, for a model that is at the (real-valued) rung `rung_of_time`."""
    return np.abs(np.asarray(rung_of_time)[:, None] - np.arange(rungs)[None, :])


def climb_at(*times: float) -> np.ndarray:
    """A model that goes up one rung at each of these times, half-way exactly then."""
    x = np.log(TIMES + 1)
    return sum(0.5 * (1 + np.tanh((x - np.log(time + 1)) / 0.1)) for time in times)


def test_a_model_that_climbs_three_rungs_has_three_stages_and_crosses_at_the_known_times():
    found = stages_from_ladder(TIMES, climb(climb_at(20, 330, 575)))
    assert found.visits == (0, 1, 2, 3)
    assert found.rungs == (1, 2, 3)
    assert (found.count, found.reached, found.skipped) == (3, 3, ())
    np.testing.assert_allclose(found.boundaries, (330, 575), rtol=0.003)
    assert found.start == pytest.approx(20, rel=0.01)
    assert all(leaving < boundary for leaving, boundary in zip(found.leavings, found.boundaries, strict=True))


def uneven(position: np.ndarray, steps: tuple[float, ...]) -> np.ndarray:
    """KL to every rung, the distance to its place, where rung i lies steps[i - 1] above the one below."""
    places = np.concatenate([[0.0], np.cumsum(steps)])
    return np.abs(np.interp(position, np.arange(len(places)), places)[:, None] - places)


@pytest.mark.parametrize("rungs", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("noise", [0.0, 0.001])
def test_any_number_of_rungs_is_found_though_the_last_step_is_a_small_part_of_the_descent(rungs, ratio, noise):
    """Six steps, each a third of the one before: the last is 0.3 % of the whole."""
    at = np.geomspace(5, 1200, rungs)
    steps = ratio ** -np.arange(rungs)
    shaken = noise * steps[-1] * np.random.default_rng(rungs).normal(size=(len(TIMES), rungs + 1))
    kl = uneven(climb_at(*at), tuple(steps)) + shaken
    found = stages_from_ladder(TIMES, kl)
    assert found.rungs == tuple(range(1, rungs + 1))
    np.testing.assert_allclose(found.boundaries, at[1:], rtol=0.05)


@pytest.mark.parametrize("rungs", [3, 4, 5, 6])
@pytest.mark.parametrize("stops", [1, 2])
def test_a_model_that_stops_below_the_truth_ends_in_the_stage_where_it_stopped(rungs, stops):
    at = np.geomspace(5, 1200, rungs)[:-stops]
    noise = 0.0005 * np.random.default_rng(rungs).normal(size=(len(TIMES), rungs + 1))
    found = stages_from_ladder(TIMES, uneven(climb_at(*at), tuple(1.7 ** -np.arange(rungs))) + noise)
    assert (found.rungs, found.reached) == (tuple(range(1, rungs - stops + 1)), rungs - stops)


def test_a_rung_passed_at_a_distance_is_met_if_the_model_turns_from_it_by_a_share_of_the_last_step():
    """As in a chain of four blocks: KL to rung 3 falls by 0.12 of its descent in stage 3 and rises by 0.03 of it."""
    kl = uneven(climb_at(5, 40, 200, 700), (1.0, 0.5, 0.25, 0.12))
    own = int(np.argmin(kl[:, 3]))
    kl[own:, 3] = kl[own, 3] + 0.2 * (kl[own:, 3] - kl[own, 3])
    assert kl[-1, 3] - kl[own, 3] < 0.03 * (kl[0, 3] - kl[own, 3])
    assert stages_from_ladder(TIMES, kl).rungs == (1, 2, 3, 4)


def test_crossings_are_interpolated_in_log_time_between_evaluations():
    """log(t + 10) is even for t = 0, 10, 30, 70, so half-way from 10 to 30 is t + 10 = sqrt(20 * 40)."""
    times = np.array([0.0, 10.0, 30.0, 70.0])
    found = stages_from_ladder(times, climb([1.0, 1.2, 1.8, 2.0]))
    assert found.boundaries == pytest.approx([np.sqrt(800) - 10])


def test_a_skipped_rung_is_named_and_the_boundary_joins_its_neighbours():
    """From rung 1 to 3 between two evaluations, so that the model is never seen near rung 2."""
    found = stages_from_ladder(TIMES, climb(np.where(TIMES < 300, 1.0, 3.0)))
    assert found.visits == (1, 3)
    assert (found.crossings, found.skipped) == (((1, 3),), (2,))
    assert found.boundaries == pytest.approx([300], rel=0.05)


def test_a_rung_is_met_where_the_model_comes_nearest_to_it_though_a_higher_one_is_nearer_all_along():
    """f_{1:1} is overconfident: KL to it reaches its minimum at 0.8 while KL to f_{1:2} is already lower."""
    kl = climb(climb_at(20, 330, 575))
    kl[:, 1] += 1.5
    assert (np.argmin(kl, axis=1) != 1).all()
    found = stages_from_ladder(TIMES, kl)
    assert found.rungs == (1, 2, 3)
    np.testing.assert_allclose(found.boundaries, (330, 575), rtol=0.003)


def test_a_model_that_stays_at_a_rung_meets_no_other_whatever_the_noise_does():
    rng = np.random.default_rng(0)
    for _ in range(20):
        kl = climb(climb_at(20)) + 0.01 * rng.normal(size=(len(TIMES), 4))
        assert stages_from_ladder(TIMES, kl).rungs == (1,)


def test_of_the_rungs_that_are_still_approached_at_the_end_only_the_lowest_counts():
    """KL to every higher rung falls too while the model goes from rung 1 towards rung 2."""
    found = stages_from_ladder(TIMES, climb(climb_at(20) + 0.8 * climb_at(800)))
    assert found.rungs == (1, 2)


def test_a_model_that_stays_uniform_has_no_stage():
    found = stages_from_ladder(TIMES, climb(np.zeros(len(TIMES))))
    assert (found.count, found.visits, found.reached) == (0, (0,), 0)


def test_a_rung_that_is_visited_again_appears_again():
    position = 1 + climb_at(100) - climb_at(400)
    assert stages_from_ladder(TIMES, climb(position)).visits == (1, 2, 1)


def test_an_evaluation_that_is_exactly_between_two_rungs_is_the_boundary():
    times = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    found = stages_from_ladder(times, climb([1.0, 1.0, 1.5, 2.0, 2.0, 1.5, 1.0]))
    assert found.visits == (1, 2, 1)
    assert found.boundaries == pytest.approx([2.0, 16.0])


def test_flickers_are_no_stages_and_do_not_move_the_boundary_by_more_than_they_last():
    position = climb_at(20, 330, 575)
    flickering = position.copy()
    flickering[[45, 60, 75]] = (0.0, 3.0, 3.0)
    around = np.flatnonzero((TIMES > 290) & (TIMES < 370))
    flickering[around] = np.where(np.arange(len(around)) % 2 == 0, 1.4, 1.6)
    found = stages_from_ladder(TIMES, climb(flickering))
    assert found.visits == (0, 1, 2, 3)
    assert 290 < found.boundaries[0] < 390
    assert found.boundaries[1] == pytest.approx(575, rel=0.01)


def test_how_long_a_visit_must_last_can_be_chosen():
    """Rung 2 is the nearest from about 300 to 390, while time grows by a third."""
    kl = climb(1 + climb_at(300, 390))
    assert stages_from_ladder(TIMES, kl).visits == (1, 2, 3)
    assert stages_from_ladder(TIMES, kl, least_growth=1.5).visits == (1, 3)
    coarse = slice(0, None, 12)
    assert stages_from_ladder(TIMES[coarse], kl[coarse], least_evaluations=5).visits == (1,)


def test_missing_evaluations_are_left_out():
    kl = climb(climb_at(20, 330, 575))
    plain = stages_from_ladder(TIMES, kl)
    kl[-8:] = np.nan
    kl[30, 2] = np.nan
    found = stages_from_ladder(TIMES, kl)
    assert found.visits == plain.visits
    np.testing.assert_allclose(found.boundaries, plain.boundaries)
    assert stages_from_ladder(TIMES, np.full_like(kl, np.nan)).visits == ()


def test_several_seeds_at_once_are_refused_with_a_remedy():
    with pytest.raises(ValueError, match="one seed at a time"):
        stages_from_ladder(TIMES, np.zeros((len(TIMES), 2, 4)))


@pytest.mark.parametrize(
    "time, stage",
    [(0, 0), (19.9, 0), (20, 1), (329, 1), (330, 2), (574, 2), (575, 3), (2000, 3), (1e9, 3), (np.nan, 0)],
)
def test_a_time_belongs_to_the_stage_that_began_last(time, stage):
    assert Stages(rungs=(1, 2, 3), boundaries=(330.0, 575.0), start=20.0, visits=(0, 1, 2, 3)).at(time) == stage


def test_a_time_in_a_skipped_or_repeated_rung_belongs_to_the_rung_that_was_visited():
    skipped = Stages(rungs=(1, 3), boundaries=(300.0,), start=0.0)
    assert [skipped.at(time) for time in (0, 299, 300, 900)] == [1, 1, 3, 3]
    back = Stages(rungs=(1, 2, 1), boundaries=(100.0, 400.0), start=0.0)
    assert [back.at(time) for time in (50, 200, 500)] == [1, 2, 1]


def test_without_stages_no_time_belongs_to_one():
    assert Stages().at(100) == 0
    assert stages_from_ladder(TIMES, climb(np.zeros(len(TIMES)))).at(1000) == 0


def test_at_every_evaluation_the_stage_is_the_rung_that_the_model_is_at():
    position = climb_at(20, 330, 575)
    found = stages_from_ladder(TIMES, climb(position))
    assert [found.at(time) for time in TIMES] == [int(at + 0.501) for at in position]


FOUR = ("four, 600 steps", "four, 1500 steps")
REACHED = {
    "two": (2, 2),
    "four, 600 steps": (3, 3, 3, 4),
    "four, 1500 steps": (4, 4, 4, 4),
    "five": (5, 5),
}
"""The stage in which each seed of a trained model ends. After 600 steps KL to the truth still falls in three seeds."""


@pytest.mark.parametrize(("run", "reached"), REACHED.items())
def test_trained_models_go_through_as_many_stages_as_their_chain_has_blocks(run, reached):
    """Whoever is counted in the last stage is nearest to the truth at the end, in KL itself."""
    times, ladders = ladder_of(run)
    found = [stages_from_ladder(times, kl) for kl in ladders]
    assert tuple(each.reached for each in found) == reached
    assert all(each.rungs == tuple(range(1, each.reached + 1)) for each in found)
    for each, kl in zip(found, ladders, strict=True):
        assert each.reached < kl.shape[1] - 1 or np.argmin(kl[-1]) == kl.shape[1] - 1


def test_a_longer_run_of_the_same_seeds_has_the_same_boundaries_as_far_as_the_shorter_goes():
    """The same steps with other evaluations: boundaries do not depend on what comes afterwards by more than 2 %."""
    short, long = ([stages_from_ladder(times, kl) for kl in ladders] for times, ladders in map(ladder_of, FOUR))
    for few, many in zip(short, long, strict=True):
        np.testing.assert_allclose(few.boundaries[:2], many.boundaries[:2], rtol=0.02)
