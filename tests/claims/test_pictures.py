"""A3: the four pictures of Figure 2."""

from dataclasses import replace

import numpy as np
import pytest
from tests.claims.made import FIGURE_2, TIMES, heads_on, made_settings, made_trajectory

from headway.experiments.attention import A3, A3_PUBLISHED

SETTINGS = made_settings()
PICTURES = {
    "step 0: uniform": [(0.9, 0, 0)] * 3,
    "step 60: all on block 1, one a little on block 2": [(0.9, 0.05, 0)] * 3,
    "step 300: two on block 1, one on block 2": [(0.9, 0, 0), (0, 0.9, 0), (0, 0.9, 0)],
    "step 1000: one head per block": [(0.9, 0, 0), (0, 0.9, 0), (0.5, 0.1, 0.4)],
}
"""What spoils each picture, and no other."""


def test_the_papers_own_pictures_are_as_published():
    found = A3_PUBLISHED.held_against(
        {"full": (SETTINGS, made_trajectory(attention=[heads_on(FIGURE_2, SETTINGS)] * 2))}
    )
    assert found.verdict == "holds"
    assert found.values == (4, 4)
    assert found.parts == dict.fromkeys(PICTURES, 2)
    assert found.detail == "At any steps, all four appear in this order in 2 of 2 seeds."


def test_which_head_does_what_does_not_matter():
    mirrored = {step: masses if masses is None else masses[::-1] for step, masses in FIGURE_2.items()}
    trajectory = made_trajectory(attention=[heads_on(mirrored, SETTINGS)])
    assert A3_PUBLISHED.held_against({"full": (SETTINGS, trajectory)}).verdict == "holds"


@pytest.mark.parametrize("picture", PICTURES)
def test_a_picture_that_is_not_as_published_is_the_one_that_is_named(picture):
    steps = dict(zip(PICTURES, FIGURE_2, strict=True))
    spoilt = heads_on({**FIGURE_2, steps[picture]: PICTURES[picture]}, SETTINGS)
    found = A3_PUBLISHED.held_against(
        {"full": (SETTINGS, made_trajectory(attention=[heads_on(FIGURE_2, SETTINGS), spoilt]))}
    )
    assert found.holds == (True, False)
    assert found.values == (4, 3)
    assert found.parts == {name: 1 if name == picture else 2 for name in PICTURES}


def test_the_same_pictures_at_other_steps_fail_and_the_reader_learns_that_they_came():
    early = dict(zip((0, 2, 20, 100), FIGURE_2.values(), strict=True))
    found = A3_PUBLISHED.held_against({"full": (SETTINGS, made_trajectory(attention=[heads_on(early, SETTINGS)]))})
    assert found.verdict == "fails"
    assert found.detail == "At any steps, all four appear in this order in 1 of 1 seeds."


def test_pictures_in_another_order_are_not_the_papers_story():
    backwards = dict(zip((0, 20, 160, 600), reversed(FIGURE_2.values()), strict=True))
    found = A3_PUBLISHED.held_against({"full": (SETTINGS, made_trajectory(attention=[heads_on(backwards, SETTINGS)]))})
    assert found.verdict == "fails"
    assert found.detail == "At any steps, all four appear in this order in 0 of 1 seeds."


def test_a_shorter_run_is_looked_at_when_it_ends():
    whole = made_trajectory(attention=[heads_on(FIGURE_2, SETTINGS)])
    upto = TIMES <= 600
    short = replace(
        whole, clocks={"evaluation": TIMES[upto]}, arrays={"attention_by_lag": whole["attention_by_lag"][:, upto]}
    )
    found = A3_PUBLISHED.held_against({"full": (SETTINGS, short)})
    assert found.verdict == "holds"
    assert list(found.parts)[-1] == "step 600: one head per block"


@pytest.mark.parametrize(
    "heads, blocks, words",
    [(2, ((1, 2), (3, 4), (5, 6)), "this run has 2 and 3"), (3, ((1,), (2,)), "this run has 3 and 2")],
)
def test_other_numbers_of_heads_or_blocks_have_no_published_picture(heads, blocks, words):
    settings = made_settings(heads, blocks)
    found = A3_PUBLISHED.held_against({"full": (settings, made_trajectory(attention=[heads_on({0: None}, settings)]))})
    assert found.verdict == "not run"
    assert words in found.detail


def test_attention_that_is_not_a_number_shows_nothing():
    attention = np.full_like(heads_on(FIGURE_2, SETTINGS), np.nan)
    found = A3_PUBLISHED.held_against({"full": (SETTINGS, made_trajectory(attention=[attention]))})
    assert found.holds == (False,)


@pytest.mark.parametrize("steps", [tuple(FIGURE_2), (0, 2, 20, 100)])
def test_at_steps_of_its_own_a_seed_shows_the_four_pictures_in_this_order(steps):
    shown = heads_on(dict(zip(steps, FIGURE_2.values(), strict=True)), SETTINGS)
    found = A3.held_against({"full": (SETTINGS, made_trajectory(attention=[shown] * 2))})
    assert (found.verdict, found.values) == ("holds", (4, 4))
    assert "First seen, in order, at steps 0," in found.detail


def test_in_another_order_only_those_count_that_come_one_after_the_other():
    backwards = dict(zip((0, 20, 160, 600), reversed(FIGURE_2.values()), strict=True))
    found = A3.held_against({"full": (SETTINGS, made_trajectory(attention=[heads_on(backwards, SETTINGS)]))})
    assert found.verdict == "fails" and found.values[0] < 4


def test_the_pictures_are_about_three_heads_and_three_blocks():
    two = SETTINGS.changed(task={"blocks": ((1, 2), (3, 4))})
    trajectory = made_trajectory(attention=[heads_on(FIGURE_2, SETTINGS)])
    assert A3.held_against({"full": (two, trajectory)}).verdict == "not run"
