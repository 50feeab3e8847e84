"""The field's words: what a reader meets in help, errors, the page, claims, docstrings and docs has none of these."""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.experiments import NAMES, find

ROOT = Path(__file__).parents[1]
INSTEAD = {
    r"foret(ell|old|ells|elling)": "predict",
    r"bottoms": "reaches its minimum",
    r"shel(f|ves)": "plateau",
    r"crowds?": "attend to the same block",
    r"heads part": "specialise",
    r"too sure of (itself|themselves)": "overconfident",
    r"hangs? on": "depends on",
    r"asked by us|derived by us": "(ours)",
    r"to be had": "available",
    r"from what that is known": "and its source",
    r"leaves? (a|the|its|each) rung|leaves rung": "is closest to ... until",
    r"(meets?|met) (all |the )*rungs|rungs? (is|are|was|were) (still )?met|rungs met": "passes ... in order",
    r"told|tells|said": "report, state",
    r"transformer blocks?": "layer",
    r"of the dictionary|size of dictionary": "vocabulary",
}
STORED = re.compile(r"`foretold`|\"foretold\"|\bforetold +(?=\(seed,\))")
"""The name of a fact in records that lie in results/."""
PATTERNS = {re.compile(rf"\b({pattern})\b", re.IGNORECASE): word for pattern, word in INSTEAD.items()}


def test_every_pattern_finds_what_it_is_there_for():
    bad = "It was foretold that heads part, crowd and meet the rungs; the law hangs on d and is too sure of itself."
    assert len([pattern for pattern in PATTERNS if pattern.search(bad)]) == 6
    good = "Part 2: heads are told apart? No: the model passes the rungs in order, part by part, and saddles are met."
    assert [pattern.pattern for pattern in PATTERNS if pattern.search(good)] == [r"\b(told|tells|said)\b"]


def _texts_of_python(path: Path) -> Iterator[tuple[int, str]]:
    """Strings, docstrings and comments, without the expressions inside of f-strings."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        kind = tokenize.tok_name[token.type]
        if kind in ("COMMENT", "STRING", "FSTRING_MIDDLE"):
            formatted = re.match(r"[rR]?[fF]", token.string) is not None
            yield token.start[0], re.sub(r"\{[^{}]*\}", "{}", token.string) if formatted else token.string


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    if path.suffix == ".py":
        yield from _texts_of_python(path)
    elif path.suffix == ".js":  # comments and what stands in quotes: names of variables are no sentences
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            texts = re.findall(r"//.*|^\s*/?\*.*|\"[^\"]*\"|`[^`]*`", line)
            yield from ((number, re.sub(r"\$\{[^{}]*\}", "{}", text)) for text in texts)
    else:
        yield from enumerate(path.read_text().splitlines(), start=1)


FILES = [
    *(ROOT / "src").rglob("*.py"),
    *(ROOT / "src/headway/report/page/assets").iterdir(),
    *(path for path in (ROOT / "docs").glob("*.md") if path.name != "log.md"),
    ROOT / "README.md",
    *(ROOT / "examples").rglob("*.py"),
]


@pytest.fixture(scope="module")
def texts() -> list[tuple[str, str]]:
    """Where it stands, and what it says."""
    return [
        (f"{path.relative_to(ROOT)}:{number}", STORED.sub("", text)) for path in FILES for number, text in _texts(path)
    ]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: PATTERNS[pattern])
def test_nothing_says_it_in_words_of_our_own(pattern, texts):
    found = [f"{place}: {match[0]!r}" for place, text in texts if (match := pattern.search(text))]
    assert not found, f"say {PATTERNS[pattern]!r} instead"


def test_every_title_says_what_its_claim_claims():
    """A row of a table is read alone: no title points at the row above, and no two claims share one."""
    claims = [claim for name in NAMES for claim in find(name).claims]
    titles = {claim.name: claim.title for claim in claims}
    pointing = re.compile(r"(^|[:,;] )the same\b", re.IGNORECASE)
    assert {name for name, title in titles.items() if len(title.split()) < 3 or pointing.search(title)} == set()
    assert len(set(titles.values())) == len(titles)
    assert not [claim.name for claim in claims if claim.statement.startswith("The same")]
    assert len({claim.statement for claim in claims}) == len(claims)
