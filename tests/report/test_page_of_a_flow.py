"""A gradient flow on the page: the slider that moves a training moves its attention, values, plane and marker, too."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import Browser
from tests.report.conftest import Opened
from tests.report.made_flow import made_flow
from tests.report.made_portrait import made_portrait
from tests.report.made_run import made_report, made_view

from headway.records import Trajectory
from headway.report.build import run_view
from headway.report.page import Report, RunView
from headway.report.page.packing import unpack
from headway.report.page.payload import payload
from headway.report.page.write import embedded
from headway.settings import FlowSettings, PortraitSettings

SETTINGS = FlowSettings(projections=1, first=1.0, last=1e3, points=40)
PLANE = PortraitSettings(projections=1, points=6)
FLOW = made_flow(SETTINGS, (0, 1, 2))
TIMES = FLOW.clocks["time"]


def made_flow_view(trajectory: Trajectory = FLOW, label: str = "flow") -> RunView:
    portraits = [(PLANE, made_portrait(PLANE)), (PortraitSettings(ratio=2.0), made_portrait())]
    return run_view(label, SETTINGS, trajectory, {}, portraits)


def flow_report(*views: RunView) -> Report:
    return made_report(runs=views or (made_flow_view(),), findings=())


def test_the_page_holds_the_flow_its_plateaus_and_its_own_portrait_only():
    run = payload(flow_report())["runs"][0]
    for name in ("loss", "attention", "values"):
        np.testing.assert_array_equal(unpack(run["arrays"][name]), FLOW[name])
    assert run["levels"] == pytest.approx([6.12105, 1.945, 0.5, 0.0])
    (portrait,) = run["portraits"]
    np.testing.assert_array_equal(unpack(portrait["arrays"]["orbits"]), made_portrait(PLANE)["orbits"][0])
    assert portrait["window"] == pytest.approx([-1.7, 4.25])


def test_positions_beyond_the_features_are_not_needed_nor_missed():
    wider = np.concatenate([FLOW["attention"], np.full((3, len(TIMES), 3, 5), 0.01, np.float32)], axis=-1)
    whole = replace(FLOW, arrays={**FLOW.arrays, "attention": wider})
    run = payload(flow_report(made_flow_view(whole)))["runs"][0]
    np.testing.assert_array_equal(unpack(run["arrays"]["attention"]), FLOW["attention"])


def test_stages_lie_between_the_boundaries_and_one_that_was_not_met_has_none():
    boundaries = np.array([[10.0, 30.0, 90.0], [10.0, 30.0, np.inf], [np.inf] * 3])
    stages = made_flow_view(replace(FLOW, facts={"boundaries": boundaries})).stages
    assert [(each.seed, each.rungs, each.start, each.boundaries) for each in stages] == [
        (0, (1, 2, 3), 10.0, (30.0, 90.0)),
        (1, (1, 2), 10.0, (30.0,)),
    ]


def test_a_flow_of_twenty_seeds_takes_little_room():
    settings = replace(SETTINGS, points=120)
    portraits = [(PLANE, made_portrait(PLANE))]
    view = run_view("flow", settings, made_flow(settings, tuple(range(20))), {}, portraits)
    assert len(embedded(payload(flow_report(view)))) < 400_000


@pytest.fixture(scope="module")
def _flow(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    yield from Opened.once(browser, tmp_path_factory.mktemp("flow"), flow_report())


@pytest.fixture
def flow(_flow: Opened) -> Iterator[Opened]:
    """A page of one flow, as when just opened."""
    yield from _flow.as_when_opened()


def dot(it) -> tuple[str, str]:
    circle = it.page.locator("#portraits .head-dot")
    return circle.get_attribute("cx"), circle.get_attribute("cy")


@pytest.mark.browser
def test_the_slider_moves_everything_that_a_flow_has(flow):
    it = flow
    seen = []
    for time in (4, 18, 30):
        it.move(time)
        bars = tuple(bar.get_attribute("style") for bar in it.page.locator("#masses .fill").all())
        values = tuple(bar.get_attribute("style") for bar in it.page.locator("#values .fill").all())
        motes = tuple(mote.get_attribute("cx") for mote in it.page.locator("#portraits .mote").all())
        past = it.page.locator("#portraits .past").get_attribute("d")
        seen.append((it.marker(), it.text("#narration"), it.text(".step"), bars, values, dot(it), motes, past))
    for before, after in itertools.pairwise(seen):
        assert all(old != new for old, new in zip(before, after, strict=True))
    it.choose("#seed", "2")
    assert it.page.locator("#portraits .past").get_attribute("d") != seen[-1][-1]


@pytest.mark.browser
def test_bars_and_dot_stand_where_the_numbers_say(flow):
    it = flow
    it.move(30)
    share, value = (float(FLOW[name][0, 30, 1, 1]) for name in ("attention", "values"))
    assert f"{100 * share:.0f} %" in it.text("#masses tbody tr:nth-child(2) td:nth-of-type(2)")
    assert f"{value:.3g}" in it.text("#values tbody tr:nth-child(2) td:nth-of-type(2)")
    assert it.page.evaluate("headway.report.runs[0].arrays.values.at(0, 30, 0, 1)") < 0
    left = it.page.locator("#values tbody tr:nth-child(1) td:nth-of-type(2) .fill").bounding_box()
    bar = it.page.locator("#values tbody tr:nth-child(1) td:nth-of-type(2) .bar").bounding_box()
    assert left["x"] + left["width"] == pytest.approx(bar["x"] + bar["width"] / 2, abs=1)  # to the left: negative
    area = it.page.locator("#portraits .frame-line").bounding_box()
    centre = it.page.locator("#portraits .head-dot").bounding_box()
    across = (centre["x"] + centre["width"] / 2 - area["x"]) / area["width"]
    up = (area["y"] + area["height"] - centre["y"] - centre["height"] / 2) / area["height"]
    assert across == pytest.approx((value + 1.7) / (4.25 + 1.7), abs=0.01)
    assert up == pytest.approx(share, abs=0.01)


@pytest.mark.browser
def test_keys_jump_to_where_the_loss_is_nearest_to_its_plateau(flow):
    it = flow
    first, second = FLOW.facts["boundaries"][0][1:]
    inside = np.flatnonzero((first <= TIMES) & (second > TIMES))
    it.press("2")
    time = it.page.evaluate("headway.selection.state.time")
    assert time == inside[np.abs(FLOW["loss"][0, inside] - 0.5).argmin()]
    assert f"time {TIMES[time]:.3g}" in it.text(".step")
    words = it.text("#narration")
    assert "stage 2" in words and "head 2 holds position 2" in words and "0.500 with 2 features learnt" in words


@pytest.mark.browser
def test_curves_show_attention_or_values_of_the_heads_that_are_not_hidden(flow):
    it = flow
    traces = "document.querySelectorAll('.plot .scatterlayer .y2 .trace, .plot .xy2 .scatterlayer .trace').length"
    assert it.page.evaluate(traces) == 9
    it.click("#chart-legend .key:nth-child(2)")
    assert it.page.evaluate(traces) == 6
    it.choose("#ladder", "values")
    assert "Value of each head" in it.text("#charts") and "feature 3" in it.text("#chart-legend")


@pytest.mark.browser
def test_a_flow_and_a_training_share_a_page(opened):
    it = opened(flow_report(made_view("training"), made_flow_view()))
    assert it.page.locator("#portraits").is_hidden() and it.page.locator("#values").is_hidden()
    it.choose("#run", "flow")
    assert it.page.locator("#portraits svg").is_visible() and it.page.locator("#combined").is_hidden()
    assert "40 others" in it.text("#reading-words")
    it.choose("#run", "training")
    assert it.page.locator("#portraits").is_hidden() and it.page.locator(".head").count() == 3
    assert "lags 1–2" in it.text("#reading-words")


@pytest.mark.browser
@pytest.mark.parametrize("width", [400, 1280])
def test_a_flow_fits_its_window_even_where_numbers_are_missing(opened, width):
    arrays = {name: values.copy() for name, values in FLOW.arrays.items()}
    for values in arrays.values():
        values[1] = np.nan
    it = opened(flow_report(made_flow_view(replace(FLOW, arrays=arrays))), width=width)
    for key in ("1", "3", "ArrowLeft"):
        it.press(key)
    assert it.overflow() <= 0
    it.choose("#seed", "1")
    assert "undefined" not in it.text("body") and "NaN" not in it.text("body")
    assert it.overflow() <= 0
