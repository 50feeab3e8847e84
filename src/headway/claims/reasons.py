"""Why we think a claim does not hold in every seed: opinions, kept apart from what is measured.

They are shown only beside a verdict that needs one. Numbers belong to the findings, not here.
"""

from __future__ import annotations

from headway.records import Finding

SHARED_GAP = """
Each of B copies gets a B-th of the force that a gap shared by all of them would get, while W gets all of it: the rate
is that of the square root of B. The published power is that of the slides' reduced flow, whose parameter is the gap."""

TWICE = """
The published law lies a factor of two above ours at every size. At p = 0 it describes the same runs as the law for
B = 1, which ours agrees with, and predicts about twice as much as that one, too."""

NO_LOGARITHM = """
The linearised flow grows exponentially and so takes a time with a logarithm in it. The flow itself blows up before, by
the exponential in the softmax, after a time without one."""

ROOT_OF_COPIES = """
With T logits as parameters the plateau falls as the square root of B, so that a doubling of B gains a factor of 1.4; a
doubling of p gains more once p^2 d is large."""

LEARNING_THE_MAP = """
The larger d, the less T matters: Adam's small steps need long to learn the map itself, however soon the vector could be
found. But even at the smallest d the power is below the published one."""

SLOW_END = """
Copies shorten the wait more than what follows it: where the plateau is taken to end at a higher loss, the power is
near the published one. The fall from there to the threshold takes about as long with many copies as with few."""

ORTHOGONAL_START = """
An orthogonal embedding makes vectors as long as 1 for every d, so that against the positions they are as strong for
large d as for small; with variance 1 / fan-in they fade like 1 / sqrt(d). How the plateau grows with d depends on the
start, then, and the published power belongs to the other one."""

FAVOURITE_FIRST = """
A little repetition across samples shortens the time, and with more of it the favourite is learnt by itself: the
largest share is slower than the one before, because the test has no favourites."""

MOST_FREQUENT = """
What is repeated in the context can be answered without a match, by naming what stands there most often: two copies on
average shorten the time in some seeds only, and with more a match comes late or never. A moderate share of favourite
queries leaves no such way out, and helps; with hardly any others a match does not come, either. To 5 % of the answers,
for which no match is needed, copies do lead sooner, and favourite queries do not."""

NAMED_OR_MATCHED = """
The same 5 % end different things at different sizes. Where naming any value of the sequence gets more (8 and 16 pairs,
and 32 with as many symbols) the plateau ends with that, unless it comes so slowly that the match is there as soon (128
and 256 symbols); where it gets less, with the match, or with noise if it gets nearly as much. One power law through all
of that has powers that depend on which sizes are in it. How the slides' models start is not known, and the powers
depend on that, too (B4 fan-in)."""

AT_SOME_SIZES = """
The same 5 % of the answers are reached by naming at some sizes and by a match at others, as is said of B4."""

LINEAR_IN_PAIRS = """
The published law is about 5 % of the answers and not about half of them. Where symbols start equally long however many
there are, the time to a match grows about in proportion to the number of pairs, a little faster for many than for few,
and slowly with the number of symbols."""

SHORT_SYMBOLS = """
With this start the symbols are the shorter beside the positions the more there are, and a match takes longer, the more
so the more symbols and pairs there are. A seventh size, 256 symbols and 8 pairs, was given up after 64 000 steps
without a match in any seed and is not in the records: with it the power of N_tokens to a match would be larger and that
of N_pairs smaller."""

A_SIZE_SHORT = """
The start makes a match take longer the more symbols and pairs there are, and one size is missing, as is said of B4
fan-in."""

NEARLY_EQUAL = """
In the seed that fails, 64 pairs end with the match for 32 symbols as for 64, one evaluation apart and in the wrong
order: for a match, the number of symbols makes little difference."""

NAMED_FIRST = """
With few pairs and few symbols, naming any value of the sequence gets 5 % soon, and the match is another, later
transition; where naming comes slowly or gets less, plateau and match end together in nearly every run. Both attentions
always form at the match, in single runs just after half of the answers are right."""

REASONS = {
    "B1 logits": {"paper": SHARED_GAP},
    "B1 samples": {"paper": SHARED_GAP},
    "B2 constant": {"paper": TWICE},
    "B6 escape time": {"paper": NO_LOGARITHM},
    "B3 copies": {"paper": SLOW_END},
    "B3 length": {"paper": LEARNING_THE_MAP},
    "B3 Xavier": {"paper": ORTHOGONAL_START},
    "B4": {"paper": NAMED_OR_MATCHED},
    **{
        f"B4 {which}": {"paper": AT_SOME_SIZES}
        for which in ("tokens", "constant", "above chance", "above chance tokens")
    },
    "B4 matching": {"paper": LINEAR_IN_PAIRS},
    "B4 matching tokens": {"paper": LINEAR_IN_PAIRS},
    "B4 fan-in": {"paper": SHORT_SYMBOLS},
    **{f"B4 fan-in {which}": {"paper": A_SIZE_SHORT} for which in ("tokens", "matching", "matching tokens")},
    "B6 recall": {"paper": NEARLY_EQUAL},
    "B9": {"paper": NAMED_FIRST},
    "B7 logits": {"paper": ROOT_OF_COPIES},
    "B7 recall": {"paper": MOST_FREQUENT},
    "B7 transformer": {"paper": FAVOURITE_FIRST},
}
"""Claim -> grid -> why it does not hold there."""


def reason_for(finding: Finding, grid: str) -> str:
    """The reason, for a claim that does not hold in every seed; nothing where none is known."""
    known = REASONS.get(finding.claim, {}).get(grid, "") if finding.verdict in ("partly", "fails") else ""
    return " ".join(known.split())
