"""Claims about in-context chains and sub-n-grams, on made curves of which every answer is known."""

from typing import Any

import numpy as np
import pytest

from headway.claims import in_context, sub_n_grams
from headway.claims.claim import Claim
from headway.records import Trajectory
from headway.tasks.in_context_chain import InContextChain
from headway.tasks.minimal_induction import MinimalInduction
from headway.tasks.sub_n_grams_simple import SimpleSubNGrams

CLAIM = Claim("X", "It is so.", "It is seen.", "a number")
TIMES = np.arange(0, 2001, 20)
UNIGRAM, BIGRAM = 0.17, 0.026
SETTINGS = InContextChain.usual().changed(task={"states": 3})


def made(settings: Any = SETTINGS, rungs: tuple[float, ...] = (0.28, UNIGRAM, BIGRAM), **curves: np.ndarray) -> tuple:
    """A run of one seed; curves are (time, ...)."""
    arrays = {name: np.asarray(values, float)[None] for name, values in curves.items()}
    facts = {"rung_loss": np.array([rungs])}
    return settings, Trajectory((0,), {"evaluation": TIMES}, arrays, dict.fromkeys(arrays, "evaluation"), facts)


def staged(*ends: int, levels: tuple[float, ...] = (0.28, 0.165, 0.05), width: float = 15.0) -> np.ndarray:
    """A loss that falls from level to level around these steps."""
    loss = np.full(len(TIMES), levels[0])
    for end, before, after in zip(ends, levels, levels[1:], strict=False):
        loss += (after - before) / (1 + np.exp(-(TIMES - end) / width))
    return loss


def nearest(*changes: int, rungs: int = 3) -> np.ndarray:
    """KL to the rungs of a model that is nearest to the next one from each of these steps on."""
    stage = np.searchsorted(np.array(changes), TIMES, side="right")
    return 0.01 + np.abs(stage[:, None] - np.arange(rungs))


def holds(finding: Any) -> bool:
    return finding.holds[0]


def test_rungs_are_passed_in_order_if_each_is_the_nearest_in_its_turn_and_the_last_at_the_end():
    assert holds(in_context.passes_in_order(CLAIM, made(kl_rungs=nearest(100, 1200))))
    assert not holds(in_context.passes_in_order(CLAIM, made(kl_rungs=nearest(100)))), "never a bigram"
    assert not holds(in_context.passes_in_order(CLAIM, made(kl_rungs=nearest(0, 1200)))), "never uniform"
    assert not holds(in_context.passes_in_order(CLAIM, made(kl_rungs=nearest(100, 1200)[::-1])))


def test_a_plateau_waits_at_the_unigram_and_ends_at_once():
    found = in_context.plateau_then_fall(CLAIM, made(loss=staged(60, 1300)))
    assert holds(found) and found.values[0] == pytest.approx(0.6, abs=0.05)
    assert not holds(in_context.plateau_then_fall(CLAIM, made(loss=staged(60, 300)))), "too short"
    assert not holds(in_context.plateau_then_fall(CLAIM, made(loss=staged(60, 1300, width=200.0)))), "too slow"
    assert not holds(in_context.plateau_then_fall(CLAIM, made(loss=staged(60)))), "never ends"


def test_one_layer_may_not_fall_below_its_share_of_the_unigram():
    one = SETTINGS.changed(model={"layers": 1})
    assert holds(in_context.one_layer_stays(CLAIM, made(one, loss=staged(60))))
    assert not holds(in_context.one_layer_stays(CLAIM, made(one, loss=staged(60, 1300, levels=(0.28, 0.165, 0.11)))))


def test_an_induction_head_makes_half_of_its_way_in_both_layers():
    rise = np.linspace(0.04, 0.6, len(TIMES))
    low, flat = np.linspace(0.04, 0.4, len(TIMES)), np.full(len(TIMES), 0.04)
    both = np.stack([rise, flat], axis=1)[:, :, None], np.stack([flat, rise], axis=1)[:, :, None]
    assert holds(in_context.induction_head(CLAIM, made(attention_back_1=both[0], attention_followers=both[1])))
    weak = np.stack([low, flat], axis=1)[:, :, None]
    assert not holds(in_context.induction_head(CLAIM, made(attention_back_1=weak, attention_followers=both[1])))


def test_unigrams_distract_counted_in_the_other_sequences():
    """A quarter of unigrams: 1000 steps hold as many others as 750 steps without."""
    alone = SETTINGS.changed(task={"law": "doubly-stochastic"})
    mixed = alone.changed(task={"unigrams": 0.25})
    plain = made(alone, loss=staged(700, levels=(0.28, 0.05)), kl_rungs=nearest(700, 720))
    later, no_later = (made(mixed, loss=staged(step, levels=(0.28, 0.05))) for step in (1100, 800))
    assert holds(in_context.unigrams_distract(CLAIM, plain, later))
    assert not holds(in_context.unigrams_distract(CLAIM, plain, no_later))
    waiting = made(alone, loss=staged(700, levels=(0.28, 0.05)), kl_rungs=nearest(100, 700))
    assert not holds(in_context.unigrams_distract(CLAIM, waiting, later)), "a plateau at the unigram"


def test_every_token_back_needs_a_head_of_its_own():
    trigram = SETTINGS.changed(task={"states": 2, "order": 2}, model={"heads": 2, "width": 32})
    enough, stuck = made(trigram, kl_rungs=nearest(60, 300, 500, rungs=4)), made(kl_rungs=nearest(60, 300, rungs=4))
    assert holds(in_context.heads_for_every_token(CLAIM, enough, stuck))
    assert not holds(in_context.heads_for_every_token(CLAIM, enough, enough)), "one head that knows trigrams"
    assert not holds(in_context.heads_for_every_token(CLAIM, stuck, stuck))


