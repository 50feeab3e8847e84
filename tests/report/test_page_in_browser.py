"""The page draws whatever it is given, fits its window, and keeps every text a text."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.made_run import made_report, made_settings, made_view

from headway.records import Trajectory
from headway.report.page import Report, write_page

pytestmark = pytest.mark.browser

REVERSED = made_settings(8, ((13, 14), (9, 10, 11, 12), (1, 2, 3, 4, 5, 6, 7, 8)), references=(4, 8, 12))


def with_holes(trajectory: Trajectory) -> Trajectory:
    """The same run with numbers missing in every array, and all of them in the last seed's."""
    arrays = {name: values.copy() for name, values in trajectory.arrays.items()}
    for values in arrays.values():
        values[0, ::3] = np.nan
        values[-1] = np.nan
    return replace(trajectory, arrays=arrays)


def without_pictures(trajectory: Trajectory) -> Trajectory:
    arrays = {name: values for name, values in trajectory.arrays.items() if name != "attention"}
    return replace(trajectory, arrays=arrays)


def report_of(**changes: object) -> Report:
    return made_report(runs=(replace(made_view(), **changes),))


REPORTS = {
    "nothing": lambda: made_report(runs=(), findings=(), commands=()),
    "one seed, one head, one block": lambda: made_report(
        runs=(made_view("small", made_settings(1, ((1, 2, 3),)), seeds=(7,)),), findings=()
    ),
    "eight heads, unequal blocks, n-gram models": lambda: made_report(runs=(made_view("eight", REVERSED),)),
    "overlapping blocks": lambda: made_report(
        runs=(made_view("overlap", made_settings(4, ((5, 6, 7, 8), (3, 4, 5, 6), (1, 2, 3, 4)))),)
    ),
    "eight blocks of one lag and forty seeds": lambda: made_report(
        runs=(made_view("many", made_settings(8, tuple((lag,) for lag in range(1, 9))), tuple(range(40))),)
    ),
    "numbers missing": lambda: report_of(trajectory=with_holes(made_view().trajectory)),
    "no stages": lambda: report_of(stages=(), intervals=()),
    "no pictures": lambda: report_of(trajectory=without_pictures(made_view().trajectory)),
    "all seeds diverged": lambda: made_report(runs=(made_view(diverged={0: 40, 1: 50, 2: 90, 3: 300}),)),
}


@pytest.mark.parametrize("name", REPORTS)
def test_unusual_reports_draw_without_complaint(opened, name):
    it = opened(REPORTS[name](), width=900)
    for key in ("ArrowLeft", "Home", "1", "3"):
        it.press(key)
    assert "undefined" not in it.text("body") and "NaN" not in it.text("body")
    assert it.overflow() <= 0


@pytest.mark.parametrize("width", [400, 1280, 1920])
def test_the_page_fits_its_window(opened, width):
    view = made_view("as-run", REVERSED, seeds=tuple(range(8)), diverged={3: 120})
    it = opened(made_report(runs=(made_view("quick"), view)), width=width)
    assert it.overflow() <= 0
    it.choose("#run", "as-run")
    it.page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    it.settle()
    assert it.overflow() <= 0


def test_labels_beside_the_charts_do_not_overlap(opened):
    blocks = tuple((lag,) for lag in range(1, 9))
    it = opened(made_report(runs=(made_view("many", made_settings(2, blocks)),)))
    boxes = [label.bounding_box() for label in it.page.locator(".plot .annotation-text-g").all()]
    area = it.chart_area()
    beside = sorted(box["y"] + box["height"] / 2 for box in boxes if box["x"] > area["x"] + area["width"])
    assert len(beside) == 9 + 8  # a level for every rung, and the end of every curve but the uniform one
    assert np.diff(beside).min() > 11


def test_a_diverged_seed_is_named_marked_and_left_out_of_the_median(opened):
    it = opened(made_report(runs=(made_view(diverged={1: 120}),)))
    assert "1 seed diverged: 1 at step 120" in it.text("#summary")
    assert "3 of 4 seeds went through the 3 stages in order" in it.text("#summary")
    assert "median of 3 seeds" in it.text("#chart-legend") and "diverged" in it.text("#chart-legend")
    it.choose("#seed", "1 (diverged at 120)")
    assert "this seed diverged at step 120" in it.text("#narration")


def test_the_summary_gives_the_measured_numbers(shown, made):
    loss = np.median(made.trajectory["excess_loss"], axis=0)
    words = shown.text("#summary").replace("\u202f", "")
    assert "4 seeds, 2000 steps; every seed went through the 3 stages in order." in words
    assert f"went from {loss[0]:.3g} to {loss[-1]:.3g} nats" in words
    assert "Of 3 claims on quick, 1 holds, 1 holds partly and 1 was not run." in words


def test_verdicts_stand_side_by_side_with_the_numbers_behind_them(shown):
    first, second, third = (row.inner_text() for row in shown.page.locator(".verdicts > tbody > tr").all())
    assert first.count("4 of 4 seeds") == 2
    assert "0.675" in first and "[0.61, 0.74]" in first and "[0.6, 0.75]" in first
    assert "partly" in second and "3 of 4 seeds" in second and "one head a block late: 3 of 4" in second
    assert "fails" in third and "not run" in third
    shown.page.locator(".verdicts summary", has_text="each seed").last.click()
    assert "–" in shown.page.locator(".verdicts .small").last.inner_text()  # the missing value


def test_the_stage_table_gives_every_boundary_and_the_median(shown, made):
    table = shown.text("#stage-tables table")
    for stages in made.stages:
        assert all(f"{step:.0f}" in table for step in stages.boundaries)
    middle = np.median([stages.boundaries for stages in made.stages], axis=0)
    low, high = made.intervals[0]
    assert f"{np.floor(middle[0] + 0.5):.0f} [{low:.0f}, {high:.0f}]" in table


def test_hostile_texts_are_shown_and_not_run(opened):
    hostile = "</script><script>window.broken = true</script><img src=x onerror='window.broken = true'>"
    claim = replace(made_report().findings[0][1], statement=hostile)
    view = replace(made_view(), label=hostile, provenance={hostile: hostile})
    it = opened(made_report(hostile, introduction=hostile, runs=(view,), findings=((hostile, claim),)))
    assert it.page.evaluate("window.broken") is None
    assert it.text("h1") == hostile
    assert it.page.locator("img").count() == 0


def test_even_a_script_that_got_in_can_neither_run_nor_fetch(browser, tmp_path):
    path = write_page(tmp_path / "report.html", made_report(runs=(), findings=()))
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("<main>", "<main><script>window.broken = true</script>"), encoding="utf-8")
    context = browser.new_context()
    page, failures = context.new_page(), []
    page.on("requestfailed", lambda request: failures.append(request.failure))
    page.goto(path.as_uri())
    page.evaluate("document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:9/x.png'}))")
    page.wait_for_timeout(200)
    assert page.evaluate("window.broken") is None
    assert failures == ["csp"]  # refused by the page's own policy before anything was sent
    context.close()


def test_dark_and_light_are_exchanged_while_the_page_is_open(shown):
    light = shown.picture()
    shown.page.emulate_media(color_scheme="dark")
    shown.settle()
    assert shown.picture() != light
    shown.page.emulate_media(color_scheme="light")
    shown.settle()
    assert shown.picture() == light
