"""The page of results: what was found comes first, contents stay in sight, claims stand under their papers."""

from collections.abc import Iterator
from typing import get_args

import pytest
from playwright.sync_api import Browser
from tests.report.conftest import Opened
from tests.report.made_run import made_figures, made_report

from headway.records import Verdict
from headway.report.page.results import Highlight, Paper, TaskPicture

pytestmark = pytest.mark.browser

LEFT = (0.0, 0.0, 0.5, 1.0)
PICTURE = TaskPicture(("a", "7", "b", "?"), ((1, 3, 0), (0, 2, 1)), "name the value")
PAPERS = (
    Paper("A", "A paper of chains", "2026", "Tokens follow each other.", (PICTURE,), "A"),
    Paper("Q", "A paper without runs", "2026", "Nothing was run.", (PICTURE,), "Q"),
)


@pytest.fixture(scope="module")
def _results(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    usual = made_report("What was found")
    names = list(dict.fromkeys(finding.claim for _, finding in usual.findings))
    highlights = (
        Highlight(
            "The rungs come in order, as d^0.49.",
            names[0],
            "quick",
            "holds",
            "4 of 4",
            "stages-quick",
            "excess-loss",
            (0.5, 0.0, 1.0, 0.8),
            brief="In order (4 of 4 seeds).",
        ),
        Highlight("Heads divide the blocks.", names[1], "quick", "partly", "3 of 4", "stages-quick", "none", LEFT),
        Highlight("Not run yet: something.", names[-1], "quick", "not run", ""),
    )
    titles = {names[0]: "rungs in order"}
    figures = made_figures("stages", grids=("quick",))
    report = made_report("What was found", highlights=highlights, papers=PAPERS, titles=titles, figures=figures)
    yield from Opened.once(browser, tmp_path_factory.mktemp("results"), report)


@pytest.fixture
def results(_results: Opened) -> Iterator[Opened]:
    yield from _results.as_when_opened()


def test_the_findings_are_on_the_first_screen_with_claim_and_verdict(results):
    results.page.evaluate("scrollTo(0, 0)")
    cards = results.page.locator(".finding")
    assert cards.count() == 3
    line = results.page.locator(".first-findings li")
    assert line.all_inner_texts() == ["In order (4 of 4 seeds). ✓ holds"]
    assert line.bounding_box()["y"] + line.bounding_box()["height"] < 400
    first, _, second = cards.all_inner_texts()
    assert "The rungs come in order, as d0.49." in first
    assert "as-run ✓ holds 4 of 4 · quick ✓ holds 4 of 4 seeds" in first  # a badge for each grid, the counted one first
    assert results.page.locator(".finding sup").inner_text() == "0.49"
    assert "Not run yet" in second and "– not run" in second
    lead = results.text(".introduction")
    assert lead == "Of 3 claims tested, 1 holds in every seed, 1 in at least half of the seeds and 1 in fewer."
    results.click(".counting > summary")
    assert "3 from 1 paper" in results.text(".counting")
    assert "There are no runs of “A paper without runs”." in results.text(".counting")
    results.click(".counting > summary")


def test_a_line_of_the_first_screen_leads_to_its_finding_and_findings_stand_under_their_paper(results):
    results.page.evaluate("scrollTo(0, 0)")
    link = results.page.locator(".first-findings a")
    card = results.page.locator(link.get_attribute("href"))
    assert "The rungs come in order" in card.inner_text()
    assert results.page.locator("#findings h3").all_inner_texts() == ["A paper of chains"]
    link.click()
    results.settle()
    assert 0 <= card.bounding_box()["y"] < 900
    results.page.evaluate("scrollTo(0, 0)")


SIZES = """(frame) => { const image = frame.querySelector("img");
    return [frame.clientWidth, frame.clientHeight, image.clientWidth, image.clientHeight,
            image.offsetLeft, image.offsetTop]; }"""


@pytest.mark.parametrize(("width", "least"), [(400, 330), (1280, 440)])
def test_the_picture_of_a_finding_is_the_part_of_a_figure_that_can_be_read(results, width, least):
    """Half of the figure is as wide as the card, so that its letters are twice as large; nothing is squeezed."""
    results.page.set_viewport_size({"width": width, "height": 900})
    results.settle()
    part, whole = (frame.evaluate(SIZES) for frame in results.page.locator(".stamp .stamp-part").all())
    results.page.set_viewport_size({"width": 1280, "height": 900})
    wide, high, image_wide, image_high, left, top = part
    assert wide / high == pytest.approx(0.5 * 880 / (0.8 * 384), rel=0.02)
    assert (image_wide, -left, top) == (pytest.approx(2 * wide, abs=2), pytest.approx(wide, abs=2), 0)
    assert image_wide / image_high == pytest.approx(880 / 384, rel=0.02)
    assert whole[0] >= least and whole[0] == pytest.approx(whole[2], abs=1), "another figure is shown as a whole"


def test_a_picture_is_cut_within_itself():
    with pytest.raises(ValueError, match="wanted left < right"):
        Highlight("It.", "A1", "quick", "holds", "4 of 4", crop=(0.5, 0.0, 0.2, 1.0))


def test_contents_stay_in_sight_and_lead_to_every_part(results):
    entries = results.page.locator(".contents a")
    assert entries.all_inner_texts()[:2] == ["Findings", "A paper of chains"]
    for entry in entries.all():
        target = results.page.locator(entry.get_attribute("href"))
        assert target.is_visible()
    results.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    results.settle()
    assert results.page.locator(".contents a[aria-current]").count() == 1
    assert entries.first.get_attribute("aria-current") is None  # the reader is further down
    assert entries.first.is_visible() and 0 <= entries.first.bounding_box()["y"] < 900
    results.page.evaluate("scrollTo(0, 0)")


def test_a_paper_shows_its_task_in_a_picture_and_its_claims_beneath_without_empty_columns(results):
    paper = results.page.locator("#paper-A")
    assert paper.locator(".task-picture .token").count() == 4 and paper.locator(".arc").count() == 2
    picture, claims = (paper.locator(part).bounding_box() for part in (".task-picture", ".claim-list"))
    assert claims["y"] >= picture["y"] + picture["height"]
    heads = paper.locator(".claim-head span").all_inner_texts()[2:]
    for k, grid in enumerate(heads):
        assert paper.locator(f".cell[data-grid='{grid}'] .badge").count() > 0, f"column {k} is empty"


def test_a_link_to_a_claim_opens_it(results):
    link = results.page.locator(".finding a[aria-label^=claim]").first
    row = results.page.locator(link.get_attribute("href"))
    assert row.get_attribute("open") is None
    link.click()
    results.settle()
    assert row.get_attribute("open") is not None and "It holds in a seed if" in row.inner_text()
    assert "rungs in order" in row.locator("summary").first.inner_text()


def test_the_runs_come_after_and_do_not_play_by_themselves(results):
    order = results.page.evaluate("[...document.querySelectorAll('main > section')].map((each) => each.id)")
    assert order.index("findings") < order.index("paper-A") < order.index("watch")
    assert results.page.locator("#watch #watch-title").is_visible()
    assert results.page.locator("#verdicts").is_hidden()


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (1280, "dark")])
def test_results_fit_their_window(results, photograph, width, scheme):
    results.page.set_viewport_size({"width": width, "height": 900})
    results.page.emulate_media(color_scheme=scheme)
    results.settle()
    assert results.overflow() <= 0
    photograph(results.page, f"results-{width}-{scheme}")
    results.page.set_viewport_size({"width": 1280, "height": 900})
    results.page.emulate_media(color_scheme="light")


