"""B4 and B6 of recall: made runs that show them, and runs that break each part alone."""

import pytest
from tests.report.made_emergence import SEEDS, long_clock, made_recall

from headway.claims import recall_law
from headway.experiments.recall import GRIDS

SIZES = [settings for name, settings in GRIDS["paper"].items() if not name.startswith("fan-in")]


def made(many, **how):
    return [(settings, made_recall(settings, SEEDS, **how)) for settings in many]


def test_the_published_law_is_found_where_it_was_put():
    runs = made(SIZES)
    for claim, factor, wanted in ((recall_law.B4, "pairs", 2.25), (recall_law.B4_TOKENS, "tokens", 0.79)):
        found = recall_law.law_exponent(claim, *runs, factor=factor)
        assert found.verdict == "holds" and found.values == pytest.approx([wanted] * 4, abs=0.01)
    assert recall_law.law_constant(recall_law.B4_CONSTANT, *runs).values == pytest.approx([0.55] * 4, rel=0.02)
    assert recall_law.grows_with_pairs_and_tokens(recall_law.B6_RECALL, *runs).verdict == "holds"


def test_the_law_of_matching_is_that_of_half_the_answers_not_of_the_first_few(monkeypatch):
    found = recall_law.matching_exponent(recall_law.B4_MATCHING, *made(SIZES, known_at=1.3), factor="pairs")
    assert found.verdict == "holds" and found.values == pytest.approx([2.25] * 4, abs=0.01)
    monkeypatch.setattr("tests.report.made_emergence._clock", long_clock)
    few, many = ([size for size in SIZES if (size.task.pairs == 8) == is_few] for is_few in (True, False))
    copied = [*made(few, known_at=2.8), *made(many)]
    assert recall_law.law_exponent(recall_law.B4, *copied, factor="pairs").verdict == "holds"
    assert recall_law.matching_exponent(recall_law.B4_MATCHING, *copied, factor="pairs").verdict == "fails"


def test_sizes_of_which_guessing_nearly_passes_the_threshold_do_not_count_above_chance():
    near, clear = ([size for size in SIZES if (size.task.vocab == 32) == is_near] for is_near in (True, False))
    runs = [*made(near, length=100.0), *made(clear)]
    for usual, above, factor in (
        (recall_law.B4, recall_law.B4_ABOVE_CHANCE, "pairs"),
        (recall_law.B4_TOKENS, recall_law.B4_ABOVE_CHANCE_TOKENS, "tokens"),
    ):
        assert recall_law.law_exponent(usual, *runs, factor=factor).verdict == "fails"
        assert recall_law.exponent_above_chance(above, *runs, factor=factor).verdict == "holds"
    assert (
        recall_law.exponent_above_chance(recall_law.B4_ABOVE_CHANCE, *made(near), factor="pairs").verdict == "not run"
    )


def test_plateaus_of_one_length_are_no_law():
    runs = made(SIZES, length=1000.0)
    assert recall_law.law_exponent(recall_law.B4, *runs, factor="pairs").verdict == "fails"
    found = recall_law.grows_with_pairs_and_tokens(recall_law.B6_RECALL, *runs)
    assert found.verdict == "fails" and set(found.parts.values()) == {0}


def test_noise_that_passes_the_threshold_early_is_seen_where_it_must_be_kept():
    runs = made(SIZES)
    for settings, trajectory in runs:
        if settings.task.vocab == 32:
            trajectory.arrays["accuracy"][:, 1] = 0.06
    found = recall_law.law_exponent(recall_law.B4_TOKENS, *runs, factor="tokens")
    assert found.verdict == "fails" and "must be kept: 0.55 tokens^0.79 pairs^2.25." in found.detail
