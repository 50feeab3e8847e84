"""B3 and B5 to B7 of transformers: made runs that show them, and runs that break each part alone."""

from dataclasses import replace

import numpy as np
import pytest
from tests.experiments.holding import held, made_paper, missing
from tests.report.made_emergence import SEEDS, made_location

from headway.analysis.crossings import learnt_at
from headway.experiments.transformer_law import EXPERIMENT as LAW


def made(**how):
    return made_paper(LAW, lambda settings: made_location(settings, SEEDS, **how))


def by(length):
    """Runs whose plateaus are a function of their task."""
    return made_paper(LAW, lambda settings: made_location(settings, SEEDS, length(settings.task)))


def test_a_plateau_is_the_first_evaluation_at_or_below_the_threshold():
    for settings, trajectory in made().values():
        np.testing.assert_array_equal(learnt_at(trajectory, settings.training.threshold), trajectory.facts["plateau"])


def test_the_published_law_is_found_where_it_was_put():
    runs = made()
    for claim, wanted in (("B3", 1.29), ("B3 length", 0.80), ("B3 copies", -0.80)):
        found = held(LAW, claim, runs)
        assert found.verdict == "holds" and found.values == pytest.approx([wanted] * 4, abs=0.01)
    found = held(LAW, "B3 constant", runs)
    assert found.verdict == "holds" and found.values == pytest.approx([0.76] * 4, rel=0.02)
    detail = held(LAW, "B3 length", runs).detail
    assert "0.76 d^1.29 T^0.80 B^-0.80" in detail and "0.80 at d = 16, 0.80 at d = 32" in detail


def test_the_law_of_another_start_is_fitted_without_copies():
    for claim, wanted in (("B3 Xavier", 1.29), ("B3 Xavier length", 0.80)):
        found = held(LAW, claim, made())
        assert found.verdict == "holds" and found.values == pytest.approx([wanted] * 4, abs=0.01)
    slower = by(lambda task: 13 * task.dimension**0.8 * task.length**0.8)
    assert held(LAW, "B3 Xavier", slower).verdict == "fails"
    assert held(LAW, "B3 Xavier length", slower).verdict == "holds"


def test_another_power_or_another_constant_fails_alone():
    runs = by(lambda task: 3 * 0.76 * task.dimension**0.5 * task.length**0.8 * task.copies**-0.8)
    assert held(LAW, "B3", runs).values == pytest.approx([0.5] * 4, abs=0.01)
    assert held(LAW, "B3", runs).verdict == "fails"
    assert held(LAW, "B3 length", runs).verdict == "holds"
    longer = by(lambda task: 3 * 0.76 * task.dimension**1.29 * task.length**0.8 * task.copies**-0.8)
    assert held(LAW, "B3 constant", longer).verdict == "fails"


def test_runs_that_never_left_are_left_out_of_the_law_and_counted():
    runs = made()
    runs["T = 32, d = 16"][1].facts["plateau"][1] = np.nan
    found = held(LAW, "B3", runs)
    assert found.verdict == "holds" and "1 of 68 plateaus never ended" in found.detail


def test_a_factor_that_does_not_change_says_nothing():
    alike = {name: (settings.changed(task={"copies": 1}), run) for name, (settings, run) in made().items()}
    assert held(LAW, "B3 copies", alike).verdict == "not run"


def test_a_sharp_fall_behind_a_gain_holds():
    found = held(LAW, "B5 transformer", made())
    assert found.verdict == "holds" and max(found.values) < 0.2


@pytest.mark.parametrize("how, part", [({"fall": 0.9}, "sharp"), ({"gain_at": 1.0}, "attention later")])
def test_a_slow_fall_or_attention_that_comes_first_fails(how, part):
    assert missing(held(LAW, "B5 transformer", made(**how))) == {part}


def test_a_gain_that_is_noise_at_first_does_not_count_before_it_lasts():
    runs = made(gain_at=1.0)
    for _, trajectory in runs.values():
        trajectory.arrays["gain"][:, 0] = 0.5
    assert held(LAW, "B5 transformer", runs).parts["attention later"] == 0


@pytest.mark.parametrize("part, other", [("grows with T", "dimension"), ("grows with d", "length")])
def test_plateaus_that_grow_along_one_axis_only_fail(part, other):
    assert held(LAW, "B6 transformer", made()).verdict == "holds"
    assert missing(held(LAW, "B6 transformer", by(lambda task: 100.0 * getattr(task, other)))) == {part}


def test_repetition_shortens_and_copies_do_so_faster():
    found = held(LAW, "B7 transformer", made(fall=0.02))
    assert found.verdict == "holds" and found.values[0] > 1
    slow = by(lambda task: 1000 * task.copies**-0.1 * (1 - task.repeated))
    assert missing(held(LAW, "B7 transformer", slow)) == {"B more efficient"}


def test_the_shares_are_compared_at_the_higher_loss():
    """The run without repetition has a threshold of its own, which its plateau is longer for."""
    runs = made()
    runs["T = 64, d = 32"][1].arrays["loss"][:, 1:] = 0.39
    assert held(LAW, "B7 transformer", runs).parts["shorter with p"] == 0


def test_runs_are_known_by_their_settings_whatever_they_are_called():
    """The names stay, and what they named changes places."""
    runs = made()
    before = {claim.name: claim.held_against(runs) for claim in LAW.claims}
    names = list(runs)
    turned = dict(zip(names, [runs[name] for name in reversed(names)], strict=True))
    for claim in LAW.claims:
        found = claim.held_against(turned)
        assert found.values == pytest.approx(before[claim.name].values), claim.name
        assert replace(found, values=(), interval=None) == replace(before[claim.name], values=(), interval=None)
