"""What figures of several runs share."""

from itertools import combinations

import numpy as np
import pytest
from tests.report.test_colours import EYES, seen_by

from headway.report.colours import run_colours, rung_colours
from headway.report.figures.size_axis import best_losses, best_steps


@pytest.mark.parametrize("eye", EYES)
def test_no_two_of_eight_runs_look_alike_to_any_eye(eye):
    """A difference of 2 can just be seen."""
    seen = [seen_by(eye, colour) for colour in run_colours(8)]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 7


def test_runs_go_from_dark_to_light_and_no_run_looks_like_a_rung():
    for runs in (1, 2, 3, 8):
        seen = [seen_by("usual", colour) for colour in run_colours(runs)]
        assert len(seen) == runs
        assert np.all(np.diff([lightness for lightness, *_ in seen]) > 0)
        assert min(np.linalg.norm(run - seen_by("usual", rung)) for run in seen for rung in rung_colours(6)) > 30


def test_the_best_step_is_the_first_of_the_lowest_loss_and_missing_where_no_loss_is_known(staircase):
    loss = np.tile(np.array([5, 4, 3, 1, 2, 1, 6, 7, 8, 0.5]), (3, 1))
    loss[2] = np.nan
    # Seed 4 diverges at step 400: its low end is what it repeats from there.
    run = staircase.run(excess_loss=loss, diverged_at=np.array([-1, 400, -1]))
    np.testing.assert_array_equal(best_steps(run), [800, 10, np.nan])
    np.testing.assert_array_equal(best_losses(run), [0.5, 1, np.nan])
