"""B4 and B6 to B9 of recall: made runs that show them, and runs that break each part alone."""

import numpy as np
import pytest
from tests.experiments.holding import held, made_paper, missing
from tests.report.made_emergence import SEEDS, long_clock, made_recall

from headway.analysis.crossings import ending_at
from headway.experiments.recall import EXPERIMENT as RECALL
from headway.experiments.recall_repetition import EXPERIMENT as REPETITION


def made(experiment=RECALL, how=lambda settings: {}, **all_of_them):
    """`how` may depend on the settings."""
    return made_paper(experiment, lambda settings: made_recall(settings, SEEDS, **{**all_of_them, **how(settings)}))


def test_the_published_law_is_found_where_it_was_put():
    runs = made()
    for claim, wanted in (("B4", 2.25), ("B4 tokens", 0.79), ("B4 fan-in", 2.25), ("B4 fan-in tokens", 0.79)):
        found = held(RECALL, claim, runs)
        assert found.verdict == "holds" and found.values == pytest.approx([wanted] * 4, abs=0.01)
    assert held(RECALL, "B4 constant", runs).values == pytest.approx([0.55] * 4, rel=0.02)
    assert held(RECALL, "B6 recall", runs).verdict == "holds"


def test_the_law_of_matching_is_that_of_half_the_answers_not_of_the_first_few(monkeypatch):
    for claim in ("B4 matching", "B4 fan-in matching"):
        found = held(RECALL, claim, made(known_at=1.3))
        assert found.verdict == "holds" and found.values == pytest.approx([2.25] * 4, abs=0.01)
    monkeypatch.setattr("tests.report.made_emergence._clock", long_clock)
    copied = made(how=lambda settings: {"known_at": 2.8} if settings.task.pairs == 8 else {})
    assert held(RECALL, "B4", copied).verdict == "holds"
    assert held(RECALL, "B4 matching", copied).verdict == "fails"


def test_sizes_of_which_guessing_nearly_passes_the_threshold_do_not_count_above_chance():
    runs = made(how=lambda settings: {"length": 100.0} if settings.task.vocab == 32 else {})
    for factor in ("", " tokens"):
        assert held(RECALL, f"B4{factor}", runs).verdict == "fails"
        assert held(RECALL, f"B4 above chance{factor}", runs).verdict == "holds"
    near = {name: (own.changed(training={"threshold": 1.5 / own.task.vocab}), run) for name, (own, run) in runs.items()}
    assert held(RECALL, "B4 above chance", near).verdict == "not run"


def test_plateaus_of_one_length_are_no_law():
    runs = made(length=1000.0)
    assert held(RECALL, "B4", runs).verdict == "fails"
    found = held(RECALL, "B6 recall", runs)
    assert found.verdict == "fails" and set(found.parts.values()) == {0}


def test_noise_that_passes_the_threshold_early_is_seen_where_it_must_be_kept():
    runs = made()
    for name, (settings, trajectory) in runs.items():
        if settings.task.vocab == 32:
            trajectory.arrays["accuracy"][:, 1] = 0.06
            runs[name] = settings, ending_at(trajectory, settings.training.threshold)
    found = held(RECALL, "B4 tokens", runs)
    assert found.verdict == "fails" and "must be kept: 0.55 N_tokens^0.79 N_pairs^2.25." in found.detail


def test_one_transition_takes_both_layers_along():
    assert held(RECALL, "B9", made()).verdict == "holds"


@pytest.mark.parametrize(
    "how, part",
    [
        ({"known_at": 2.4, "attention_at": (0.99, 1.2)}, "one transition"),
        ({"attention_at": (0.3, 0.99)}, "both layers in it"),
        ({"attention_at": (0.99, 1.3)}, "both layers in it"),
    ],
    ids=["a stage between", "one layer long before", "one layer behind"],
)
def test_a_stage_between_or_a_layer_apart_is_not_one_transition(how, part, monkeypatch):
    if how.get("known_at", 0) > 1.5:  # The made clock goes to one and a half plateaus.
        monkeypatch.setattr("tests.report.made_emergence._clock", long_clock)
    assert missing(held(RECALL, "B9", made(**how))) == {part}


def test_runs_that_do_not_get_to_half_are_counted_and_do_not_decide():
    found = held(RECALL, "B9", made(how=lambda settings: {"known_at": 9.0} if settings.task.pairs == 64 else {}))
    assert found.verdict == "holds" and "8 do not reach it" in found.detail
    assert held(RECALL, "B9", made(known_at=9.0)).verdict == "cannot be judged"


def slower(kind):
    """Runs with copies, or with favourites, that take long."""
    return lambda settings: {"length": 1e5} if getattr(settings.task, kind) > (kind == "copies") else {}


@pytest.mark.parametrize(
    "how, parts",
    [(lambda settings: {}, set()), (slower("copies"), {"shorter with B", "B before every p"}),
     (slower("favoured"), {"shorter with p"})],
)  # fmt: skip
def test_repetition_shortens_the_plateau_of_single_pairs(how, parts):
    found = held(REPETITION, "B7 recall", made(REPETITION, how))
    assert missing(found) == parts
    assert found.verdict == ("fails" if parts else "holds")


@pytest.mark.parametrize("alike, most", [(0.95, "favoured"), (0.3, "favoured"), (0.3, "copies")])
def test_overfitting_is_a_gap_between_what_was_trained_and_single_pairs(alike, most):
    ends = {"copies": 8, "favoured": 0.95}
    runs = made(REPETITION, lambda own: {"end": alike if getattr(own.task, most) == ends[most] else 1.0})
    found = held(REPETITION, "B8", runs)
    assert found.verdict == ("holds" if alike < 0.9 else "fails")
    assert found.values == pytest.approx([1 - alike] * 4)


def test_a_gap_that_is_there_without_repetition_is_not_overfitting():
    found = held(REPETITION, "B8", made(REPETITION, end=0.3))
    assert found.verdict == "fails" and np.allclose(found.values, 0.7)