LAWS = {
    "lasts 1.51 d^0.49 (T/B)^0.99 steps": "lasts 1.51 d<sup>0.49</sup> (T/B)<sup>0.99</sup> steps",
    "B^-0.80": "B<sup>−0.80</sup>",
    "sqrt(pi/2) sqrt(d) T": "√(pi/2) √d T",
    "N_pairs^2.25": "N<sub>pairs</sub><sup>2.25</sup>",
    "`headway watch` shows a^2": "<code>headway watch</code> shows a<sup>2</sup>",
    "f_{1:2} <b>": "f<sub>1:2</sub> &lt;b&gt;",
    "(sqrt(d) T / sqrt(p^2 d + (1-p)^2))^1.02": ("(√d T / √(p<sup>2</sup> d + (1-p)<sup>2</sup>))<sup>1.02</sup>"),
    "eigenvalue^-2": "eigenvalue<sup>−2</sup>",
    "max_a_b and f(x)": "max_a_b and f(x)",
}


@pytest.mark.parametrize("text", LAWS)
def test_a_law_has_one_notation(js, text):
    write = "(() => { const p = document.createElement('p'); p.append(...m.formula(text)); return p.innerHTML; })()"
    assert js("formula", write, text=text) == LAWS[text]


def finding(grid: str, verdict: str, claim: str = "A1", statement: str = "It holds.") -> dict[str, str]:
    return {"grid": grid, "verdict": verdict, "claim": claim, "statement": statement}


