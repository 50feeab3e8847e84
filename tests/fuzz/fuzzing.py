"""How a case is drawn, and when an error message will do.

./run test tests/fuzz              # some hundred cases, the same every time
./run test tests/fuzz -m slow      # more than ten thousand, others every time
"""

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Strategy = st.SearchStrategy[Any]


class Cases(NamedTuple):
    """How many cases are drawn, and whether they are the same every time."""

    count: int
    same: bool

    def over(self, share: int) -> "Cases":
        return Cases(max(1, self.count // share), self.same)


def in_many_cases(few: int, many: int) -> pytest.MarkDecorator:
    """`cases`: a few in the usual suite, many when the slow tests are asked for."""
    at_length = pytest.param(Cases(many, same=False), marks=pytest.mark.slow, id="many")
    return pytest.mark.parametrize("cases", [pytest.param(Cases(few, same=True), id="few"), at_length])


def fuzz(cases: Cases, strategy: Strategy, check: Callable[[Any], None]) -> None:
    """`check` every drawn case; what fails is made as small as it can be before it is shown."""
    chosen = settings(
        max_examples=cases.count,
        derandomize=cases.same,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    chosen(given(strategy)(check))()


HUGE = [10**400, -(10**400), 10**4000, 2**63, 10**18, 1e308, -1e308, 5e-324]
NUMBERS = [0, 1, -1, 2, 3, 7, 0.5, 2.0, -0.0, math.nan, math.inf, -math.inf, *HUGE]
WORDS = [
    "",
    " ",
    "nonsense",
    "5",
    "nan",
    "None",
    "é",
    "\u202e𝟛",
    "a" * 5000,
    "\udc80",
    "--",
    "-",
    "[",
    "[bold]",
    "{}",
    "%s",
]

scalars = st.one_of(
    st.sampled_from([None, True, False, *NUMBERS, *WORDS]), st.integers(), st.floats(), st.text(max_size=8)
)


def nested(inner: Strategy) -> Strategy:
    return st.one_of(inner, st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=3))


values = nested(nested(scalars))
"""Anything that JSON can hold, and more."""


def is_a_message(text: str) -> bool:
    """A few sentences for a person: short, without a traceback, on one line."""
    sentences = re.split(r"[.?!] (?=[A-Z`'\"])", text)
    return 0 < len(text) <= 900 and "Traceback" not in text and len(sentences) <= 4 and "\n" not in text.strip()
