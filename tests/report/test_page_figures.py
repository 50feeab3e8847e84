"""A verdict leads to its figures, and what is asked for is what is shown."""

import io
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser
from tests.report.conftest import Opened
from tests.report.made_run import made_figures, made_findings, made_png, made_report

from headway.records import Finding
from headway.report.page import FigureGroup, Report

pytestmark = pytest.mark.browser

EXPERIMENTS = ("stages", "ladder", "attention")
GRIDS = ("printed", "as-run", "quick")


def claim(name: str, holding: int, figures: str, **changes: object) -> Finding:
    """A claim of four seeds, of which the first `holding` show it."""
    made = replace(made_findings()[0][1], claim=name, statement=f"What {name} says.", figures=figures, **changes)
    return replace(made, holds=tuple(seed < holding for seed in range(4)))


def not_run(finding: Finding) -> Finding:
    return replace(finding, seeds=(), values=(), holds=(), interval=None)


CLAIMS = (
    ("printed", claim("A1", 4, "stages-printed")),
    ("as-run", claim("A1", 1, "stages-as-run")),
    ("quick", not_run(claim("A1", 0, "stages-quick"))),
    ("as-run", claim("A1 minimal", 4, "stages-as-run")),
    ("as-run", claim("A4", 3, "attention-as-run", detail="Two heads keep the newest block.")),
    ("as-run", claim("A10", 4, "absent-as-run", definition="With little data the best rung is lower.")),
)


def with_figures(**changes: object) -> Report:
    """Verdicts and figures without a run."""
    figures = made_figures(*EXPERIMENTS, grids=GRIDS)
    return made_report(**({"runs": (), "findings": CLAIMS, "figures": figures} | changes))


