"""Paper B as its appendix trains it: made runs that show the claims, and runs that break each part alone."""

from dataclasses import replace

import numpy as np
import pytest
from tests.experiments.holding import held, made_paper, missing
from tests.report.made_emergence import SEEDS, made_location, made_recall

from headway.analysis.crossings import ending_at
from headway.experiments.recall_appendix import EXPERIMENT as RECALL
from headway.experiments.recall_repetition_appendix import EXPERIMENT as REPEATED
from headway.experiments.transformer_appendix import CHANGES, change_of
from headway.experiments.transformer_appendix import EXPERIMENT as LAW
from headway.experiments.transformer_variations import EXPERIMENT as VARIED
from headway.experiments.transformer_variations import WHERE


def by(length):
    """Runs whose plateaus are a function of their settings."""
    return made_paper(LAW, lambda settings: made_location(settings, SEEDS, length(settings)))


def published(settings):
    """The published law; less of it with a share of repetition, the more so the larger d is."""
    task = settings.task
    less = 1 + task.repeated * task.dimension / 100
    return 0.76 * task.dimension**1.29 * (task.length / task.copies) ** 0.8 / less


def test_the_tied_law_is_found_where_it_was_put_and_the_untied_one_stands_beside():
    runs = by(published)
    found = {name: held(LAW, f"B3 appendix{name}", runs) for name in ("", " tokens per copy", " length", " copies")}
    assert {each.verdict for each in found.values()} == {"holds"}
    wanted = (1.29, 0.80, 0.80, -0.80)
    for finding, power in zip(found.values(), wanted, strict=True):
        assert finding.values == pytest.approx([power] * 4, abs=0.01)
    assert (
        "0.76 d^1.29 (T/B)^0.80" in found[""].detail
        and "With T and B fitted separately: 0.76 d^1.29 T^0.80 B^-0.80" in found[""].detail
    )
    assert held(LAW, "B3 appendix constant", runs).verdict == "holds"


def test_where_copies_count_less_than_tokens_only_the_untied_power_of_b_fails():
    runs = by(lambda settings: published(settings) * settings.task.copies**0.3)
    assert held(LAW, "B3 appendix copies", runs).values == pytest.approx([-0.5] * 4, abs=0.01)
    assert held(LAW, "B3 appendix copies", runs).verdict == "fails"
    assert held(LAW, "B3 appendix length", runs).verdict == "holds"


def test_the_published_power_is_inside_the_interval_or_it_is_not():
    detail = held(LAW, "B3 appendix", by(lambda settings: 3 * settings.task.dimension * settings.task.length)).detail
    assert "The published 1.29 is not inside" in detail


def test_the_steps_that_a_start_takes_to_be_unlearnt_are_told_apart_from_the_plateau():
    def settling(share):
        def make(settings):
            run = made_location(settings, SEEDS, published(settings))
            times, at = run.times("loss"), share * run.facts["plateau"][:, None]
            loss = np.where(times[None] < at, 3.0, run["loss"])
            return replace(run, arrays={**run.arrays, "loss": loss})

        return held(LAW, "B3 appendix settling", made_paper(LAW, make))

    assert settling(0.05).verdict == "holds" and settling(0.3).verdict == "fails"


def test_the_start_makes_the_power_of_t_where_another_start_has_a_smaller_one():
    assert {change_of(settings) for settings in LAW.grids["paper"].values()} == {"", *CHANGES}

    def slower(settings):
        start = settings.task.length**-0.3 if change_of(settings) == "fan-in" else 1
        return published(settings) * start

    found = held(LAW, "B3 appendix start", by(slower))
    assert found.verdict == "holds" and found.values == pytest.approx([0.3] * 4, abs=0.02)
    assert "fan-in" in found.detail and "causal" in found.detail
    assert held(LAW, "B3 appendix start", by(published)).verdict == "fails"


def test_copies_shorten_and_repetition_across_samples_helps_the_more_the_larger_d_is():
    runs = by(published)
    assert held(LAW, "B7 appendix", runs).verdict == held(LAW, "B7 appendix across samples", runs).verdict == "holds"
    alike = by(lambda settings: 2 * settings.task.dimension * settings.task.length)
    assert held(LAW, "B7 appendix", alike).verdict == "fails"
    assert missing(held(LAW, "B7 appendix across samples", alike)) == {"sooner at every d", "more so"}
    less = by(lambda settings: published(settings) / (1 + settings.task.repeated * 20 / settings.task.dimension) ** 2)
    assert missing(held(LAW, "B7 appendix across samples", less)) == {"more so"}


@pytest.mark.parametrize("name", WHERE)
def test_every_variation_has_a_law_of_its_own(name):
    def make(settings):
        power = 0.5 if WHERE[name](settings) else 0.9
        return made_location(settings, SEEDS, 9 * settings.task.dimension * settings.task.length**power)

    found = held(VARIED, f"B3 {name}", made_paper(VARIED, make))
    assert found.verdict == "holds" and found.values == pytest.approx([0.5] * 4, abs=0.01)
    assert "Exponent of d: 1.00 to 1.00" in found.detail


