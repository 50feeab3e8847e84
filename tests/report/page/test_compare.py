"""Two runs, two seeds, or a training and a flow, side by side on one slider."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser
from tests.report.conftest import Opened
from tests.report.made_flow import made_flow
from tests.report.made_portrait import made_portrait
from tests.report.made_run import STEPS, made_report, made_settings, made_view

from headway.report.build import run_view
from headway.settings import FlowSettings, PortraitSettings

pytestmark = pytest.mark.browser

FIRST = made_view("minimal, as-run")
SECOND = made_view("minimal, printed", made_settings(8), seeds=(5, 6))
FLOW = FlowSettings(projections=1, first=1.0, last=1e3, points=40)
PLANE = PortraitSettings(projections=1, points=6)


@pytest.fixture(scope="module")
def _both(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    flow = run_view("flow, as-run", FLOW, made_flow(FLOW, (0, 1)), {}, [(PLANE, made_portrait(PLANE))])
    report = made_report(runs=(FIRST, SECOND, flow), findings=())
    yield from Opened.once(browser, tmp_path_factory.mktemp("compare"), report)


@pytest.fixture
def both(_both: Opened) -> Iterator[Opened]:
    """Three runs, one of them a flow; nothing is compared yet."""
    yield from _both.as_when_opened()


def second_step(it: Opened) -> str:
    return it.text("#second .view-name").rsplit(" ", 1)[-1].replace("\u202f", "")


def test_a_second_run_is_offered_beside_and_follows_the_slider(both):
    assert both.page.locator("#second").is_hidden()
    both.click("#compare")
    assert "minimal, printed" in both.text("#second .view-name")  # the same run on another grid
    seen = []
    for time in (10, 50, 90):
        both.move(time)
        marker = both.page.locator("#second .marker").bounding_box()
        flags = [flag.get_attribute("cx") for flag in both.page.locator("#second .flag").all()]
        bars = [bar.get_attribute("style") for bar in both.page.locator("#second .fill").all()]
        words = both.text("#second .narration")
        seen.append((both.picture("#second .combined canvas"), marker, flags, bars, words))
        assert int(second_step(both)) == both.step() == FIRST.trajectory.clocks["evaluation"][time]
    for before, after in itertools.pairwise(seen):
        assert all(old != new for old, new in zip(before, after, strict=True))
    assert both.page.locator("#second .head").count() == 8 and both.page.locator("#view .head").count() == 3
    assert both.overflow() <= 0
    both.press("c")
    assert both.page.locator("#second").is_hidden()


def test_two_seeds_of_one_run_stand_side_by_side(both):
    both.click("#compare")
    both.choose("#other", "minimal, as-run")
    assert both.text("#second .view-name").startswith("minimal, as-run seed 1")
    both.choose("#other-seed", "2")
    both.press("2")
    evaluation = FIRST.trajectory.clocks["evaluation"]
    at = int(np.flatnonzero(evaluation == both.step())[0])
    for place, seed in (("#view", 0), ("#second", 2)):
        loss = float(FIRST.trajectory["excess_loss"][seed, at])
        assert f"Excess loss {loss:#.3g} nats" in both.text(f"{place} .narration")


def test_runs_side_by_side_share_their_axes(both):
    both.click("#compare")
    ranges = "['view', 'second'].map((id) => { const {layout} = document.querySelector(`#${id} .plot`);"
    ranges += " return ['xaxis', 'yaxis', 'yaxis2'].map((axis) => layout[axis].range); })"
    first, second = both.page.evaluate(ranges)
    assert first == second
    both.click("#log-value")
    logarithmic = both.page.evaluate(ranges)
    assert logarithmic[0] == logarithmic[1] != first


def test_charts_side_by_side_are_level_however_long_the_sentences_above_are(both):
    both.click("#compare")
    for width in (1280, 900):
        both.page.set_viewport_size({"width": width, "height": 900})
        for words in ("Short.", "A sentence that takes far more lines than the other one. " * 8):
            both.page.evaluate("(words) => (document.querySelector('#narration').textContent = words)", words)
            both.page.evaluate("() => (document.querySelector('#second .narration').textContent = 'Short.')")
            both.settle()
            first, second = (both.page.locator(f"{view} .charts").bounding_box() for view in ("#view", "#second"))
            assert first["y"] == second["y"] and first["x"] + first["width"] <= second["x"]
    both.page.set_viewport_size({"width": 1280, "height": 900})


def test_a_click_into_the_second_chart_moves_both(both):
    both.click("#compare")
    both.click("#log-time")
    box = both.page.locator("#second .plot .nsewdrag").first.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + 40
    both.page.mouse.move(*middle)
    both.page.wait_for_selector("#second .hoverlayer .legend")
    both.page.mouse.click(*middle)
    both.settle()
    steps = FIRST.trajectory.clocks["evaluation"]
    assert both.step() == steps[np.abs(steps - STEPS / 2).argmin()]


def test_a_training_and_a_flow_meet_where_their_stages_change(both):
    both.click("#compare")
    both.choose("#other", "flow, as-run")
    rules = [option.inner_text() for option in both.page.locator("#align option").all()]
    assert rules == ["stage", "share of the run"]  # steps and the time of a flow cannot be compared
    begins = {1: 8.0, 2: FIRST.stages[0].boundaries[0], 3: FIRST.stages[0].boundaries[1]}
    for stage, step in begins.items():
        both.move(int(np.flatnonzero(FIRST.trajectory.clocks["evaluation"] >= step)[0]))
        assert f"stage {stage}" in both.text("#view .narration")
        assert f"stage {stage}" in both.text("#second .narration")
    assert both.page.locator("#second .portrait").is_visible() and both.page.locator("#second .values").is_visible()
    both.choose("#align", "share of the run")
    both.page.focus("#time")
    both.press("End")
    assert second_step(both) == "1000" and both.step() == STEPS
    both.choose("#run", "flow, as-run")
    both.choose("#other", "minimal, printed")
    assert both.page.locator("#view .portrait").is_visible() and both.page.locator("#second .portrait").count() == 0


def test_on_a_narrow_screen_the_second_stands_below(both):
    both.click("#compare")
    try:
        both.page.set_viewport_size({"width": 400, "height": 900})
        both.settle()
        first, second = (both.page.locator(name).bounding_box() for name in ("#view", "#second"))
        assert second["y"] >= first["y"] + first["height"] and second["width"] == first["width"]
        assert both.overflow() <= 0
    finally:
        both.page.set_viewport_size({"width": 1280, "height": 900})
