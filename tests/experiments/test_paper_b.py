"""Paper B's experiments: the words of their claims, and what docs/verdicts.md says of them."""

import importlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from headway.experiments import NAMES
from headway.experiments.selection import chosen, made
from headway.experiments.toy_sizes import every_size, named
from headway.settings import ToySettings

VERDICTS = (Path(__file__).parents[2] / "docs" / "verdicts.md").read_text()
PAPER_B = NAMES[NAMES.index("toy") :]
MODULES = [importlib.import_module(f"headway.experiments.{name.replace('-', '_')}") for name in PAPER_B]
CLAIMS = {claim.name: claim for module in MODULES for claim in module.EXPERIMENT.claims}


def test_the_readme_calls_every_claim_by_its_title():
    said = dict(re.findall(r"^\| (B\d[^:|]*): (.*?) \|", VERDICTS, re.MULTILINE))
    assert said == {name: claim.title for name, claim in CLAIMS.items()}


@pytest.mark.parametrize("name", CLAIMS)
def test_the_words_of_a_claim_are_whole_sentences(name):
    """They are joined from pieces of source lines: none runs into the next or leaves a gap."""
    claim = CLAIMS[name]
    reasons = [" ".join(reason.split()) for reason in claim.reasons.values()]
    for text in (claim.statement, claim.definition, *reasons):
        assert text[0].isupper() and text[-1] in ".)"
    for text in (claim.name, claim.statement, claim.definition, claim.quantity, *reasons):
        assert text == re.sub(r"\s+", " ", text).strip()
        assert not re.search(r"[a-z][.;][a-zA-Z]", text)
    assert claim.reasons.keys() <= {"paper"}


def test_every_combination_of_sizes_is_a_run_with_a_name_of_its_own():
    runs = named("gap", every_size(ToySettings(model="gap"), dimension=(8, 16), copies=(1, 2), repeated=(0.0, 0.5)))
    assert list(runs)[:4] == [f"gap, d = 8, T = 256{more}" for more in ("", ", p = 0.5", ", B = 2", ", B = 2, p = 0.5")]
    assert len(set(runs.values())) == 8


def test_runs_are_chosen_by_the_settings_they_were_made_with_and_those_not_made_by_the_grids():
    grids = {"paper": named("gap", every_size(ToySettings(model="gap"), dimension=(8, 16, 32)))}
    changed = replace(grids["paper"]["gap, d = 8, T = 256"], model="logits")
    results = {"gap, d = 8, T = 256": (changed, None), "gap, d = 32, T = 256": (ToySettings(model="gap"), None)}

    def gap(settings):
        return settings.model == "gap"

    assert chosen(grids, results, gap) == [None, results["gap, d = 32, T = 256"]]
    assert chosen(grids, results, lambda settings: not gap(settings), gap)[0] == (changed, None)
    assert made(results, gap) == [results["gap, d = 32, T = 256"]]
