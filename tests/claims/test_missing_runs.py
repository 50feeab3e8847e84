"""What a claim says that lacks some of its runs: which ones."""

from dataclasses import replace

import pytest
from tests.claims.made import bottoming_at, made_run, made_settings

from headway.claims.claim import Claim, judged, of_runs

RUN = made_run(made_settings(), (0, 1), kl=bottoming_at(10, 60, 300))
NAMES = ("a", "b", "c", "d", "e")


@judged
def nothing_asked(claim, *runs):
    return claim.finding(runs, [1, 1], [True, True])


def detail(*made: str, names: tuple[str, ...] = NAMES) -> str:
    claim = Claim("X1", "Says.", "Defined.", "measured", of_runs(nothing_asked, *names))
    found = claim.held_against(dict.fromkeys(made, RUN))
    assert found.verdict == "not run"
    return found.detail


def test_missing_runs_are_named_where_others_are_there_and_of_many_the_first():
    assert detail("a", "b", "d") == "Incomplete: runs missing: c; e (2 of 5)."
    assert detail("e") == "Incomplete: runs missing: a; b; c; and 1 more (4 of 5)."
    assert detail("other", names=("a",)) == "A run that it needs has not been made: a."


@pytest.mark.parametrize("made", [(), ("other",)], ids=["no run", "none of its runs"])
def test_a_claim_of_which_nothing_was_run_needs_no_list(made):
    assert detail(*made) == "A run that it needs has not been made."


def test_a_claim_found_by_settings_names_the_missing_runs_of_its_grid():
    claim = Claim("X1", "Says.", "Defined.", "measured", of_runs(nothing_asked), about=lambda settings: True)
    grid = dict.fromkeys(NAMES, RUN[0])
    found = claim.lacking(grid, {"a": RUN, "b": RUN, "c": RUN})
    assert found is not None and found.detail == "Incomplete: runs missing: d; e (2 of 5)."
    assert claim.lacking(grid, dict.fromkeys(NAMES, RUN)) is None


def test_a_claim_about_runs_that_the_grid_does_not_have_is_not_in_the_grid():
    """By the names of its runs, whatever was made; by settings, once every run of the grid was made."""
    named = Claim("X1", "Says.", "Defined.", "measured", of_runs(nothing_asked, "a", "f"))
    found = Claim("X2", "Says.", "Defined.", "measured", of_runs(nothing_asked), about=lambda settings: False)
    grid = dict.fromkeys(NAMES, RUN[0])
    made = dict.fromkeys(NAMES, RUN)
    assert {named.held_in(grid, some).verdict for some in ({}, {"a": RUN}, made)} == {"not in grid"}
    assert found.held_in(grid, {"a": RUN}).verdict == "not run"
    assert found.held_in(grid, made).verdict == "not in grid"


def test_whether_a_claim_is_in_the_grid_does_not_hang_on_its_words():
    claim = Claim("X1", "Says.", "Defined.", "measured", of_runs(nothing_asked, "a", "f"))
    absent = claim.held_in(dict.fromkeys(NAMES, RUN[0]), {})
    assert not absent.in_grid and absent.detail == "This grid has no such runs."
    assert replace(absent, detail="Said otherwise.").verdict == "not in grid"
    assert claim.not_run(absent.detail).verdict == "not run"


def test_a_run_of_the_grid_that_was_not_made_leaves_a_claim_not_run():
    claim = Claim("X1", "Says.", "Defined.", "measured", of_runs(nothing_asked, "a", "b"))
    assert claim.held_in(dict.fromkeys(NAMES, RUN[0]), {"a": RUN}).verdict == "not run"


def test_runs_without_a_common_seed_were_made_and_are_in_the_grid():
    other = made_run(made_settings(), (2, 3), kl=bottoming_at(10, 60, 300))
    claim = Claim("X1", "Says.", "Defined.", "measured", of_runs(nothing_asked))
    found = claim.held_in({"a": RUN[0], "b": RUN[0]}, {"a": RUN, "b": other})
    assert (found.verdict, found.detail) == ("not run", "The runs share no seed.")
