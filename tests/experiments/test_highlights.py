"""What a page of results opens with is chosen by claims, and says no more than the records do."""

import re
from dataclasses import replace

import pytest

from headway.experiments import NAMES, find
from headway.experiments.highlights import HEADLINES, Headline, highlights
from headway.experiments.papers import PAPERS
from headway.records import Finding
from headway.report.page.results import TaskPicture

FOUR = Finding(
    "A1", "Rungs in order.", "", "ratio", (0, 1, 2, 3), (2.0, 2.5, 3.0, 2.5), (True,) * 4, figures="x-as-run"
)
SAYS = Headline("A1", "In {here.held} seeds, by {here.median} or {here.percent}.", "Only {here.held}: {here.median}.")


def only(*findings: tuple[str, Finding], headline: Headline = SAYS):
    (found,) = highlights(findings, {"A1": "rungs in order"}, [headline])
    return found


def test_a_sentence_takes_its_numbers_from_the_finding():
    found = only(("as-run", FOUR))
    assert found.sentence == "In 4 of 4 seeds, by 2.5 or 2.5e+02 %."
    assert (found.verdict, found.held, found.grid, found.figures) == ("holds", "4 of 4", "as-run", "")


def test_a_claim_has_a_picture_if_a_figure_shows_it():
    found = only(("as-run", FOUR), headline=replace(SAYS, figure="curves"))
    assert (found.figures, found.figure) == ("x-as-run", "curves")


def test_a_claim_that_fails_is_shown_so():
    failed = replace(FOUR, holds=(True, False, False, False))
    assert only(("as-run", failed)).sentence == "Only 1 of 4: 2.5."
    assert only(("as-run", failed)).verdict == "fails"
    silent = only(("as-run", failed), headline=replace(SAYS, fails=""))
    assert silent.sentence == "Not confirmed, in 1 of 4 seeds only: rungs in order."


def test_a_claim_that_was_not_run_is_shown_so():
    missing = replace(FOUR, seeds=(), values=(), holds=())
    found = only(("as-run", missing))
    assert found.sentence == "Not run yet: rungs in order." and (found.verdict, found.held) == ("not run", "")


def test_the_verdict_is_that_of_the_authors_settings_where_they_were_run():
    failed = replace(FOUR, holds=(False,) * 4)
    assert only(("printed", failed), ("as-run", FOUR)).grid == "as-run"
    missing = replace(FOUR, seeds=(), values=(), holds=())
    assert only(("printed", failed), ("as-run", missing)).verdict == "fails"


def test_a_sentence_about_two_grids_needs_both():
    both = Headline("A1", "{as_run.held} and {printed.held}")
    failed = replace(FOUR, holds=(False,) * 4)
    assert only(("printed", failed), ("as-run", FOUR), headline=both).sentence == "4 of 4 and 0 of 4"
    assert only(("as-run", FOUR), headline=both).sentence == "In 4 of 4 seeds: rungs in order."


def test_a_sentence_about_two_claims_needs_both():
    both = Headline("A1", "{here.held} and {beside.held}", beside="A1 balanced")
    other = replace(FOUR, claim="A1 balanced", holds=(True, True, False, False))
    assert only(("as-run", FOUR), ("as-run", other), headline=both).sentence == "4 of 4 and 2 of 4"
    assert only(("as-run", FOUR), ("printed", other), headline=both).sentence == "In 4 of 4 seeds: rungs in order."


def test_a_sentence_may_name_a_third_claim_and_the_parts_of_one():
    """Nothing is said of a part that the records do not have."""
    words = Headline(
        "A1", "{here.held}: {beside.part[texts, 2]} of {beside.all}, {also.some}", beside="A1 b", also="A1 c"
    )
    parts = replace(FOUR, claim="A1 b", parts={"texts, 2": 3})
    none = replace(FOUR, claim="A1 c", holds=(False,) * 4)
    told = only(("as-run", FOUR), ("as-run", parts), ("as-run", none), headline=words)
    assert told.sentence == "4 of 4: 3 of 4, no seed"
    other = replace(parts, parts={"texts, 1": 3})
    found = only(("as-run", FOUR), ("as-run", other), ("as-run", none), headline=words)
    assert found.sentence == "In 4 of 4 seeds: rungs in order."


def test_a_line_that_a_page_opens_with_may_give_the_number_of_another_claim():
    both = replace(SAYS, brief="{here.held}, nearer {beside.held}", beside="A1 nearer")
    near = replace(FOUR, claim="A1 nearer", holds=(True, True, True, False))
    assert only(("as-run", FOUR), ("as-run", near), headline=both).brief == "4 of 4, nearer 3 of 4"
    assert only(("as-run", FOUR), headline=both).brief == "In 4 of 4 seeds: rungs in order."


def test_a_claim_that_cannot_be_judged_is_shown_so():
    found = only(("as-run", replace(FOUR, holds=(None,) * 4, values=(float("nan"),) * 4)))
    assert found.sentence == "It cannot be judged in 4 of 4 seeds: rungs in order."


def test_every_headline_is_of_a_claim_and_every_claim_of_a_paper():
    claims = {claim.name: name for name in NAMES for claim in find(name).claims}
    assert {headline.claim for headline in HEADLINES} <= set(claims)
    assert {other for headline in HEADLINES for other in (headline.beside, headline.also) if other} <= set(claims)
    letters = [letter for paper in PAPERS for letter in paper.letters]
    assert len(letters) == len(set(letters)) and {name[0] for name in claims} <= set(letters)


@pytest.mark.parametrize("headline", HEADLINES, ids=lambda headline: headline.claim)
def test_no_headline_holds_a_number_of_its_own(headline):
    """Numbers come from the records; a sentence of a claim that holds gives the number of seeds."""
    words = (headline.holds + headline.fails + headline.brief).replace("{", " {")
    outside = [part.partition("}")[2] if "}" in part else part for part in words.split("{")]
    assert not any(letter.isdigit() for part in outside for letter in part)
    assert ".held}" in headline.holds


@pytest.mark.parametrize("headline", HEADLINES, ids=lambda headline: headline.claim)
def test_a_finding_is_short_and_a_law_is_a_formula(headline):
    """{here.held} is three words, as in "10 of 10"; every other number is one."""
    filled = [re.sub(r"\{[^}]*held\}", "a of b", words) for words in (headline.holds, headline.fails, headline.brief)]
    filled = [re.sub(r"\{[^}]*\}", "x", words) for words in filled]
    assert all(len(words.split()) <= most for words, most in zip(filled, (35, 35, 28), strict=True))
    assert not any("power" in words or "exponent" in words for words in filled)


def test_a_page_opens_with_five_lines_which_say_what_the_verdict_allows():
    assert sum(bool(headline.brief) for headline in HEADLINES) == 5
    headline = replace(SAYS, brief="In order ({here.held}).")
    assert only(("as-run", FOUR), headline=headline).brief == "In order (4 of 4)."
    failed = replace(FOUR, holds=(True, False, False, False))
    said = only(("as-run", failed), headline=headline).brief
    assert said == "Not confirmed, in 1 of 4 seeds only: rungs in order."
    missing = replace(FOUR, seeds=(), values=(), holds=())
    assert only(("as-run", missing), headline=headline).brief == "" == only(("as-run", FOUR)).brief


def test_an_arc_of_a_picture_joins_tokens_that_are_there():
    with pytest.raises(ValueError, match="there are 2 tokens"):
        TaskPicture(("a", "b"), ((0, 2, 0),), "too far")
