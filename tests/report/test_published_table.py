"""Published numbers beside ours, read off made curves whose answers are known."""

from dataclasses import replace

import numpy as np
import pytest

from headway.experiments import find
from headway.records import Trajectory
from headway.report.document.one_changed import one_changed
from headway.report.document.published_table import Beside, at_entropy, boundaries, published_table, risen_again
from headway.report.document.read_otherwise import dropped, read_otherwise
from headway.report.document.tables import NamedRun

TIMES = np.arange(0.0, 1001.0, 10.0)
SETTINGS = find("ladder").grids["as-run"]["full"]


def valley(at: float, rise: float = 2.0) -> np.ndarray:
    """Falls from 1 to 0 until `at`, then rises to `rise` at the end, both by straight lines."""
    return np.where(at > TIMES, 1 - TIMES / at, rise * (TIMES - at) / (TIMES[-1] - at))


@pytest.mark.parametrize("share", [0.02, 0.13, 0.3])
def test_a_curve_has_risen_by_a_share_where_the_straight_line_has(share):
    assert risen_again(TIMES, valley(400), share) == pytest.approx(400 + 600 * share)


def test_a_curve_that_falls_to_the_end_never_rises():
    assert np.isnan(risen_again(TIMES, 1 - TIMES / 1000, 0.02))


def test_after_a_rise_a_later_fall_does_not_count():
    bent = np.minimum(valley(200, 4.0), 1.0)
    assert risen_again(TIMES, bent, 0.5) == pytest.approx(200 + 0.5 / 4.0 * 800)


def test_a_dip_on_the_way_up_does_not_lengthen_the_line_between_evaluations():
    """1 at 30, 0.5 at 40, 4.5 at 50: 50 % of 5 is passed half-way from 40 to 50, not on a line from 30."""
    times = np.array([0.0, 10, 20, 30, 40, 50, 60])
    kl = np.array([3.0, 1, 0, 1, 0.5, 4.5, 5])
    assert risen_again(times, kl, 0.5) == pytest.approx(45)
    assert risen_again(times, kl, 0.1) == pytest.approx(25), "before the dip, it is the first time that counts"


def made(*seeds: tuple[float, float]) -> NamedRun:
    kl = np.stack([np.stack([TIMES, valley(one), valley(two), 1 - TIMES / 1000], axis=1) for one, two in seeds])
    trajectory = Trajectory(
        seeds=tuple(range(len(seeds))),
        clocks={"evaluation": TIMES},
        arrays={"kl_rungs": kl},
        clock_of={"kl_rungs": "evaluation"},
        facts={},
    )
    return NamedRun("ladder", "as-run", "full", SETTINGS, trajectory)


def test_a_published_number_is_inside_between_the_first_and_the_last_seed():
    run = made((40, 300), (60, 400))
    np.testing.assert_allclose(boundaries(run.trajectory)[0], (40 + 0.02 * 960, 300 + 0.13 * 700))
    table = published_table([run])
    first, second = table.splitlines()[2:]
    assert "| 65 |" in first and first.endswith("| inside |"), "59 to 79"
    assert "| 450 |" in second and second.endswith("| inside |"), "391 to 478"
    assert published_table([made((100, 500), (120, 600))]).count("outside") == 2


def test_a_published_number_is_compared_as_far_as_it_was_rounded():
    level, step = "plateau 3, at H = 0.505", "boundary 1"
    assert Beside("run", level, 0.09, np.array([0.0949, 0.12])).verdict == "inside"
    assert Beside("run", level, 0.09, np.array([0.0951, 0.12])).verdict == "outside"
    assert Beside("run", level, 0.09, np.array([0.05, 0.0849])).verdict == "outside"
    assert Beside("run", step, 110, np.array([100.0, 109.6])).verdict == "inside"
    assert Beside("run", step, 110, np.array([100.0, 109.4])).verdict == "outside"


def test_levels_are_moved_along_their_regression_to_the_entropy_that_is_asked_for():
    entropy = np.array([0.5, 0.55, 0.6, 0.65])
    moved, r = at_entropy(2 * entropy, entropy, 0.505)
    np.testing.assert_allclose(moved, 1.01)
    assert r == pytest.approx(1)
    alone = np.array([0.3, 0.4])
    assert at_entropy(alone, alone)[0] is alone


