"""Claims about real text, on made curves of which every answer is known."""

from typing import Any

import numpy as np
import pytest

from headway.claims import text
from headway.claims.claim import Claim
from headway.records import Trajectory
from headway.tasks.text import NEAR, Text

CLAIM = Claim("X", "It is so.", "It is seen.", "a number")
TIMES = np.unique(np.geomspace(1, 1000, 120).round())
TIMES = np.concatenate([[0], TIMES])
PLAIN = Text.usual().changed(task={"orders": 5})
LEVELS = np.array([4.5, 3.0, 2.4, 1.9, 1.6, 1.5, 1.5])
"""uniform, five orders, cache"""
INFORMATION = -np.diff(LEVELS[1:6])


def made(settings: Any = PLAIN, information: Any = INFORMATION, levels: Any = LEVELS, **curves: np.ndarray) -> tuple:
    """A run of one seed; curves are (time, ...)."""
    arrays = {name: np.asarray(values, float)[None] for name, values in curves.items()}
    facts = {"rung_loss": np.array([levels]), "information": np.array([information])}
    return settings, Trajectory((0,), {"evaluation": TIMES}, arrays, dict.fromkeys(arrays, "evaluation"), facts)


def holds(finding: Any) -> bool:
    return finding.holds[0]


def lowest(*steps: float) -> np.ndarray:
    """KL to uniform, the orders and the cache, each with its minimum at a step."""
    return 0.1 + np.abs(np.log1p(TIMES)[:, None] - np.log1p(np.array([0, *steps, steps[-1]])))


def rising(*steps: float, to: float = 0.6) -> np.ndarray:
    """Curves from 0.02 that are half-way at these steps."""
    return 0.02 + (to - 0.02) / (1 + np.exp(-(TIMES[:, None] - np.array(steps)) / 3))


def near(lags: dict[int, float], to: float = 0.6, heads: int = 2) -> np.ndarray:
    """Attention (time, layer, head, lag) of which one head takes up these lags at these steps."""
    found = np.full((len(TIMES), 2, heads, NEAR), 0.02)
    for lag, step in lags.items():
        found[:, 1, 0, lag - 1] = rising(step, to=to)[:, 0]
    return found


@pytest.mark.parametrize(
    ("steps", "good"),
    [
        ((10, 60, 200, 900), True),
        ((10, 60, 1000, 1000), True),  # the higher orders are not reached
        ((10, 1000, 1000, 1000), False),
        ((60, 10, 200, 900), False),
        ((10, 60, 900, 200), False),
    ],
)
def test_orders_are_passed_one_after_the_other(steps, good):
    assert holds(text.in_order(CLAIM, made(kl_rungs=lowest(*steps)))) == good
    fine, asked = made(kl_rungs=lowest(10, 60, 200, 900)), made(kl_rungs=lowest(*steps))
    for runs in ((fine, asked), (asked, fine), (asked, fine, fine)):
        assert holds(text.in_order(CLAIM, *runs)) == good, "every run counts, whatever it is called"


def test_confidence_alone_is_that_of_the_model_at_the_end():
    kl = lowest(10, 60, 200, 900)
    confidence = np.full((len(TIMES), 5, 6), 9.0)
    confidence[-1, 2] = 0.3
    assert holds(text.nearer_than_by_confidence(CLAIM, made(kl_rungs=kl, kl_confidence=confidence)))
    confidence[-1, 1, 2] = 0.05  # the bigram, with another confidence
    assert not holds(text.nearer_than_by_confidence(CLAIM, made(kl_rungs=kl, kl_confidence=confidence)))
    confidence[-1, :, :] = 0.3
    confidence[-1, 1, 4] = 0.01  # the fourth order is not asked for
    assert holds(text.nearer_than_by_confidence(CLAIM, made(kl_rungs=kl, kl_confidence=confidence)))


def test_lags_follow_their_information_and_not_their_distance():
    more = np.array([0.7, 0.2, 0.5, 0.1])  # lag 3 matters more than lag 2
    assert holds(text.by_information(CLAIM, made(attention_near=near({2: 20, 3: 60, 4: 200}))))
    assert not holds(text.by_information(CLAIM, made(attention_near=near({2: 60, 3: 20, 4: 200}))))
    assert holds(text.by_information(CLAIM, made(information=more, attention_near=near({2: 60, 3: 20, 4: 200}))))
    assert not holds(text.by_information(CLAIM, made(information=more, attention_near=near({2: 20, 3: 60, 4: 200}))))


def test_woven_text_has_its_lags_twice_as_far_back():
    woven = PLAIN.changed(task={"interleaved": 2})
    good = made(woven, attention_near=near({2: 20, 4: 60, 6: 200}))
    assert holds(text.by_information(CLAIM, good)) and holds(text.not_by_distance(CLAIM, good))
    as_plain = made(woven, attention_near=near({2: 20, 3: 60, 4: 200}))
    assert not holds(text.by_information(CLAIM, as_plain))
    assert not holds(text.not_by_distance(CLAIM, as_plain))


def test_heads_that_attend_to_one_lag_and_then_to_two_specialise():
    same = near({2: 20}, to=0.9)
    same[:, 1, 1] = same[:, 1, 0]
    apart = same.copy()
    late = TIMES > 300
    apart[late, 1, 1] = 0.02
    apart[late, 1, 1, 2] = 0.9
    assert holds(text.together_then_apart(CLAIM, made(attention_near=apart)))
    assert not holds(text.together_then_apart(CLAIM, made(attention_near=same))), "they stay together"
    alone = PLAIN.changed(model={"heads": 1})
    assert text.together_then_apart(CLAIM, made(alone, attention_near=near({2: 20}, heads=1))).verdict == "not run"


