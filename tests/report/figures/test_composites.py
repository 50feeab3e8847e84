"""The pictures made of several parts, and runs that did not go well."""

import io

import numpy as np

from headway.report.figures import (
    draw_competition,
    draw_mass,
    figure_overview,
    figure_stages,
    new_figure,
    save,
)
from headway.report.figures.composites import telling_seed, telling_steps


def test_the_telling_steps_are_the_start_and_the_snapshot_nearest_to_each_rung(staircase):
    assert telling_steps(staircase.run(), 3) == (0, 10, 50, 200)


def test_the_telling_seed_is_the_first_that_went_well(staircase):
    missing = staircase.run()["attention"].copy()
    missing[1] = np.nan
    assert telling_seed(staircase.run(diverged_at=np.array([10, -1, -1]), attention=missing)) == 7
    assert telling_seed(staircase.run(diverged_at=np.array([1, 1, 1]))) == 3


def test_the_overview_is_a_wide_white_card_with_clear_corners(staircase):
    figure, content = figure_overview(staircase.run(), staircase.settings, starts=(5, 20, 200)), io.BytesIO()
    figure.savefig(content, format="rgba", dpi=figure.dpi)
    pixels = np.frombuffer(content.getvalue(), np.uint8).reshape(700, 1600, 4)
    corners = pixels[[0, 0, -1, -1], [0, -1, 0, -1], 3]
    assert (corners == 0).all()
    assert (pixels[350, 20] == 255).all()
    assert (pixels[20:-20, 20:-20, 3] == 255).all()


def test_missing_numbers_and_diverged_seeds_break_no_figure(staircase, tmp_path):
    """One seed is wholly missing, one ends in the middle, and at one time nobody has a number."""
    run = staircase.run()
    changes = {name: run[name].copy() for name in run.arrays}
    for values in changes.values():
        values[0] = np.nan
        values[:, 1] = np.nan
    changes["excess_loss"][1, 3] = np.inf
    broken = staircase.run(**changes, diverged_at=np.array([1, 50, -1]))
    starts = np.array([[np.nan] * 3, [5.0, 20.0, np.nan], [5.0, 20.0, 200.0]])
    files = save(
        figure_overview(broken, staircase.settings, seed=3, steps=(0, 800), starts=starts),
        tmp_path / "a",
    )
    assert len(files) == 3 and all(path.stat().st_size > 0 for path in files)
    save(figure_stages(broken, staircase.blocks, seed=3, starts=starts), tmp_path / "b")
    figure = new_figure()
    left, middle, right = figure.subplots(1, 3)
    draw_mass(left, broken, None, staircase.blocks)
    draw_mass(middle, broken, 3, staircase.blocks)
    draw_competition(right, broken, staircase.blocks, starts=starts)
    save(figure, tmp_path / "c")


def test_a_run_without_a_single_number_breaks_no_figure(staircase, tmp_path):
    run = staircase.run()
    nothing = {name: np.full_like(run[name], np.nan) for name in run.arrays}
    empty = staircase.run(**nothing, rung_excess=np.full((3, 4), np.nan), diverged_at=np.array([1, 1, 1]))
    save(figure_overview(empty, staircase.settings), tmp_path / "a")
    figure = new_figure()
    left, right = figure.subplots(1, 2)
    draw_mass(left, empty, None, staircase.blocks)
    draw_competition(right, empty, staircase.blocks, log_steps=True)
    save(figure, tmp_path / "b")
    assert len(list(tmp_path.iterdir())) == 6
