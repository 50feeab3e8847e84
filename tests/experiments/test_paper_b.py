"""Paper B's experiments: the words of their claims, and what docs/verdicts.md says of them."""

import importlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from headway.experiments import NAMES, find
from headway.experiments.selection import made
from headway.experiments.toy_sizes import descended, every_size, named, solved
from headway.records import Trajectory
from headway.settings import ToyFlowSettings
from headway.tasks.toy import Toy, toy_settings

VERDICTS = (Path(__file__).parents[2] / "docs" / "verdicts.md").read_text()
PAPER_B = NAMES[NAMES.index("toy") : NAMES.index("recall-repetition-appendix") + 1]
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
    runs = named("gap", every_size(Toy(trained="gap"), dimension=(8, 16), copies=(1, 2), repeated=(0.0, 0.5)))
    assert list(runs)[:4] == [f"gap, d = 8, T = 256{more}" for more in ("", ", p = 0.5", ", B = 2", ", B = 2, p = 0.5")]
    assert len(set(runs.values())) == 8


def _without(missing, runs):
    numbers = Trajectory((0,), {}, {}, {})
    return {run: (settings, numbers) for run, settings in runs.items() if run != missing}


@pytest.mark.parametrize("name", PAPER_B)
def test_a_claim_waits_for_every_run_of_a_grid_that_it_is_about_and_for_no_other(name):
    experiment = find(name)
    for claim in experiment.claims:
        for grid, runs in experiment.grids.items():
            asked = {id(settings): claim.about(settings) for settings in runs.values()}
            about = [run for run, settings in runs.items() if asked[id(settings)]]
            # Every run is left out once, and each time all settings are asked about: two hundred times the same.
            told = replace(claim, about=lambda settings, asked=asked: asked[id(settings)])
            waits = [run for run in runs if told.lacking(runs, _without(run, runs))]
            assert waits == about != [], (claim.name, grid)


def test_runs_are_found_by_the_settings_they_were_made_with_whatever_they_are_called():
    gap, logits, flow = toy_settings(Toy(trained="gap")), toy_settings(Toy(), seen=False), ToyFlowSettings(model="gap")
    numbers = Trajectory((0,), {}, {}, {})
    results = {"a gap": (logits, numbers), "logits": (gap, numbers), "descent": (flow, numbers)}
    assert made(results, descended(trained="gap")) == made(results, descended(seen=True)) == [results["logits"]]
    assert made(results, descended(sampled=True)) == []
    assert made(results, solved(model="gap")) == [results["descent"]]