@pytest.fixture(scope="module")
def _large(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    yield from Opened.once(browser, tmp_path_factory.mktemp("large"), with_figures())


@pytest.fixture(scope="module")
def _small(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    figures = made_figures("stages", grids=("as-run",))
    report = with_figures(findings=CLAIMS[3:], figures=figures)
    yield from Opened.once(browser, tmp_path_factory.mktemp("small"), report)


@pytest.fixture
def large(_large: Opened) -> Iterator[Opened]:
    """Nine groups of figures on three grids, all closed, and four claims, all shown; one window serves all tests."""
    _large.page.fill("#claim-words", "")
    reset = """() => {
        for (const options of document.querySelectorAll(".options")) options.firstChild.click();
        for (const group of document.querySelectorAll("details.figure-group")) group.open = false;
        scrollTo(0, 0);
    }"""
    _large.page.evaluate(reset)
    _large.settle()
    yield _large
    _large.check()


@pytest.fixture
def small(_small: Opened) -> Iterator[Opened]:
    """One group of two figures, and three claims on one grid."""
    yield _small
    _small.check()


def names(*experiments: str, grids: tuple[str, ...] = GRIDS) -> list[str]:
    return [f"figures-{experiment}-{grid}" for experiment in experiments for grid in grids]


def found(it: Opened, selector: str) -> list[str]:
    return [group.get_attribute("id") or "" for group in it.page.locator(selector).all()]


def shown_groups(it: Opened) -> list[str]:
    return found(it, ".figure-group:visible")


def open_groups(it: Opened) -> list[str]:
    return found(it, "details.figure-group[open]")


def stands_at_the_top(it: Opened, group: str) -> bool:
    """Whether the window begins with the group, or has come as near to it as the end of the page lets it."""
    place = """(group) => {
        const below = document.documentElement.scrollHeight - innerHeight - scrollY;
        return [group.getBoundingClientRect().top, below];
    }"""
    top, below = it.page.eval_on_selector(f"#{group}", place)
    return 0 <= top < 40 or (below < 1 and 0 <= top < 850)


def test_a_verdict_leads_to_its_figures_through_a_closed_group_and_a_hidden_grid(large):
    large.click("#figures .option:text-is('printed')")
    assert "figures-stages-as-run" not in shown_groups(large)
    link = large.page.get_by_role("link", name="figures of A1, as-run", exact=True)
    link.click()
    large.settle()
    assert open_groups(large) == ["figures-stages-as-run"]
    assert shown_groups(large) == names(*EXPERIMENTS, grids=("as-run",))
    assert large.page.get_attribute("#figures .option:text-is('as-run')", "aria-pressed") == "true"
    assert stands_at_the_top(large, "figures-stages-as-run")
    large.click("#figures-stages-as-run > summary")
    link.click()  # the address is the same as before, and still the group opens
    large.settle()
    assert open_groups(large) == ["figures-stages-as-run"]
    assert stands_at_the_top(large, "figures-stages-as-run")


def test_a_heading_says_what_came_of_its_claims_on_its_grid(large):
    def badges(group: str) -> list[str]:
        return large.page.locator(f"#figures-{group} h3 .badge").all_inner_texts()

    assert badges("stages-as-run") == ["as-run", "A1 ✕ 1 of 4", "A1 minimal ✓ 4 of 4"]
    assert badges("stages-printed") == ["printed", "A1 ✓ 4 of 4"]
    assert badges("stages-quick") == ["quick"]  # it was not run there


def test_a_link_leaves_all_grids_in_sight_where_all_were(large):
    large.page.get_by_role("link", name="figures of A1, printed", exact=True).click()
    large.settle()
    assert open_groups(large) == ["figures-stages-printed"]
    assert shown_groups(large) == names(*EXPERIMENTS)


@pytest.mark.parametrize("just_opened", [False, True])
def test_an_address_leads_to_the_figures_too(large, just_opened):
    large.click("#figures .option:text-is('as-run')")
    there = f"{large.page.url.split('#')[0]}#figures-attention-printed"
    if just_opened:
        large.page.goto("about:blank")
    large.page.goto(there)
    large.page.wait_for_selector("html[data-ready]")
    large.settle()
    assert open_groups(large) == ["figures-attention-printed"]
    assert "figures-attention-printed" in shown_groups(large)
    assert stands_at_the_top(large, "figures-attention-printed")


def test_a_verdict_without_figures_on_the_page_has_no_link(large):
    links = [link.get_attribute("href") for link in large.page.locator(".verdicts a").all()]
    assert links == [f"#figures-{finding.figures}" for _, finding in CLAIMS[:-1]]


def test_many_groups_cost_nothing_until_they_are_opened_and_a_few_lie_open(large, small):
    group = "#figures-ladder-quick"
    assert large.page.locator(f"{group} img").count() == 0
    large.click(f"{group} > summary")
    large.page.wait_for_selector(f"{group} img")
    assert large.page.locator(f"{group} img").count() == 2
    assert small.page.locator("details.figure-group").count() == 0
    assert small.page.locator(".figure-group img").count() == 2


def test_the_grid_chooser_hides_the_figures_of_other_grids(large, small):
    assert shown_groups(large) == names(*EXPERIMENTS)
    large.click("#figures .option:text-is('quick')")
    assert shown_groups(large) == names(*EXPERIMENTS, grids=("quick",))
    large.click("#figures .option:text-is('all grids')")
    assert shown_groups(large) == names(*EXPERIMENTS)
    assert small.page.locator("#figures .option").count() == 0  # with one grid there is nothing to choose


def test_a_figure_is_shown_described_and_downloaded_as_it_was_given(small):
    image = small.page.locator("#figures img").first
    image.scroll_into_view_if_needed()
    image.evaluate("(image) => image.decode()")
    assert image.evaluate("(image) => [image.naturalWidth, image.naturalHeight]") == [880, 384]
    assert image.get_attribute("loading") == "lazy"
    assert image.get_attribute("alt") == "excess loss, as-run. What stages shows, in one line."
    with small.page.expect_download() as started:
        small.page.get_by_role("button", name="PNG of excess loss").click()
    (group,) = made_figures("stages", grids=("as-run",))
    assert started.value.suggested_filename == "stages-as-run-excess-loss.png"
    saved, given = (Image.open(each) for each in (started.value.path(), io.BytesIO(group.figures[0][1])))
    assert saved.format == "PNG"
    np.testing.assert_array_equal(np.asarray(saved.convert("RGB")), np.asarray(given.convert("RGB")))


def test_in_the_dark_figures_keep_their_white_paper(small):
    colour = "(node) => getComputedStyle(node).backgroundColor"
    small.page.emulate_media(color_scheme="dark")
    assert small.page.eval_on_selector("body", colour) != "rgb(255, 255, 255)"
    assert small.page.eval_on_selector("#figures .paper", colour) == "rgb(255, 255, 255)"
    small.page.emulate_media(color_scheme="light")


def test_figures_fit_their_frames_with_letters_that_can_be_read_and_are_enlarged_within_them(opened):
    """On a phone a figure is at least 0.55 of its pixels wide, which keeps 8 points above 9 pixels."""
    it = opened(with_figures(), width=400)
    widths = "(images) => images.map((image) => image.getBoundingClientRect().width)"
    it.page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    it.page.wait_for_selector("#figures-attention-quick img")
    assert it.page.locator("#figures img").count() == 18
    for width, least, most in ((400, 0.54 * 880, 0.56 * 1600), (1280, 560, 720)):
        it.page.set_viewport_size({"width": width, "height": 900})
        it.settle()
        assert it.overflow() <= 0
        fitted = it.page.eval_on_selector_all("#figures img", widths)
        assert least < min(fitted) and max(fitted) < most
    papers = it.page.locator("#figures-stages-as-run .paper").all()
    for paper in papers:
        paper.click()
    for width, scale in ((1280, 1), (400, 0.8)):
        it.page.set_viewport_size({"width": width, "height": 900})
        it.settle()
        enlarged = it.page.eval_on_selector_all("#figures-stages-as-run img", widths)
        assert enlarged == pytest.approx([scale * 880, scale * 1600])
        assert it.overflow() <= 0


def claims_left(it: Opened, verdict: str, words: str = "") -> list[str]:
    """Choose a verdict, type words, and read which claims are still there."""
    it.page.locator("#verdicts .option", has_text=verdict).click()
    it.page.fill("#claim-words", words)
    it.settle()
    left = [name.inner_text() for name in it.page.locator(".verdicts .claim:visible").all()]
    where = "" if verdict == "all" else f": {verdict} on at least one grid"
    assert it.text("#verdicts output") == f"{len(left) or 'none'} of 4 claims{where}"
    return left


def test_claims_are_chosen_by_their_verdict_on_any_grid(large):
    """A1 holds as printed and fails as run: both find it, and the page says so."""
    assert claims_left(large, "all") == ["A1", "A1 minimal", "A4", "A10"]
    assert claims_left(large, "holds") == ["A1", "A1 minimal", "A10"]
    assert claims_left(large, "partly") == ["A4"]
    assert claims_left(large, "fails") == ["A1"]
    assert claims_left(large, "not run") == ["A1"]  # on one of its grids
    assert "1 claim has another verdict on another grid." in large.text("#verdicts")


def test_claims_are_chosen_by_name_and_by_words(large):
    assert claims_left(large, "all", "a1") == ["A1", "A1 minimal"]  # a whole name: A10 is another claim
    assert claims_left(large, "all", "A1 Minimal") == ["A1 minimal"]
    assert claims_left(large, "all", "little RUNG") == ["A10"]  # in its definition
    assert claims_left(large, "all", "heads") == ["A4"]  # in what was found
    assert claims_left(large, "fails", "a1") == ["A1"]
    assert claims_left(large, "partly", "a1") == []


def test_a_verdict_that_nothing_got_cannot_be_chosen(small):
    states = {option.inner_text(): option.is_disabled() for option in small.page.locator("#verdicts .option").all()}
    assert states == {"all 3": False, "✓ holds 2": False, "◐ partly 1": False, "✕ fails 0": True, "– not run 0": True}


def test_hostile_texts_around_figures_are_shown_and_not_run(opened):
    hostile = "</script><img src=x onerror='window.broken = true'>"
    (group,) = made_figures("stages", grids=("as-run",))
    named = tuple((hostile, content) for _, content in group.figures)
    it = opened(with_figures(figures=(replace(group, title=hostile, grid=hostile, figures=named),)))
    assert it.page.evaluate("window.broken") is None
    assert it.page.locator("#figures img").count() == 2
    assert it.text("#figures h3").count(hostile) == 2


def test_figures_of_somebodys_own_runs_are_named_after_the_runs(opened):
    figures = (("figure-1", made_png(100)), ("excess-loss", made_png(101)))
    own = FigureGroup("stages-quick", "stages: KL to the rungs.", "quick", figures, own="stages, quick")
    paper = FigureGroup("stages-as-run", "Paper A, Figure 1: KL to the rungs.", "as-run", figures)
    it = opened(made_report(figures=(own, paper)))
    captions = it.page.locator("#figures figcaption").all_inner_texts()
    names = ("stages, quick", "stages, quick: excess loss", "figure 1, as-run", "excess loss, as-run")
    assert [each[: len(name)] for each, name in zip(captions, names, strict=True)] == list(names)
    assert it.page.locator("#figures h3").first.inner_text().startswith("stages: KL to the rungs.")
