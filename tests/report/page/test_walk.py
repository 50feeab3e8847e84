"""The story and the triangle follow the slider, and say what was measured."""

import itertools

import numpy as np
import pytest
from tests.report.made_run import made_boundaries

pytestmark = pytest.mark.browser


def at(made, step: int) -> int:
    return int(np.flatnonzero(made.trajectory.clocks["evaluation"] == step)[0])


def told(it) -> int:
    """Number of the card that is being told, counted from the start."""
    (card,) = it.page.locator(".chapter[aria-current]").all()
    return it.page.locator(".chapter").all_inner_texts().index(card.inner_text())


def test_the_slider_turns_the_pages_of_the_story(shown, made):
    evaluation = made.trajectory.clocks["evaluation"]
    for chapter, step in enumerate((0, 8.0, *made.stages[0].boundaries)):
        shown.move(int(np.flatnonzero(evaluation >= step)[0]))
        assert told(shown) == chapter
    assert shown.page.locator(".chapter canvas").count() == 4


def test_each_chapter_says_what_moved_since_the_one_before(shown, made):
    steps = []
    for stage in ("1", "2"):
        shown.press(stage)
        steps.append(at(made, shown.step()))
    before, now = (float(made.trajectory["attention_by_lag"][0, time, 0, 1, 2:4].sum()) for time in steps)
    loss = [float(made.trajectory["excess_loss"][0, time]) for time in steps]
    words = shown.text(".chapter:nth-child(3)")
    assert f"head 2 left block 1 for block 2 ({100 * before:.0f} % → {100 * now:.0f} % of its attention)" in words
    assert f"has fallen from {loss[0]:#.3g} to {loss[1]:#.3g} nats" in words
    assert "eads 1 and 3 stayed on block 1" in words
    distance = float(made.trajectory["kl_rungs"][0, steps[1], 2])
    assert f"At step {shown.step()}, where KL to rung 2 is {distance:#.3g}: " in words


def test_a_chapter_takes_the_reader_there_and_another_seed_has_its_own_story(shown):
    shown.press("3")
    third = shown.step()
    shown.move(0)
    shown.click(".chapter:nth-child(4) button")
    assert shown.step() == third and told(shown) == 3
    before = shown.text(".chapters")
    shown.choose("#seed", "2")
    assert shown.text(".chapters") != before and "seed 2" in shown.text("#walk h3")
    assert f"{made_boundaries(3, 2)[0]:.0f}" in shown.text(".chapter:nth-child(3)")


def test_heads_stand_in_the_triangle_where_their_shares_put_them(shown, made):
    shown.press("3")
    shares = made.trajectory["attention_by_lag"][0, at(made, shown.step()), 0, :, :6].reshape(3, 3, 2).sum(axis=-1)
    corners = np.array([[np.cos(angle), np.sin(angle)] for angle in 2 * np.pi * np.arange(3) / 3 - np.pi / 2])
    read = "(dots) => dots.map((dot) => [Number(dot.getAttribute('cx')), Number(dot.getAttribute('cy'))])"
    dots = np.array(shown.page.eval_on_selector_all(".triangle-figure circle[r='3.5']", read))
    (centre,) = shown.page.eval_on_selector_all(".triangle-figure .centre", read)
    unit = float(np.linalg.norm(dots[0] - centre) / np.linalg.norm(shares[0] @ corners))
    np.testing.assert_allclose((dots - centre) / unit, shares @ corners, atol=0.01)
    assert [flag.text_content() for flag in shown.page.locator(".triangle-figure .head-number").all()] == list("123")


def test_a_pointer_over_the_triangle_shows_the_shares(shown, made):
    shown.press("3")
    share = made.trajectory["attention_by_lag"][0, at(made, shown.step()), 0, 2, 4:6].sum()
    shown.page.locator(".triangle-figure svg").hover()
    assert "on block 1, block 2 and block 3" in shown.text("#tip")
    assert shown.text("#tip").endswith(f", {100 * float(share):.0f} %")  # of the third head, on the third block


def test_the_way_of_a_head_grows_with_the_slider_and_differs_in_dashes(shown):
    lengths = "(paths) => paths.map((path) => path.getTotalLength())"
    seen = []
    for time in (10, 50, 90):
        shown.move(time)
        seen.append(shown.page.eval_on_selector_all(".triangle-figure .past", lengths))
    for before, after in itertools.pairwise(seen):
        assert all(old <= new for old, new in zip(before, after, strict=True)) and sum(before) < sum(after)
    dashes = [path.get_attribute("stroke-dasharray") for path in shown.page.locator(".triangle-figure .past").all()]
    assert len(set(dashes)) == 3