def heads_of(previous: float, copying: float, helped: float, to: float = 0.6) -> tuple:
    prefix = np.full((len(TIMES), 2, 2), 0.05)
    prefix[:, 1, 1] = rising(copying, to=to)[:, 0]
    return made(
        attention_near=near({2: previous}), prefix_matching=prefix, in_context_score=-rising(helped, to=0.5)[:, 0]
    )


def test_induction_heads_come_after_previous_token_heads_and_lower_the_in_context_score():
    assert holds(text.induction_after_previous(CLAIM, heads_of(50, 400, 420)))
    assert not holds(text.induction_after_previous(CLAIM, heads_of(400, 50, 60))), "in the other order"
    assert not holds(text.induction_after_previous(CLAIM, heads_of(50, 400, 60))), "the score falls with the first"
    none = text.induction_after_previous(CLAIM, heads_of(50, 400, 420, to=0.08))
    assert not holds(none) and np.isnan(none.values[0]), "no induction head forms"
    assert set(none.parts.values()) == {0}, "and what never forms has no order"


def test_shuffled_text_keeps_its_unigram_and_loses_its_lags():
    plain = made(kl_rungs=lowest(10, 60, 200, 900), attention_near=near({2: 20, 3: 60, 4: 200}))
    shuffled = PLAIN.changed(task={"shuffled": 4})
    kept = made(shuffled, kl_rungs=lowest(12, 60, 200, 900), attention_near=near({2: 20}, to=0.2))
    assert holds(text.lags_vanish(CLAIM, plain, kept))
    late = made(shuffled, kl_rungs=lowest(40, 60, 200, 900), attention_near=near({2: 20}, to=0.2))
    assert not holds(text.lags_vanish(CLAIM, plain, late))
    assert holds(text.lags_not_taken_up(CLAIM, plain, late)), "which does not ask when"
    taken = made(shuffled, kl_rungs=lowest(12, 60, 200, 900), attention_near=near({2: 20, 3: 60, 4: 200}))
    assert not holds(text.lags_vanish(CLAIM, plain, taken)) and not holds(text.lags_not_taken_up(CLAIM, plain, taken))
    assert text.lags_vanish(CLAIM, plain).verdict == text.lags_vanish(CLAIM, kept).verdict == "not run"


def losing(*steps: float, levels: Any = LEVELS) -> np.ndarray:
    """A loss that falls from each order to the next at these steps, and never further."""
    loss = np.full(len(TIMES), levels[1])
    for step, before, after in zip(steps, levels[1:], levels[2:], strict=False):
        loss += (after - before) / (1 + np.exp(-(TIMES - step) / 2))
    return loss


def test_a_lag_is_learnt_when_half_of_its_information_is():
    steps = text.learnt_at(made(loss=losing(20, 100)))[0]
    np.testing.assert_allclose(steps[:2], [20, 100], rtol=0.1)
    assert np.isnan(steps[2])


def test_depth_is_judged_text_by_text_and_one_that_never_gets_there_is_last():
    one, two = (PLAIN.changed(model={"layers": layers}) for layers in (1, 2))
    sooner = text.sooner_with_depth(CLAIM, made(two, loss=losing(20, 60)), made(one, loss=losing(20, 150)))
    assert holds(sooner) and sooner.values[0] == pytest.approx(60 / 150, rel=0.1)
    assert not holds(text.sooner_with_depth(CLAIM, made(one, loss=losing(20, 60)), made(two, loss=losing(20, 150))))
    never = text.sooner_with_depth(CLAIM, made(one, loss=losing(20)), made(two, loss=losing(20, 150)))
    assert holds(never) and np.isnan(never.values[0])
    assert text.sooner_with_depth(CLAIM, made(one, loss=losing(20))).verdict == "not run"


def test_information_predicts_when_if_one_power_law_serves_all_texts():
    def run(information: Any, factor: float = 1.0) -> tuple:
        own = np.concatenate([[4.5, 3.0], 3.0 - np.cumsum(information), [3.0 - np.sum(information)]])
        steps = factor * 20 / np.asarray(information)
        return made(information=information, levels=own, loss=losing(*steps, levels=own))

    texts = [run([0.8, 0.4, 0.2]), run([0.6, 0.3, 0.1]), run([1.0, 0.5, 0.25])]
    found = text.information_predicts_when(CLAIM, *texts)
    assert holds(found) and found.values[0] < 1.2 and "Exponent -1.0" in found.detail
    slow = text.information_predicts_when(CLAIM, texts[0], texts[1], run([1.0, 0.5, 0.25], factor=4))
    assert not holds(slow) and slow.values[0] > 1.5
    assert not holds(text.information_predicts_when(CLAIM, run([0.3, 0.3, 0.3])))


def test_a_plateau_is_as_long_as_its_rung_is_the_nearest():
    def run(settings: Any, until: float) -> tuple:
        return made(settings, kl_rungs=np.where(TIMES[:, None] < until, [1, 0.1, 1, 1], [1, 1, 0.1, 1]))

    woven, plain = PLAIN.changed(task={"interleaved": 2}), run(PLAIN, 50)
    longer = text.waits_without_shortcut(CLAIM, plain, run(woven, 150))
    assert holds(longer) and longer.values[0] == pytest.approx(3, rel=0.1)
    assert not holds(text.waits_without_shortcut(CLAIM, plain, run(woven, 60)))
    assert text.waits_without_shortcut(CLAIM, plain).verdict == "not run"
