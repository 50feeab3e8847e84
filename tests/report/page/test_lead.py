"""The words at the top of a run's page: how far it came, which stages were skipped, and why training ended."""

from types import SimpleNamespace

import numpy as np
import pytest
from tests.report.made_task import HEADS, heads_alone

from headway.records import Trajectory
from headway.report.build import run_view
from headway.report.page import Report
from headway.report.page.stop_payload import threshold_of
from headway.settings.plain import plain

pytestmark = pytest.mark.browser

ENDED = """m.thresholdWords({seeds: stopped.map((_, k) => k), stoppedAt,
    threshold: {level: 0.1, measure: "loss", most: 50000, tail, stopped}})"""


def plain_spaces(words: str) -> str:
    return words.replace("\u202f", " ").replace("\u00a0", " ")


def ended(js, stops: list[int], stopped: list[bool], tail: float = 0.0) -> str:
    return plain_spaces(js("lead", ENDED, stoppedAt=stops, stopped=stopped, tail=tail))


def test_training_that_ended_at_its_threshold_is_said_to_have_ended_there(js):
    assert ended(js, [1325], [True]) == (
        "Training ended at step 1 325 of at most 50 000: the loss had reached its threshold, 0.1."
    )
    assert ended(js, [1325, 1175], [True, True]).startswith("Training ended at steps 1 175 to 1 325 of at most 50 000:")
    some = ended(js, [1325, 50_000, 1200], [True, False, True])
    assert some.startswith("In 2 of 3 seeds training ended at steps 1 200 to 1 325 of at most 50 000:")
    assert ended(js, [50_000, -1], [False, False]) == ""
    later = ended(js, [1325], [True], tail=0.2)
    assert later.endswith("reached its threshold, 0.1, and training went on for 20 % of the steps until then.")
    assert js("lead", "m.thresholdWords({seeds: [0], stoppedAt: [-1], threshold: null})") == ""


def until_learnt(**training: object) -> SimpleNamespace:
    usual = {"steps": 2000, "threshold": 0.5, "until": None}
    return SimpleNamespace(task=SimpleNamespace(PROGRESS="accuracy"), training=SimpleNamespace(**usual | training))


def test_the_threshold_stopped_the_seeds_that_reached_it_before_the_last_step():
    found = heads_alone()
    said = threshold_of(until_learnt(), found, "evaluation")
    assert said == {"level": 0.5, "measure": "accuracy", "most": 2000, "tail": 0.0, "stopped": [True, True, True]}
    assert threshold_of(until_learnt(tail=0.2), found, "evaluation")["tail"] == 0.2
    assert threshold_of(until_learnt(steps=1400), found, "evaluation")["stopped"] == [True, False, False]
    later = threshold_of(until_learnt(until=0.97), found, "evaluation")
    assert later["level"] == 0.97 and later["stopped"] == (np.nanmax(found["accuracy"], axis=1) >= 0.97).tolist()
    facts = {**found.facts, "plateau": np.array([np.nan, 300, 400]), "diverged_at": np.array([-1, 900, -1])}
    astray = Trajectory(found.seeds, found.clocks, found.arrays, found.clock_of, facts)
    assert threshold_of(until_learnt(), astray, "evaluation")["stopped"] == [False, False, True]
    assert threshold_of(until_learnt(threshold=None), found, "evaluation") is None


@pytest.mark.parametrize("width", [1280, 400])
def test_the_top_of_the_page_states_that_training_ended_at_its_threshold(opened, width):
    view = run_view("recall", until_learnt(), heads_alone(), {"about": plain(HEADS)})
    it = opened(Report("Recall", "", (view,)), width)
    words = "Training ended at steps 1 200 to 1 600 of at most 2 000: the accuracy had reached its threshold, 0.5."
    assert plain_spaces(it.text("#summary .chosen")).endswith(words)
    assert words in plain_spaces(it.summary())
    assert it.page.locator("#summary .caveat").count() == 0  # nothing went wrong


PASSED = """m.leadSentence({seeds: rungs.map((_, k) => k), rungs: 3, rungNames: [], evaluation: [0, 800], intervals: [],
    stages: rungs.map((each) => ({rungs: each, start: 10, boundaries: each.slice(1).map((rung) => 100 * rung)})),
    divergedAt: rungs.map(() => -1), stages_from: "ladder", clock: {word: "step", whole: true},
    progress: {array: "loss", word: "loss", unit: ""}, arrays: {}})"""


@pytest.mark.parametrize(
    ("rungs", "words"),
    [
        ([[1, 2, 3]] * 2, "Both seeds entered stage 3 of 3; "),
        ([[2, 3]] * 5, "All 5 seeds entered stage 3 of 3 and made no turn to stage 1; "),
        ([[3]] * 5, "All 5 seeds entered stage 3 of 3 and made no turn to stages 1 and 2"),
        ([[1, 3], [1, 2, 3]], "Both seeds entered stage 3 of 3 (seed 0 made no turn to stage 2); "),
        (
            [[1, 2], [1, 3], [1, 2, 3]],
            "2 of 3 seeds entered stage 3 of 3 by step 800 (seed 0 ended in stage 2 and seed",
        ),
        (
            [[1, 2, 3, 2], [2, 1, 3]],
            "Both seeds entered stage 3 of 3 (seed 0 returned to stage 2 and seed 1 went through",
        ),
        ([[1, 2, 1, 2, 3]], "Seed 0 entered stage 3 of 3 and went back to an earlier stage on the way; "),
        ([[1, 2]] * 4, "None of 4 seeds entered stage 3 of 3 by step 800 (4 ended in stage 2); "),
        ([[2, 3]], "Seed 0 entered stage 3 of 3 and made no turn to stage 1; "),
        ([[1]], "Seed 0 did not enter stage 3 of 3 by step 800"),
    ],
)
def test_who_entered_the_last_stage_is_counted_whichever_stages_came_before(js, rungs, words):
    assert js("lead", PASSED, rungs=rungs).startswith(words)
