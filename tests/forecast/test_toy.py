"""The toy: theory predicts what was measured, and what it cannot know it says."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tests.theory.descent import by_descent

import headway
from headway.cli import main
from headway.forecast.answer import NotMeasured
from headway.forecast.ask import answer, ask, cells, runs_of
from headway.forecast.held_out import held_out
from headway.forecast.question import Question
from headway.settings import SettingsError
from headway.theory.emergence.toy import toy

ROOT = Path(__file__).parent.parent.parent
RESULTS = [ROOT / "results"]
QUESTION = Question("toy", dimension=64, length=1024)


@pytest.fixture(scope="module")
def runs():
    """What is committed, by model."""
    return {model: runs_of(model, RESULTS) for model in ("toy", "transformer", "recall")}


def predicted(question, runs):
    return answer(question, cells(question, runs["toy"]), ("results",))


@pytest.mark.usefixtures("unchecked_test")
def test_held_out_plateaus_of_the_toy_fall_inside(runs):
    """Of every split, also beyond the largest d, T, B and p: at least 90 % of the seeds of all cells."""
    rows = held_out("toy", runs["toy"])
    assert {row.what for row in rows} == {"toy, T logits", "toy, gap", "toy, 256 samples"}
    assert {row.held for row in rows if row.what == "toy, T logits"} == {
        *("each cell alone", "thirds, at random"),
        *("the largest d, 128", "the largest T, 4096", "the largest B, 16", "the largest p, 0.4"),
        *("d over 32", "T over 1024", "B over 4", "p over 0.1"),
    }
    assert all(row.inside / row.of >= 0.9 for row in rows), rows
    assert all(row.miss < 1.001 for row in rows if "samples" not in row.what), "a step, not percents"


def test_held_out_plateaus_of_transformers_fall_inside_as_far_as_they_were_measured(runs):
    """Alone and in thirds: 95 % of the seeds, less what a binomial of independent cells allows (1 in 100).

    Of sizes far beyond those that are kept, most: a law may bend more there than it does before (docs/predict.md).
    """
    for model in ("transformer", "recall"):
        for row in held_out(model, runs[model]):
            if row.held in ("each cell alone", "thirds, at random"):
                assert row.inside / row.of >= stats.binom.ppf(0.01, row.cells, 0.95) / row.cells, row
            assert row.inside / row.of > 0.5, row


def test_descent_itself_takes_as_long_as_was_told(runs):
    """Sizes and a rate that no record has: gradient descent, run here, ends inside the interval."""
    question = Question("toy", dimension=20, length=300, copies=3, repeated=0.0, learning_rate=0.5)
    told = predicted(question, runs)
    _, (ended,) = by_descent([toy(20, 300, 3)], np.zeros(0), rate=0.5, threshold=0.1, tail=1.0, longest=10.0)
    assert told.low <= ended / 0.5 <= told.high < told.low + 2
    assert (told.source, told.warnings) == ("theory", ())


def test_half_the_rate_takes_twice_the_steps(runs):
    told, slow = predicted(QUESTION, runs), predicted(replace(QUESTION, learning_rate=0.5), runs)
    # Descent lags behind the flow by a few steps, at every rate.
    assert slow.steps == pytest.approx(2 * told.steps, abs=6)
    assert slow.closed_form == pytest.approx(2 * told.closed_form)
    assert slow.published == pytest.approx(2 * told.published)


def test_with_logits_copies_help_by_their_root_and_with_the_gap_by_themselves(runs):
    def gain(trained):
        one, four = (predicted(replace(QUESTION, trained=trained, copies=b), runs).steps for b in (1.0, 4.0))
        return one / four

    assert gain("logits") == pytest.approx(2, rel=0.01)
    assert gain("gap") == pytest.approx(4, rel=0.02)


def test_a_training_set_makes_runs_differ(runs):
    told = predicted(Question("toy", dimension=16, length=64, samples=256), runs)
    assert 1.1 < told.high / told.low < 1.4
    assert (told.cells, told.seeds) == (27, 8)


def test_both_published_laws_are_told_where_they_apply(runs):
    assert predicted(QUESTION, runs).published == pytest.approx(1.51 * 64**0.49 * 1024**0.99)
    size = 8 * 1024 / math.sqrt(0.01 * 64 + 0.81)
    assert predicted(replace(QUESTION, repeated=0.1), runs).published == pytest.approx(2.15 * size**1.02)
    assert predicted(replace(QUESTION, repeated=0.1, copies=2.0), runs).published is None


@pytest.mark.parametrize(
    "change, words",
    [
        ({"length": 8192}, r"T = 8192 was not measured \(the records have 64 to 4096\)"),
        ({"dimension": 4}, "d = 4 was not measured"),
        ({"copies": 2.0, "repeated": 0.1}, "Copies together with repetition across samples"),
        ({"learning_rate": 40.0}, "The shortest plateau that was measured took 3.. steps"),
        ({"learning_rate": 2.0}, "The learning rate 2 is above all that were measured, 1"),
    ],
)
def test_what_was_not_measured_is_warned_of(runs, change, words):
    assert re.match(words, predicted(replace(QUESTION, **change), runs).warnings[0])


def test_steps_that_cannot_follow_the_flow_are_refused(runs):
    with pytest.raises(NotMeasured, match="Ask for a smaller learning rate"):
        predicted(Question("toy", dimension=16, length=64, learning_rate=1e3), runs)


def test_without_records_theory_is_told_without_an_interval(tmp_path):
    told = ask(QUESTION, [tmp_path])
    assert told.steps == pytest.approx(10570, rel=0.01)
    assert math.isnan(told.low) and told.cells == 0
    assert "the interval is not known" in told.warnings[0] and "headway run context-repetition" in told.warnings[0]
    assert (told.as_json()["low"], told.as_json()["steps"]) == (None, told.steps)


def test_a_notebook_asks_the_same(runs, monkeypatch):
    monkeypatch.chdir(ROOT)
    told = headway.predict("toy", dimension=64, length=1024, folders=["results", "nowhere"])
    assert told == predicted(QUESTION, runs)
    with pytest.raises(SettingsError, match=r"nothing called 'dimenson'.*dimension"):
        headway.predict("toy", dimenson=64)


def test_the_command_prints_the_forecast(runs, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    asked = ["predict", "--dimension", "64", "--length", "1024", "--from", "results"]
    main(asked)
    said, told = capsys.readouterr().out, predicted(QUESTION, runs)
    for words in (told.asked, f"{told.steps:,.0f} steps", f"{told.low:,.0f} to {told.high:,.0f}", told.basis):
        assert words in said
    main([*asked, "--json"])
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(told.as_json()))


@pytest.mark.usefixtures("unchecked_test")
def test_what_the_document_shows_is_what_its_commands_print(monkeypatch, capsys):
    """If this fails, run the commands of docs/predict.md again, and look at what changed."""
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / "predict.md").read_text()
    shown = re.findall(r"^```sh\n\./run (predict [^\n]*)\n```\n\n```text\n(.*?)```$", text, re.DOTALL | re.MULTILINE)
    assert len(shown) >= 3
    for command, output in shown:
        main(command.split())
        assert capsys.readouterr().out == output, command
