"""What the paper's theory states, as printed and as corrected: docs/errata.md gives the reasons."""

from pathlib import Path

import pytest

from headway.theory.statements import all_checks, table

ERRATA = (Path(__file__).parents[2] / "docs" / "errata.md").read_text()

HOLD = {
    "Proposition 1",
    "Theorem 1, Lyapunov function (14)",
    "Remark 1",
    "Lemma 1",
    "Theorem 3, Lyapunov function",
    "leftover attention, Pi once",
    "leftover attention, Pi twice",
}
FAIL = {
    "tensor inner product",
    "Theorem 1, invariant region",
    "Theorem 1, limit",
    "Theorem 2",
    "Theorem 2, bound on V",
    "section E",
    "Lemma 1, derivative",
    "Lemma 2",
    "Lemma 3",
    "Theorem 3",
    "Theorem 3, derivatives",
    "D.1, expansion of Pi",
    "D.1, update along s_1*",
    "Theorem 4",
    "Remark 2",
    "Theorem 5",
}


@pytest.fixture(scope="module")
def checks():
    return all_checks()


def test_every_statement_has_a_verdict(checks):
    assert {name for name, check in checks.items() if check.as_printed == "holds"} == HOLD
    assert {name for name, check in checks.items() if check.as_printed == "fails"} == FAIL


@pytest.mark.parametrize("name", sorted(HOLD | FAIL))
def test_as_corrected_it_holds_in_every_instance(checks, name):
    check = checks[name]
    assert check.corrected
    assert all(check.corrected), f"{sum(check.corrected)} of {len(check.corrected)} instances"


def test_the_errata_name_every_statement_that_fails():
    assert [name for name in sorted(FAIL) if f"### {name}" not in ERRATA] == []


def test_the_errata_have_the_table_that_the_checks_give(checks):
    assert table(checks) in ERRATA
