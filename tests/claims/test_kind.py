"""A6: the minimal model behaves like the full one, seed by seed."""

import pytest
from tests.claims.made import FIGURE_2, bottoming_at, heads_on, made_settings, made_trajectory

from headway.claims import same_in_kind

SETTINGS = made_settings()
IN_ORDER, NOT_IN_ORDER = bottoming_at(10, 60, 300), bottoming_at(60, 10, 300)
SHARED, CROWDED = heads_on(FIGURE_2, SETTINGS), heads_on({0: None, 10: [(1, 0, 0)] * 3}, SETTINGS)


def run(*seeds, kl=None, attention=None):
    kl, attention = kl or [IN_ORDER] * len(seeds), attention or [SHARED] * len(seeds)
    return SETTINGS, made_trajectory(seeds, kl=kl, attention=attention)


def test_two_models_that_both_learn_in_order_and_share_the_blocks_are_the_same_in_kind():
    found = same_in_kind(run(0, 1), run(0, 1))
    assert found.verdict == "holds"
    assert found.values == (4, 4)


@pytest.mark.parametrize(
    "full, minimal, missing",
    [
        (run(0, kl=[NOT_IN_ORDER]), run(0), "full: in order"),
        (run(0, attention=[CROWDED]), run(0), "full: compete, then cooperate"),
        (run(0), run(0, kl=[NOT_IN_ORDER]), "minimal: in order"),
        (run(0), run(0, attention=[CROWDED]), "minimal: compete, then cooperate"),
    ],
)
def test_one_of_four_parts_that_fails_is_named(full, minimal, missing):
    found = same_in_kind(full, minimal)
    assert found.verdict == "fails"
    assert found.values == (3,)
    assert [part for part, count in found.parts.items() if count == 0] == [missing]


def test_models_are_compared_by_seed_and_not_by_place():
    full = run(0, 1, 2, kl=[NOT_IN_ORDER, IN_ORDER, IN_ORDER])
    minimal = run(2, 0, kl=[IN_ORDER, NOT_IN_ORDER])
    found = same_in_kind(full, minimal)
    assert found.seeds == (0, 2)
    assert found.holds == (False, True)
    assert found.values == (2, 4)


@pytest.mark.parametrize(
    "minimal, why",
    [(None, "The minimal model was not run beside the full one."), (run(5), "The two models share no seed.")],
)
def test_models_that_cannot_be_compared_give_no_verdict(minimal, why):
    found = same_in_kind(run(0, 1), minimal)
    assert (found.verdict, found.detail) == ("not run", why)


@pytest.mark.parametrize("heads, blocks", [(1, ((1, 2), (3, 4), (5, 6))), (3, ((1, 2),))])
def test_a_comparison_whose_parts_do_not_apply_gives_no_verdict(heads, blocks):
    settings = made_settings(heads, blocks)
    kl = [bottoming_at(*(10, 60, 300)[: len(blocks)])]
    odd = (settings, made_trajectory(kl=kl, attention=[heads_on({0: None}, settings)]))
    found = same_in_kind(odd, odd)
    assert found.verdict == "not run"
    assert found.detail