def test_the_diagonal_comes_before_the_codes_and_odd_distances_exceed_even_ones():
    settings = MinimalInduction.usual()
    codes = np.zeros((len(TIMES), 6))
    rise = 1 / (1 + np.exp(-(TIMES - 600) / 80))
    codes[:, 1], codes[:, 3], codes[:, 0] = 5 * rise, rise, -rise
    curves = {"loss": staged(700, levels=(UNIGRAM, 0.05)), "gain_other": 0 * rise, "codes": codes}
    early, late = (1 - np.exp(-TIMES / 20)), 1 / (1 + np.exp(-(TIMES - 1200) / 80))
    assert holds(in_context.diagonal_first(CLAIM, made(settings, gain_same=early, **curves)))
    assert not holds(in_context.diagonal_first(CLAIM, made(settings, gain_same=late, **curves)))
    curves["codes"] = codes[:, [0, 1, 3, 2, 4, 5]]
    assert not holds(in_context.diagonal_first(CLAIM, made(settings, gain_same=early, **curves)))


NGRAMS = SimpleSubNGrams.usual()
RUNGS = (1.609, 1.58, 1.5, 1.26)


def test_plateaus_lie_at_the_rungs_below_the_last_in_their_order():
    through = staged(100, 500, 1300, levels=(1.63, 1.583, 1.497, 1.26))
    assert holds(sub_n_grams.waits_at_rungs(CLAIM, made(NGRAMS, RUNGS, loss=through)))
    beside = staged(100, 500, 1300, levels=(1.63, 1.583, 1.45, 1.26))
    assert not holds(sub_n_grams.waits_at_rungs(CLAIM, made(NGRAMS, RUNGS, loss=beside)))


def test_heads_take_one_token_back_after_the_other():
    stage = np.searchsorted([500, 1300], TIMES, side="right")
    one, two = np.where(stage >= 1, 0.8, 0.1), np.where(stage >= 2, 0.8, 0.1)
    back_1, back_2 = np.stack([one, 0.1 + 0 * one], axis=1), np.stack([0.1 + 0 * one, two], axis=1)
    curves = {"kl_rungs": nearest(60, 500, 1300, rungs=4), "attention_back_1": back_1[:, None]}
    off = np.stack([one - 0.1, two - 0.1], axis=1)[:, None]
    good = made(NGRAMS, RUNGS, attention_back_2=back_2[:, None], attention_off_uniform=off, **curves)
    assert holds(sub_n_grams.heads_by_stage(CLAIM, good))
    alike = made(NGRAMS, RUNGS, attention_back_2=0 * back_2[:, None], attention_off_uniform=off, **curves)
    assert not holds(sub_n_grams.heads_by_stage(CLAIM, alike)), "nobody looks back by two"


def test_the_gradient_peaks_in_every_drop():
    loss = staged(100, 600, 1400, levels=(1.63, 1.58, 1.5, 1.26), width=40.0)
    bump = sum(np.exp(-(((TIMES - at) / 80) ** 2)) for at in (600, 1400))
    assert holds(sub_n_grams.gradient_peaks_in_drops(CLAIM, made(NGRAMS, RUNGS, loss=loss, gradient_norm=0.05 + bump)))
    flat = made(NGRAMS, RUNGS, loss=loss, gradient_norm=np.full(len(TIMES), 0.05))
    assert not holds(sub_n_grams.gradient_peaks_in_drops(CLAIM, flat))
    stuck = made(NGRAMS, RUNGS, loss=staged(100, 600, levels=(1.63, 1.58, 1.5)), gradient_norm=0.05 + bump)
    assert not holds(sub_n_grams.gradient_peaks_in_drops(CLAIM, stuck)), "a drop that is not made"


def test_the_gradient_peaks_between_plateaus_that_lie_above_the_rungs():
    loss = staged(100, 600, 1400, levels=(1.63, 1.59, 1.52, 1.32), width=40.0)
    bump = sum(np.exp(-(((TIMES - at) / 80) ** 2)) for at in (600, 1400))
    run = made(NGRAMS, RUNGS, loss=loss, gradient_norm=0.05 + bump)
    assert not holds(sub_n_grams.gradient_peaks_in_drops(CLAIM, run)), "the last rung is not met"
    assert holds(sub_n_grams.gradient_peaks_between_plateaus(CLAIM, run))
    flat = made(NGRAMS, RUNGS, loss=loss, gradient_norm=np.full(len(TIMES), 0.05))
    assert not holds(sub_n_grams.gradient_peaks_between_plateaus(CLAIM, flat))
    still = made(NGRAMS, RUNGS, loss=np.full(len(TIMES), 1.5), gradient_norm=0.05 + bump)
    assert not holds(sub_n_grams.gradient_peaks_between_plateaus(CLAIM, still)), "no drop"


def test_the_farthest_token_is_attended_to_before_the_ones_between():
    """Of 4-grams; a token that no head attends to comes last."""
    settings = NGRAMS.changed(task={"grams": 4})

    def run(**reached):
        heads = {
            f"attention_back_{lag}": np.stack([reached.get(f"at_{lag}", np.inf) <= TIMES] * 2, -1) for lag in (1, 2, 3)
        }
        return made(settings, RUNGS, **{name: 0.6 * values[:, None] for name, values in heads.items()})

    assert holds(sub_n_grams.farthest_before_between(CLAIM, run(at_1=100, at_3=500, at_2=900)))
    assert holds(sub_n_grams.farthest_before_between(CLAIM, run(at_1=100, at_3=500)))
    assert not holds(sub_n_grams.farthest_before_between(CLAIM, run(at_1=100, at_2=500, at_3=900)))
    assert not holds(sub_n_grams.farthest_before_between(CLAIM, run(at_1=100)))
