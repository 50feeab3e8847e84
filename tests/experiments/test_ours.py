"""A claim that no paper makes says so in its title, in one form."""

import re

from headway.experiments import NAMES, find

CLAIMS = [claim for name in NAMES for claim in find(name).claims]
MARK = re.compile(r"(?:, |\()(ours(?:, post hoc)?)\)$")


def mark(title: str) -> str:
    found = MARK.search(title)
    return found[1] if found else ""


def test_a_title_says_ours_where_the_letter_or_the_statement_does():
    for claim in CLAIMS:
        ours = claim.name[0] in "HNRT" or "(Ours" in claim.statement
        assert bool(mark(claim.title)) == ours, claim.name
        assert ("ours" in claim.title) == ours, "in no other form"


def test_a_title_says_post_hoc_where_the_statement_does():
    late = {claim.name for claim in CLAIMS if mark(claim.title) == "ours, post hoc"}
    assert late == {claim.name for claim in CLAIMS if "(Ours, post hoc" in claim.statement} != set()
    assert all(f"(Ours, {words}" not in claim.statement for claim in CLAIMS for words in ("found", "made after"))
