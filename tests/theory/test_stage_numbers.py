"""The numbers of docs/theory.md are those that its command prints."""

from pathlib import Path

import pytest

from headway.theory.stage_numbers import largest_error, slope, tables

THEORY = (Path(__file__).parents[2] / "docs" / "theory.md").read_text()


def test_the_shortest_sequences_and_the_shortest_run_have_the_printed_numbers():
    assert (
        f"| T | 10 | 40 | 160 | 640 | 2560 |\n|---|---|---|---|---|---|\n| Π once | {100 * largest_error(10, 1):.2g} %"
        in THEORY
    )
    found, formula = slope(1, 10, 1e3)
    assert f"| Π once | 10 | 1000 | {found:.3f} | {formula:.3f} |" in THEORY


@pytest.mark.slow
def test_every_printed_line_stands_in_the_document():
    assert [line for line in tables() if line not in THEORY] == []