def test_a_boundary_outside_is_shown_with_one_setting_changed_and_one_inside_is_not():
    base = made((40, 100), (60, 120))  # boundary 1 inside, boundary 2 far before 450
    changed = SETTINGS.changed(training={"weight_decay": 0.125})
    near = made((40, 300), (60, 400))._replace(experiment="weight-decay", name="decays", settings=changed)
    later = SETTINGS.changed(evaluation={"points": 7})
    same = near._replace(name="measured otherwise", settings=later)
    far = SETTINGS.changed(training={"weight_decay": 0.125, "learning_rate": 0.5, "batch": 7})
    lines = one_changed([base, near, same, near._replace(name="far", settings=far)]).splitlines()[2:]
    assert len(lines) == 1
    assert "`training.weight_decay` 0.125" in lines[0] and lines[0].endswith("| 391 to 478 | inside |")
    assert "| boundary 2 | 450 |" in lines[0]
    assert one_changed([base]) == "", "nothing was changed"
    assert one_changed([made((40, 300), (60, 400)), near]) == "", "every boundary is inside"


def test_a_number_outside_is_read_at_other_shares_of_the_rise_and_one_inside_is_not():
    """KL to rung 2 is lowest at 250 and rises by 2 in 750 steps: 450 lies at 27 % of the rise."""
    rows = [row.split(" | ") for row in read_otherwise([made((40, 240), (60, 260))]).splitlines()[2:]]
    assert {row[1] for row in rows} == {"boundary 2"}
    assert [row[3] for row in rows][:2] == ["the minimum of KL", "1% of the rise"]
    assert [row[-1] for row in rows] == ["outside |"] * 6, "30 % of the rise begin at 468"
    nearer = read_otherwise([made((40, 200), (60, 260))]).splitlines()
    assert nearer[-1].endswith("| 440 to 482 | inside |") and nearer[-2].endswith("outside |")
    assert read_otherwise([made((40, 300), (60, 400))]) == ""


def test_a_plateau_of_the_loss_is_left_where_the_loss_has_made_a_fifth_of_its_drop():
    """KL is lowest at 300 and at 500; the loss falls from 1 to 0 between, and on below 0 afterwards."""
    run = made((300, 500))
    loss = np.interp(TIMES, [0, 300, 500, 1000], [2.0, 1.0, 0.0, -5.0])
    trajectory = replace(
        run.trajectory,
        arrays={**run.trajectory.arrays, "excess_loss": loss[None]},
        clock_of={"kl_rungs": "evaluation", "excess_loss": "evaluation"},
    )
    np.testing.assert_allclose(dropped(run._replace(trajectory=trajectory), 0), [340])


def test_levels_of_plateaus_are_read_within_their_stage_and_the_last_one_up_to_the_end():
    """Plateaus of 0.5, 0.345 to 0.295 and 0.05 rising to 0.11, so that the last is at 0.09 at three quarters."""
    scale = "scale u = 1e-09"
    run = made((300, 500), (330, 560))
    loss = np.where(TIMES < 320, 0.5, np.where(TIMES < 560, 0.345 - 0.05 * (TIMES - 320) / 240, 0.05))
    loss = np.where(TIMES >= 600, 0.05 + 0.06 * (TIMES - 600) / 400 * 1.6, loss)
    trajectory = replace(
        run.trajectory,
        arrays={**run.trajectory.arrays, "excess_loss": np.stack([loss, loss])},
        clock_of={"kl_rungs": "evaluation", "excess_loss": "evaluation"},
        facts={"entropy": np.array([0.5, 0.5])},
    )
    rows = read_otherwise([NamedRun("init-scale", "as-run", scale, SETTINGS, trajectory)]).splitlines()[2:]
    levels = [row for row in rows if "plateau" in row]
    assert [row.split(" | ")[3] for row in levels if "plateau 2" in row] == [
        "half of the stage",
        "three quarters of the stage",
    ]
    assert [row.split(" | ")[3] for row in levels if "plateau 3" in row] == ["step 750", "step 1000"]
    assert "| 0.09 | step 750 | 0.09 | 0.09 to 0.09 |" in "\n".join(levels)