def test_a_claim_counts_once_by_the_first_grid_on_which_it_was_run(js):
    row = [finding("printed", "fails"), finding("quick", "holds"), finding("as-run", "partly")]
    assert js("counting", "m.mainVerdict(row)", row=row) == "partly"
    row[2]["verdict"] = "not run"
    assert js("counting", "m.mainVerdict(row)", row=row) == "fails"
    rule = js("counting", "m.ruleWords(row)", row=row)
    assert rule.endswith("or otherwise that on the first of printed and quick where it was tested.")
    assert js("counting", "m.ruleWords(row)", row=row[:1]) == ""
    counts = js("counting", "m.verdictCounts(verdicts)", verdicts=["holds", "fails", "holds", "not run"])
    assert counts == "2 hold, 1 fails, 1 not run"


def test_a_seed_that_cannot_be_judged_has_a_word_a_sign_and_a_count_of_its_own(js):
    open_ = {**finding("paper", "cannot be judged"), "holds": [None, False, True], "values": [None, 1.0, 2.0]}
    assert js("outcome", "[m.heldWords(found), m.unjudged(found)]", found=open_) == ["1 of 3", 1]
    assert len(set(js("outcome", "Object.values(m.SIGNS)"))) == len(get_args(Verdict))
    assert js("outcome", "Object.keys(m.SIGNS)") == list(get_args(Verdict))
    assert js("counting", "m.verdictCounts(['cannot be judged', 'holds'])") == "1 holds, 1 cannot be judged"
    rows = js("numbers", "m.verdictTable([found])", found={**open_, "quantity": "", "seeds": [0, 1, 2]})
    assert [row[-1] for row in rows] == ["holds", "cannot be judged", False, True]


def test_which_claims_are_ours_is_said_by_paper_title_or_statement(js):
    rows = [
        [finding("quick", "holds", claim, words)]
        for claim, words in (("A1", "It holds."), ("A2", "It holds."), ("H1", "It."), ("A3", "It. (Ours.)"))
    ]
    papers = [{"ours": "H"}, {}]
    ours = "rows.map((row) => m.isOurs(papers, titles, row))"
    assert js("counting", ours, rows=rows, papers=papers, titles={"A2": "it (ours)"}) == [False, True, True, True]
    titles = {"A1": "it (three heads, ours)", "A2": "it (ours, post hoc)"}
    assert js("counting", ours, rows=rows, papers=papers, titles=titles) == [True, True, True, True]
    late = "rows.map((row) => m.isPostHoc(titles, row))"
    assert js("counting", late, rows=rows, titles=titles) == [False, True, False, False]


def test_the_words_of_the_page_fold_open_where_a_link_leads_to_them(results):
    glossary = results.page.locator("#glossary details")
    assert glossary.get_attribute("open") is None
    results.page.locator('.contents a[href="#glossary"]').click()
    terms = glossary.locator("dt").all_inner_texts()
    assert {"stage", "turn", "boundary", "plateau", "competition index", "clarity of a plateau"} <= set(terms)
    assert glossary.locator("dd").count() == len(terms) and glossary.locator("dd").first.is_visible()
