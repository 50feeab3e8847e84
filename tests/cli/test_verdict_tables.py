"""Verdicts on a terminal, wide and narrow: what a finding says is shown to the last sign."""

import math
from dataclasses import replace
from typing import get_args

import pytest
from rich.console import Console
from tests.report.made_run import made_findings

from headway.cli.verdict_tables import VERDICT_STYLES, print_briefly, print_in_full, print_table, print_verdicts
from headway.records import Finding, Verdict

ODD_WORDS = Finding(
    "A99", "[Odd] statement.", "[nan] and [/bold].", "[some] quantity", (0, 1), (0.5, 0.25), (True, False),
    interval=(0.25, 0.5), detail="Found [nan, nan] and [red].", parts={"a [b] part": 1}, figures="stages-quick",
)  # fmt: skip


def shown(show, width: int, *arguments) -> str:
    """What a terminal of that width shows, in one line."""
    console = Console(width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        show(console, *arguments)
    return " ".join(capture.get().replace("│", " ").split())


@pytest.mark.parametrize("width", [60, 200])
@pytest.mark.parametrize("show", [print_verdicts, print_in_full])
def test_words_in_brackets_are_words(show, width):
    text = shown(show, width, [("quick", ODD_WORDS)])
    assert "A99 [Odd] statement." in text
    words = "0.375 [0.25, 0.5]: [some] quantity. Found [nan, nan] and [red]. Parts, in seeds: a [b] part: 1 of 2."
    assert set(words.split()) <= set(text.split())
    if show is print_in_full:
        assert "A99, quick: holds in a seed if [nan] and [/bold]." in text
        assert "seed 0 0.5 holds seed 1 0.25 does not hold" in text


def test_of_very_many_claims_a_line_has_the_verdict_on_every_grid():
    holds = replace(ODD_WORDS, holds=(True, True))
    text = shown(print_briefly, 200, [("printed", ODD_WORDS), ("as-run", holds), ("quick", replace(holds, claim="A1"))])
    assert text.startswith("A99: printed partly 1/2, as-run holds 2/2 A1: quick holds 2/2 `headway claims A1`")


@pytest.mark.parametrize("width", [60, 200])
def test_a_seed_that_cannot_be_judged_is_no_failure_and_does_not_hold(width):
    """A word and a colour of its own, and a count beside that of the seeds that hold."""
    found = replace(ODD_WORDS, holds=(None, None), values=(math.nan, math.nan), interval=None)
    text = shown(print_in_full, width, [("quick", found)])
    assert "2 of 2 seeds cannot be judged." in shown(print_verdicts, 200, [("quick", found)])
    assert "seed 0 - cannot be judged" in text and "does not hold" not in text
    assert "cannot be judged 0/2 hold, 2 cannot be judged" in shown(print_table, 60, [("quick", found)], ("quick",))
    assert len(set(VERDICT_STYLES.values())) == len(get_args(Verdict)) == len(VERDICT_STYLES)


def test_claims_of_other_grids_have_a_table_of_their_own():
    findings = [("paper", ODD_WORDS), *made_findings()]
    text = shown(print_table, 200, findings, ("quick", "as-run", "paper"))
    assert text.count("A99") == 1 and text.count("┃ paper ┃") == 1
    assert "[Odd] statement." in text and "partly 1/2 seeds" in text and "figures stages-quick" in text


def test_on_a_narrow_terminal_claims_stand_below_each_other():
    text = shown(print_table, 60, [("quick", ODD_WORDS)], ("quick",))
    assert "A99 [Odd] statement. Measured: [some] quantity quick partly 1/2 seeds 0.375 [0.25, 0.5]" in text


def test_a_verdict_counts_the_seeds_and_a_claim_that_was_not_run_has_none():
    text = shown(print_verdicts, 300, made_findings())
    assert "quick holds 4/4 0.675 [0.61, 0.74]: smallest gap between minima, in decades." in text
    assert (
        "quick partly 3/4" in text
        and "Parts, in seeds: all on block 1 early: 4 of 4; one head a block late: 3 of 4." in text
    )
    assert "as-run fails 1/4" in text
    assert "quick not run The minimal model has no residual path." in text
