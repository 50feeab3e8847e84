"""B7 to B9 of recall: made runs that show them, and runs that break each part alone."""

import pytest
from tests.report.made_emergence import SEEDS, long_clock, made_recall

from headway.claims import recall
from headway.experiments.recall import GRIDS
from headway.experiments.recall_repetition import GRIDS as REPETITION

SIZES = [settings for name, settings in GRIDS["paper"].items() if not name.startswith("fan-in")]
RUNS = REPETITION["paper"]


def made(many, **how):
    return [(settings, made_recall(settings, SEEDS, **how)) for settings in many]


def test_one_transition_takes_both_layers_along():
    assert recall.one_transition(recall.B9, *made(SIZES)).verdict == "holds"


@pytest.mark.parametrize(
    "how, missing",
    [
        ({"known_at": 2.4, "attention_at": (0.99, 1.2)}, "one transition"),
        ({"attention_at": (0.3, 0.99)}, "both layers in it"),
        ({"attention_at": (0.99, 1.3)}, "both layers in it"),
    ],
    ids=["a stage between", "one layer long before", "one layer behind"],
)
def test_a_stage_between_or_a_layer_apart_is_not_one_transition(how, missing, monkeypatch):
    if how.get("known_at", 0) > 1.5:  # The made clock goes to one and a half plateaus.
        monkeypatch.setattr("tests.report.made_emergence._clock", long_clock)
    found = recall.one_transition(recall.B9, *made(SIZES[:2], **how))
    assert {part for part, count in found.parts.items() if count == 0} == {missing}


def test_runs_that_do_not_get_to_half_are_counted_and_do_not_decide():
    runs = [*made(SIZES[:3]), *made(SIZES[3:4], known_at=9.0)]
    found = recall.one_transition(recall.B9, *runs)
    assert found.verdict == "holds" and "4 do not get there" in found.detail
    assert recall.one_transition(recall.B9, *made(SIZES[:2], known_at=9.0)).verdict == "fails"


def repetition(**changes):
    """The run without repetition, that with fewest copies, and those with shares; some made otherwise."""
    names = ("none", "B = 2", *(name for name in RUNS if name.startswith("p")))
    return [(RUNS[name], made_recall(RUNS[name], SEEDS, **changes.get(name[0], {}))) for name in names]


@pytest.mark.parametrize(
    "changes, missing",
    [({}, set()), ({"B": {"length": 1e5}}, {"shorter with B", "B before every p"}),
     ({"p": {"length": 1e5}}, {"shorter with p"})],
)  # fmt: skip
def test_repetition_shortens_the_plateau_of_single_pairs(changes, missing):
    found = recall.repetition_shortens(recall.B7_RECALL, *repetition(**changes))
    assert {part for part, count in found.parts.items() if count == 0} == missing
    assert found.verdict == ("fails" if missing else "holds")


@pytest.mark.parametrize("alike, kind", [(0.95, "p"), (0.3, "p"), (0.3, "B")])
def test_overfitting_is_a_gap_between_what_was_trained_and_single_pairs(alike, kind):
    names = {"none": "none", "B": "B = 8", "p": "p = 0.95"}
    runs = [
        (RUNS[name], made_recall(RUNS[name], SEEDS, end=alike if key == kind else 1.0)) for key, name in names.items()
    ]
    found = recall.too_much_overfits(recall.B8, *runs)
    assert found.verdict == ("holds" if alike < 0.9 else "fails")
    assert found.values == pytest.approx([1 - alike] * 4)


def test_a_gap_that_is_there_without_repetition_is_not_overfitting():
    runs = [(RUNS[name], made_recall(RUNS[name], SEEDS, end=0.3)) for name in ("none", "B = 8", "p = 0.95")]
    assert recall.too_much_overfits(recall.B8, *runs).verdict == "fails"
