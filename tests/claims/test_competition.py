"""A4: heads that compete and then cooperate."""

import pytest
from tests.claims.made import FIGURE_2, heads_on, made_settings, made_trajectory

from headway.claims.competition import compete_then_cooperate
from headway.experiments.stages import A4_MINIMAL

SETTINGS = made_settings()
TOGETHER = [(1, 0, 0)] * 3
APART = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


def shown_by(*stories):
    trajectory = made_trajectory(attention=[heads_on(story, SETTINGS) for story in stories])
    return compete_then_cooperate(A4_MINIMAL, (SETTINGS, trajectory))


def test_heads_that_share_one_block_and_then_specialise_compete_and_then_cooperate():
    found = shown_by({0: None, 10: TOGETHER, 160: APART})
    assert found.verdict == "holds"
    assert found.values == (1,), "all on one block is an index of 1, one head per block of 0"
    assert found.parts == {"rises": 1, "falls": 1}
    assert "The index peaks at 1.00 at step 10" in found.detail
    assert "the heads attend most to different blocks in 1 of 1 seeds" in found.detail


def test_figure_2_shows_competition_and_then_cooperation():
    assert shown_by(FIGURE_2).verdict == "holds"


@pytest.mark.parametrize(
    "story, rises, falls",
    [
        ({0: None, 10: TOGETHER}, 1, 0),
        ({0: TOGETHER, 10: APART}, 0, 1),
        ({0: None}, 0, 0),
        ({0: APART}, 0, 0),
    ],
    ids=["they never part", "they were never apart", "they never choose", "they never meet"],
)
def test_half_of_the_story_is_not_the_story(story, rises, falls):
    found = shown_by(story)
    assert found.verdict == "fails"
    assert found.parts == {"rises": rises, "falls": falls}


@pytest.mark.parametrize("share, verdict", [(0.27, "fails"), (0.33, "holds")])
def test_a_bump_counts_if_it_is_higher_than_a_tenth(share, verdict):
    """Of three pairs of heads one overlaps by `share`: the index is a third of it."""
    bump = [(1, 0, 0), (share, 1 - share, 0), (0, 0, 1)]
    assert shown_by({0: APART, 10: bump, 160: APART}).verdict == verdict


@pytest.mark.parametrize(
    "heads, blocks, why",
    [
        (1, ((1, 2), (3, 4)), "Competition needs two heads or more."),
        (3, ((1, 2),), "The chain has one block; competition needs two or more."),
    ],
)
def test_one_head_or_one_block_leaves_nothing_to_compete_for(heads, blocks, why):
    settings = made_settings(heads, blocks)
    found = compete_then_cooperate(A4_MINIMAL, (settings, made_trajectory(attention=[heads_on({0: None}, settings)])))
    assert (found.verdict, found.detail) == ("not run", why)
