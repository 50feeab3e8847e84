"""The first screen says what happened, moves once and then is still; a link shows the same view to somebody else."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page
from tests.report.conftest import Opened, still
from tests.report.made_run import made_report, made_settings, made_view

from headway.analysis import competition, mass_per_block
from headway.report.page import write_page

pytestmark = pytest.mark.browser

FIRST = made_view("minimal, as-run")
SECOND = made_view("minimal, printed", made_settings(8), seeds=(5, 6))
SIZES = ((1280, 900), (400, 900))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(tmp_path_factory.mktemp("first") / "it.html", made_report(runs=(FIRST, SECOND)))


@pytest.fixture(scope="module")
def _loaded(browser: Browser, written: Path) -> Iterator[Opened]:
    it = Opened.at(still(browser), written)
    it.page.evaluate("window.fresh = { ...headway.selection.state }")
    yield it
    it.page.context.close()


@pytest.fixture
def loaded(_loaded: Opened) -> Iterator[Opened]:
    yield from _loaded.as_when_opened()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_sentence_slider_curve_and_picture_are_on_the_first_screen(loaded, width, height):
    loaded.page.set_viewport_size({"width": width, "height": height})
    loaded.page.evaluate("scrollTo(0, 0)")
    loaded.settle()
    loaded.settle()
    title = loaded.text("#watch-title")
    assert title == "minimal, as-run: A Markov chain with vocabulary size 50 and 3 blocks of lags"
    assert loaded.text("#summary .chosen").count(".") >= 1 and "entered stage 3 of 3" in loaded.text("#summary .chosen")
    for part in ("#summary .chosen", "#time", "#narration", "#combined canvas"):
        box = loaded.page.locator(part).bounding_box()
        assert box is not None and box["y"] + box["height"] <= height, part
    for panel in (0, 1):  # the loss, and KL to each rung
        box = loaded.page.locator("#charts .nsewdrag").nth(panel).bounding_box()
        assert box is not None and box["y"] + box["height"] <= height, panel
    assert loaded.overflow() <= 0
    loaded.page.set_viewport_size({"width": 1280, "height": 900})
    loaded.settle()


def test_on_a_phone_the_numbers_of_each_seed_keep_their_headings(loaded):
    loaded.page.set_viewport_size({"width": 400, "height": 900})
    loaded.settle()
    loaded.page.evaluate("document.querySelectorAll('.verdicts details').forEach((each) => { each.open = true; })")
    loaded.settle()
    headings = loaded.page.locator(".verdicts table.numbers").first.locator("thead th")
    assert headings.all_inner_texts() == ["seed", "value", "holds"] and headings.first.is_visible()
    assert loaded.overflow() <= 0
    loaded.page.set_viewport_size({"width": 1280, "height": 900})
    loaded.settle()


def test_how_to_read_it_folds_open_beside_the_view(loaded):
    assert loaded.page.locator("#reading").is_hidden()
    loaded.click("#read")
    reading, view = (loaded.page.locator(part).bounding_box() for part in ("#reading", "#views"))
    assert reading["x"] >= view["x"] + view["width"] and reading["y"] < 900
    assert loaded.page.get_attribute("#read", "aria-expanded") == "true"
    assert "KL(rung ‖ model)" in loaded.text("#reading-words") and "not always the nearest rung" in loaded.text(
        "#reading-words"
    )
    words = loaded.text("#reading-words")
    assert "a ladder of rungs 0 to 3: rung 0 is uniform, rung 3 the truth." in words
    assert "where KL to uniform (rung 0, hidden in the chart at first) and KL to rung 1 are equally far above" in words
    assert "lags 1–2" in words and loaded.page.locator("#task-drawing svg").is_visible()
    loaded.press("?")
    assert loaded.page.locator("#reading").is_hidden()
    loaded.press("?")
    assert loaded.page.locator("#reading").is_visible()
    loaded.press("Escape")
    assert loaded.page.locator("#reading").is_hidden()


def playing(page: Page) -> bool:
    return page.evaluate("headway.selection.state.playing")


def test_it_moves_on_its_own_once_and_then_is_still(browser, written):
    page = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="no-preference").new_page()
    page.clock.install()  # the page's own time, so that it need not be waited for
    page.goto(written.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.clock.run_for(1_000)
    assert playing(page)
    page.clock.run_for(20_000)
    assert not playing(page)
    last = page.evaluate("headway.report.runs[0].times.length - 1")
    assert page.evaluate("headway.selection.state.time") == last
    page.reload()
    page.wait_for_selector("html[data-ready]")
    page.click("h1")  # whoever touches anything wants to look
    assert not playing(page)
    page.context.close()


def test_who_asks_for_less_motion_gets_none(loaded):
    assert not playing(loaded.page)
    assert loaded.page.evaluate("window.fresh.time") == loaded.page.evaluate("headway.report.runs[0].times.length - 1")


ADDRESSED = """(part) => new Promise((done) => {
    const asking = setInterval(() => location.hash.includes(part) && done(clearInterval(asking)), 20);
})"""  # the page's policy forbids to wait for a condition in the usual way


def test_the_address_shows_the_same_view_again(browser, loaded, written):
    loaded.choose("#seed", "2")
    loaded.move(40)
    loaded.click("#compare")
    loaded.choose("#lay", "overlaid")
    loaded.click("#log-value")
    loaded.click("#combined .key >> nth=1")
    loaded.page.evaluate(ADDRESSED, "muted=2")
    hash_ = loaded.page.evaluate("location.hash")
    step = loaded.step()
    again = Opened.at(browser.new_context(viewport={"width": 1280, "height": 900}), written, hash_)
    assert again.step() == step and not playing(again.page)
    names = ("run", "seed", "time", "other", "otherSeed", "over", "logValue", "align", "ladder")
    picked = (
        f"(({{ {', '.join(names)}, muted }}) => ({{ {', '.join(names)}, muted: [...muted] }}))(headway.selection.state)"
    )
    assert again.page.evaluate(picked) == loaded.page.evaluate(picked)
    again.check()
    again.page.context.close()


def test_an_address_that_asks_for_what_is_not_there_opens_as_usual(js):
    run = {"label": "a", "seeds": [3, 4], "times": [0, 1, 9], "layers": 1, "arrays": {}, "measures": []}
    report = {"runs": [{**run, "clock": {"word": "step"}}]}
    usual = {"run": 0, "logTime": True, "over": False, "align": "clock"}
    asked = "#run=b&seed=7&step=x&layer=9&beside=c"
    state = js("address", "m.read(report, asked, usual)", report=report, asked=asked, usual=usual)
    assert (state["run"], state["seed"], state["time"], state["layer"], state["other"]) == (0, 0, 2, 0, -1)


def test_two_runs_lie_over_each_other_in_one_chart(loaded):
    count = "document.querySelectorAll('#charts .plot .scatterlayer .trace').length"
    alone = loaded.page.evaluate(count)
    loaded.click("#compare")
    loaded.choose("#lay", "overlaid")
    assert loaded.page.evaluate(count) > alone
    assert loaded.page.locator("#second .plot").is_hidden() and loaded.page.locator("#second .combined").is_visible()
    assert "minimal, printed, seed 5" in loaded.text("#chart-legend")
    loaded.choose("#lay", "side by side")
    assert loaded.page.locator("#second .plot").is_visible() and loaded.page.evaluate(count) == alone


def test_the_heads_shares_and_their_competition_stand_on_the_charts_time_axis(loaded):
    assert loaded.page.locator("#charts .bands").is_visible()
    assert "Competition index" in loaded.page.locator("#charts .bands").text_content()
    marker, bands = (loaded.page.locator(part).bounding_box() for part in ("#charts .marker", "#charts .bands"))
    assert marker["y"] + marker["height"] >= bands["y"] + bands["height"] - 12  # it goes through them
    loaded.page.locator("#charts .bands").evaluate("(node) => node.scrollIntoView({ block: 'center' })")
    area = loaded.page.locator("#charts .plot .nsewdrag").first.bounding_box()
    box = loaded.page.locator("#charts .bands").bounding_box()
    loaded.page.mouse.click(area["x"] + 0.5 * area["width"], box["y"] + box["height"] / 2)
    loaded.settle()
    assert loaded.marker() == pytest.approx(0.5, abs=0.02)


def test_the_index_on_the_page_is_the_one_of_the_analysis(js):
    rng = np.random.default_rng(0)
    attention = rng.dirichlet(np.ones(6), size=4)
    blocks = ((1, 2), (3, 4), (5, 6))
    mass = mass_per_block(attention, blocks)
    masses = [{"blocks": row.tolist()} for row in np.asarray(mass)]
    assert js("bands", "m.competitionOf(masses)", masses=masses) == pytest.approx(float(competition(mass)), rel=1e-12)
    assert js("bands", "Number.isNaN(m.competitionOf([{ blocks: [1] }]))")


def test_the_shares_of_a_head_are_stacked_and_never_leave_their_band(js):
    shares = [[0.5, 0.25], [0.8, 0.8]]  # overlapping blocks may sum to more than one
    paths = js("bands", "m.areas(shares, [0, 10], 0, 20)", shares=shares)
    assert paths[0] == "M 0.0 10.0 L 10.0 10.0 L 10.0 20.0 L 0.0 20.0 Z"
    assert paths[1].startswith("M 0.0 5.0 L 10.0 0.0")