def test_plateaus_that_do_not_grow_or_follow_no_power_law_are_no_law():
    def held_of(length):
        runs = made_paper(VARIED, lambda settings: made_location(settings, SEEDS, length(settings.task)))
        return held(VARIED, "B3 2 layers", runs)

    assert missing(held_of(lambda task: 9000 / task.length * task.dimension)) == {"grows with T"}
    assert missing(held_of(lambda task: 900 * (5 if (task.length, task.dimension) == (64, 16) else 1) * task.length
                           * task.dimension)) == {"a power law"}  # fmt: skip


@pytest.mark.parametrize("variant", ["", " norm", " unit"])
def test_the_law_of_recall_is_found_with_and_without_norm_and_with_a_large_embedding(variant):
    runs = made_paper(RECALL, lambda settings: made_recall(settings, SEEDS))
    for more, wanted in (("", 2.25), (" tokens", 0.79)):
        found = held(RECALL, f"B4 appendix{variant}{more}", runs)
        assert found.verdict == "holds" and found.values == pytest.approx([wanted] * 4, abs=0.02)
    assert held(RECALL, f"B4 appendix{variant} constant", runs).verdict == "holds"


def test_a_larger_embedding_shortens_the_plateau_at_every_size_or_it_does_not():
    def shortened(by):
        def make(settings):
            law = 0.55 * settings.task.vocab**0.79 * settings.task.pairs**2.25
            return made_recall(settings, SEEDS, law / by(settings))

        return held(RECALL, "B4 appendix embedding", made_paper(RECALL, make))

    found = shortened(lambda settings: settings.model.embedding_scale)
    # sqrt(3 N_tokens) of the middle one of the seven sizes that all three have.
    assert found.verdict == "holds" and found.values == pytest.approx([np.sqrt(3 * 64)] * 4, rel=0.05)
    assert "0.55, 0.32, 0.0" in found.detail
    assert shortened(lambda settings: 1.0).verdict == "fails"
    but_one = shortened(lambda settings: settings.model.embedding_scale if settings.task.vocab != 128 else 2.0)
    assert but_one.verdict == "fails"


def test_both_attentions_belong_to_the_last_layers_and_to_all_of_their_heads():
    def of_heads(previous, relevant):
        def make(settings):
            run = made_recall(settings, SEEDS)
            shapes = {"attention_previous": previous, "attention_relevant": relevant}
            arrays = {name: np.broadcast_to(np.array(v, float), (*run["loss"].shape, *np.shape(v))) for name, v in
                      shapes.items()}  # fmt: skip
            return replace(run, arrays={**run.arrays, **arrays})

        return held(RECALL, "B9 appendix layers", made_paper(RECALL, make))

    low, high, one = [0.1] * 4, [0.8] * 4, [0.9, 0.1, 0.1, 0.1]
    assert of_heads([low, low, high], [low, low, low, high]).verdict == "holds"
    assert missing(of_heads([high, low, low], [low, low, low, high])) == {"last layers"}
    assert missing(of_heads([low, low, one], [low, low, low, high])) == {"all heads"}


def repeated(change=lambda settings, run: run):
    """Copies help 4 times at best, favourites 2 times."""

    def make(settings):
        task = settings.task
        sooner = min(task.copies, 4.0) * (2 if task.favoured else 1)
        return change(settings, made_recall(settings, SEEDS, 8000 / sooner))

    return made_paper(REPEATED, make)


def test_copies_help_four_times_and_favourites_two_times_or_they_do_not():
    runs = repeated()
    for name, factor in (("B7 recall appendix", 4), ("B7 recall appendix across samples", 2)):
        found = held(REPEATED, name, runs)
        assert found.verdict == "holds" and found.values == pytest.approx([factor] * 4, rel=0.05)
    late = repeated(lambda settings, run: ending_at(run, 2.0))
    assert held(REPEATED, "B7 recall appendix", late).verdict == "cannot be judged", "no plateau ends"


def test_on_training_data_more_repetition_must_never_be_slower():
    assert held(REPEATED, "B7 recall appendix, training data", repeated()).verdict == "holds"

    def slower(settings, run):
        if settings.task.favoured != 0.95:
            return run
        never = np.zeros_like(run["accuracy_repeated"])
        return replace(run, arrays={**run.arrays, "accuracy_repeated": never})

    assert missing(held(REPEATED, "B7 recall appendix, training data", repeated(slower))) == {"with p"}


def test_what_overfits_may_rise_again_late():
    def overfit(end):
        def change(settings, run):
            if settings.task.copies != 16:
                return run
            times = run.times("accuracy")
            late = np.where(times > 0.9 * times[-1], end, 0.06)
            return replace(run, arrays={**run.arrays, "accuracy": np.broadcast_to(late, run["accuracy"].shape)})

        runs = repeated(change)
        return [held(REPEATED, name, runs).verdict for name in ("B8 appendix", "B8 appendix late rise")]

    assert overfit(0.06) == ["holds", "fails"]
    assert overfit(0.6) == ["holds", "holds"]
    assert held(REPEATED, "B8 appendix", repeated()).verdict == "fails"
