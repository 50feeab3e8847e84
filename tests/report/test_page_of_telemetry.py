"""Somebody's PyTorch run on the page: the scores of every head over time, attention by lag, and probes that failed."""

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser
from tests.report.conftest import Opened
from tests.report.made_run import made_view
from tests.report.made_task import heads_view
from tests.report.made_telemetry import ERROR, FAILED, SCORES, TIMES, made_telemetry, telemetry_view

from headway.records import Trajectory
from headway.report.build import run_view
from headway.report.page import Report
from headway.report.page.packing import unpack
from headway.report.page.run_payload import MOST_BYTES, run_payload

LAYERS, HEADS = 4, 6


def test_scores_of_heads_are_a_family_and_everything_else_is_as_before():
    run = run_payload(telemetry_view())
    family = [each["array"] for each in run["measures"] if each.get("family") == "head_scores"]
    assert family == [f"head_scores/{name}" for name in SCORES]
    assert all("family" not in each for each in run_payload(heads_view())["measures"])
    assert not any(each.get("family") for each in run_payload(made_view("minimal"))["measures"])


def test_very_many_heads_and_lags_are_thinned_to_what_a_page_can_hold():
    small = made_telemetry()
    times = np.arange(1000)
    big = np.zeros((1, 1000, 8, 16, 64), np.float32)
    big[:, -1] = 1
    arrays = {"loss": np.ones((1, 1000), np.float32), "attention_by_lag": big}
    trajectory = Trajectory((0,), {"evaluation": times}, arrays, dict.fromkeys(arrays, "evaluation"))
    run = run_payload(run_view("big", telemetry_view().settings, trajectory, {}))
    packed = run["arrays"]["attention_by_lag"]
    assert 4 * np.prod(packed["shape"]) <= MOST_BYTES
    kept = run["clocks"]["attention_by_lag "]
    assert len(kept) == packed["shape"][1] and (kept[0], kept[-1]) == (0, 999)
    assert unpack(packed)[0, -1].min() == 1
    assert "attention_by_lag " not in run_payload(run_view("small", telemetry_view().settings, small, {}))["clocks"]


@pytest.fixture(scope="module", params=[1280, 400])
def once(request, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    report = Report("Telemetry", "", (telemetry_view(), heads_view()))
    yield from Opened.once(browser, tmp_path_factory.mktemp("pages"), report, request.param)


@pytest.fixture
def opened(once: Opened) -> Iterator[Opened]:
    yield from once.as_when_opened()


def _spread(values: np.ndarray) -> float:
    """Of the heads at the end, in parts of the charts' range, (time, layer, head)."""
    return float(np.nanmax(values[-1]) - np.nanmin(values[-1])) / (
        max(0, np.nanmax(values)) - min(0, np.nanmin(values))
    )


@pytest.mark.browser
class TestInTheBrowser:
    def test_every_head_has_a_chart_of_the_score_in_which_heads_differ_most(self, opened: Opened):
        page = opened.page
        assert page.locator("#scores .score-cell").count() == LAYERS * HEADS
        assert page.locator("#scores .score-cell.absent").count() == 1
        spread = {name: _spread(values[0]) for name, values in made_telemetry().arrays.items() if "head_scores" in name}
        assert page.locator("#scores select").input_value() == max(spread, key=spread.get)
        assert page.locator("#scores select option").count() == len(SCORES)
        assert page.locator("#measures").is_hidden()

    def test_another_score_is_drawn_when_it_is_chosen_and_the_slider_reads_it(self, opened: Opened):
        page = opened.page
        page.locator("#scores select").select_option("head_scores/previous_token")
        opened.settle()
        cell = page.locator("#scores .score-cell").nth(1)
        values = made_telemetry()["head_scores/previous_token"][0, :, 0, 1]
        for place in (0, 30, len(TIMES) - 1):
            page.evaluate("(time) => headway.selection.set({ time })", place)
            opened.settle()
            shown = float(cell.locator("figcaption .quiet").text_content().replace("−", "-"))
            assert shown == pytest.approx(values[place], rel=0.06)

    def test_a_click_on_a_chart_moves_the_slider(self, opened: Opened):
        page = opened.page
        chart = page.locator("#scores .score-cell svg").first
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        page.mouse.click(box["x"] + 2, box["y"] + box["height"] / 2)
        opened.settle()
        assert page.evaluate("headway.selection.state.time") < 5

    def test_probes_that_failed_are_named_and_marked(self, opened: Opened):
        notice = opened.page.locator("#scores .probe-failures")
        words = notice.text_content()
        assert words.startswith(f"2 probes of {len(TIMES)} failed, at steps {TIMES[FAILED[0]]} and {TIMES[FAILED[1]]}")
        assert ERROR in words  # as text, and not as markup
        assert notice.locator("b").count() == 0
        assert opened.page.locator("#scores .score-cell").first.locator(".failed").count() == len(FAILED)
        opened.page.evaluate("(time) => headway.selection.set({ time })", FAILED[0])
        opened.settle()
        assert opened.page.locator("#scores .score-cell figcaption .quiet").first.text_content() == "–"

    def test_attention_by_lag_follows_the_slider(self, opened: Opened):
        page = opened.page
        chart = page.locator("#lags .small-chart").nth(1)
        said = []
        for place in (0, len(TIMES) - 1):
            page.evaluate("(time) => headway.selection.set({ time })", place)
            opened.settle()
            said.append(chart.locator("figcaption .quiet").text_content())
        assert "most at lag 2" in said[1] and said[0] != said[1]

    def test_nothing_is_wider_than_the_window(self, opened: Opened):
        wide = opened.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0

    def test_a_run_without_scores_shows_none(self, opened: Opened):
        opened.page.evaluate("headway.selection.set({ run: 1, time: 3 })")
        opened.settle()
        assert opened.page.locator("#scores").is_hidden()
