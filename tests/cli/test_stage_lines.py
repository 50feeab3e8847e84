"""What the terminal says at the end about how far training came."""

import numpy as np
import pytest
from tests.analysis.ladders_of_blocks import ladder_of

from headway.analysis.stages import Stages
from headway.cli.stage_lines import WHY, _departures, stages_in_words
from headway.records import Trajectory


def of_ladders(times: np.ndarray, kl: np.ndarray) -> Trajectory:
    return Trajectory(
        seeds=tuple(range(len(kl))),
        clocks={"evaluation": times},
        arrays={"kl_rungs": kl},
        clock_of={"kl_rungs": "evaluation"},
        facts={},
    )


def test_where_training_ended_is_stated_and_why_minima_count_more_seeds():
    """Four blocks, 600 steps: KL to the truth is still falling in the three seeds that end in stage 3."""
    assert stages_in_words(of_ladders(*ladder_of("four, 600 steps"))) == (
        "1 of 4 seeds entered stage 4 of 4; training ended in stage 3 in seeds 0, 1, 2; "
        f"KL minima are in order in 4 of 4: {WHY}"
    )


@pytest.mark.parametrize(
    ("run", "words"),
    [("two", "2 of 2 seeds entered stage 2 of 2"), ("four, 1500 steps", "4 of 4 seeds entered stage 4 of 4")],
)
def test_where_all_reached_the_last_stage_nothing_more_is_stated(run, words):
    assert stages_in_words(of_ladders(*ladder_of(run))) == words


def test_seeds_that_end_before_the_first_stage_or_skip_one_are_named():
    times = np.arange(100.0)
    stays = np.abs(np.zeros(100)[:, None] - np.arange(4))
    jumps = np.abs(np.where(times < 50, 1.0, 3.0)[:, None] - np.arange(4))
    words = stages_in_words(of_ladders(times, np.stack([stays, jumps])))
    assert words.startswith("1 of 2 seeds entered stage 3 of 3; training ended before stage 1 in seed 0; ")
    assert "; no turn to stage 2 in seed 1" in words


@pytest.mark.parametrize(
    ("rungs", "words"),
    [
        ((1, 2, 1, 2, 3), "training went back to an earlier stage on the way in seed 0"),
        ((2, 1, 3), "training went through the stages in another order in seed 0"),
    ],
)
def test_a_seed_that_went_back_is_told_from_one_that_took_another_order(rungs, words):
    assert list(_departures([Stages(rungs=rungs, visits=rungs)], (0,), 3)) == [words]


def test_seeds_that_all_skip_a_stage_still_entered_the_last():
    times = np.arange(100.0)
    jumps = np.abs(np.where(times < 50, 0.0, 2.0)[:, None] - np.arange(3))
    words = stages_in_words(of_ladders(times, np.stack([jumps, jumps])))
    assert words.startswith("2 of 2 seeds entered stage 2 of 2; no turn to stage 1 in seeds 0, 1")
