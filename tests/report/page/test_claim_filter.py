"""Which claims are shown: by verdicts that can be seen, by words of a claim or of its paper; papers without one go."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser
from tests.report.conftest import Opened
from tests.report.made_run import made_findings, made_report

from headway.records import Finding
from headway.report.page.results import Highlight, Paper

pytestmark = pytest.mark.browser

PAPERS = (
    Paper("A", "A paper of chains", "Ada and Bob, 2026", "Tokens follow each other.", (), "A"),
    Paper("B", "A paper of recall", "Cleo, 2025", "Name the value.", (), "B"),
)


def finding(claim: str, *, run: bool = True) -> Finding:
    made = replace(made_findings()[0][1], claim=claim, statement=f"What {claim} says.")
    return made if run else replace(made, seeds=(), values=(), holds=(), interval=None)


FINDINGS = (
    *(("as-run", finding(f"A{k}", run=k < 6)) for k in range(1, 7)),
    *(("quick", finding(f"A{k}", run=k == 1)) for k in range(1, 7)),  # too few for a column
    ("as-run", finding("B1")),
)


@pytest.fixture(scope="module")
def _filtered(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    highlights = (Highlight("In order.", "A1", "as-run", "holds", "4 of 4"),)
    report = made_report(findings=FINDINGS, highlights=highlights, papers=PAPERS, unlisted=3)
    yield from Opened.once(browser, tmp_path_factory.mktemp("filter"), report)


@pytest.fixture
def filtered(_filtered: Opened) -> Iterator[Opened]:
    _filtered.page.fill("#claim-words", "")
    _filtered.page.locator("#claims .option").first.click()
    yield from _filtered.as_when_opened()


def seen(it: Opened) -> list[str]:
    it.settle()
    return it.page.locator(".claim-name:visible").all_inner_texts()


def papers(it: Opened) -> list[str]:
    return it.page.locator(".paper-section h2:visible").all_inner_texts()


def test_claims_that_were_not_run_are_counted_by_whether_they_are_listed(filtered):
    words = filtered.page.locator(".counting").text_content()
    assert "1 listed claim was not run. 3 further claims, of experiments that have not been run here, are" in words


def test_a_verdict_counts_where_it_has_a_column(filtered):
    assert "quick" not in filtered.page.locator("#paper-A .claim-head span").all_inner_texts()
    button = filtered.page.locator("#claims .option", has_text="not run")
    assert button.inner_text() == "– not run 1"
    button.click()
    assert seen(filtered) == ["A6"]
    visible = filtered.page.locator(".claim-row:visible")
    assert visible.count() == visible.filter(has=filtered.page.locator(".badge.not-run")).count()


def test_papers_without_a_hit_are_hidden_and_a_paper_is_found_by_title_and_authors(filtered):
    assert papers(filtered) == ["A paper of chains", "A paper of recall"]
    for words, claims, paper in (("cleo", ["B1"], "A paper of recall"), ("A3", ["A3"], "A paper of chains")):
        filtered.page.fill("#claim-words", words)
        assert seen(filtered) == claims and papers(filtered) == [paper]
    filtered.page.fill("#claim-words", "chains bob")
    assert seen(filtered) == [f"A{k}" for k in range(1, 7)]
    filtered.page.fill("#claim-words", "nothing of the kind")
    assert seen(filtered) == [] == papers(filtered)


@pytest.mark.parametrize("link", [".contents a[href='#paper-A']", ".finding a[aria-label='claim A1']"])
def test_a_link_to_what_is_hidden_shows_all_again(filtered, link):
    filtered.page.fill("#claim-words", "B1")
    assert seen(filtered) == ["B1"]
    filtered.click(link)
    assert len(seen(filtered)) == 7 and filtered.page.input_value("#claim-words") == ""
    assert len(papers(filtered)) == 2


def test_contents_do_not_take_a_hidden_paper_for_one_that_was_passed(filtered):
    filtered.page.fill("#claim-words", "nothing of the kind")
    filtered.page.evaluate("scrollTo(0, 1); scrollTo(0, 0)")
    filtered.settle()
    filtered.settle()
    assert filtered.page.locator(".contents a[aria-current]").inner_text() == "Findings"


def test_a_finding_that_no_figure_shows_has_no_box_for_one(filtered):
    assert filtered.page.locator(".finding").count() == 1
    assert filtered.page.locator(".finding .stamp").count() == 0
