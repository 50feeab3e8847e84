"""Real text on the page: every token of a held-out stretch, marked by the rung that is closest to the model now."""

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from playwright.sync_api import Browser
from tests.report.conftest import Opened
from tests.report.made_task import heads_view

from headway.corpora.tokens import code_points
from headway.records import About, Trajectory
from headway.report.build import run_view
from headway.report.page import Report
from headway.settings.plain import plain

TIMES = np.arange(0, 60, 10)
TOKENS = ["T", "he", " ", "<b>", "\n", "é"]
RUNGS = ("uniform", "unigram", "bigram")


SNAPSHOTS = np.array([0, 20, 50])


def attention():
    """Two layers of two heads, 5 positions: uniform at first, then the newest token (head 1) and the first (head 2)."""
    here = np.arange(5)
    uniform = np.tri(5) / (here[:, None] + 1)
    newest, first = np.eye(5), np.repeat(np.eye(5)[:1], 5, axis=0)
    one = [np.stack([(1 - share) * uniform + share * sharp for sharp in (newest, first)]) for share in (0, 0.5, 1)]
    return np.stack([np.stack([heads, heads]) for heads in one])


def text_view(label="text", attended=attention):
    """From uniform to unigram to bigram, the later tokens later."""
    nearest = np.clip((TIMES[:, None] - 5 * np.arange(5)) // 15, 0, 2).astype(np.float32)
    kl = np.abs(np.arange(3) - TIMES[:, None] / 20).astype(np.float32)
    arrays = {"loss": 3 - TIMES / 30, "shown_rung": nearest, "shown_loss": np.full((6, 5), 1.25), "kl_rungs": kl}
    clock_of = dict.fromkeys(arrays, "evaluation")
    if attended is not None:
        arrays["shown_attention"], clock_of["shown_attention"] = attended(), "snapshot"
    arrays = {name: np.stack([values, values]).astype(np.float32) for name, values in arrays.items()}
    facts = {"shown_written": np.stack([code_points(TOKENS)] * 2)}
    trajectory = Trajectory((0, 1), {"evaluation": TIMES, "snapshot": SNAPSHOTS}, arrays, clock_of, facts)
    about = plain(About("Text", rungs=RUNGS, loss="cross-entropy"))
    return run_view(label, SimpleNamespace(name=""), trajectory, {"about": about}), nearest


@pytest.fixture(scope="module")
def once(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    few = text_view("the last two", lambda: attention()[:, :, :, -2:])[0]
    runs = (text_view()[0], heads_view(), text_view("kept none", None)[0], few)
    yield from Opened.once(browser, tmp_path_factory.mktemp("pages"), Report("Text", "", runs), 1280)


def shown(once: Opened, **state: int) -> None:
    """Choose a run and a time."""
    once.page.evaluate("(state) => headway.selection.set(state)", state)
    once.settle()


def heads(once: Opened) -> list[str]:
    """What stands above the text of each head."""
    return [each.replace("\u00a0", " ") for each in once.page.locator("#stretch figcaption").all_inner_texts()]


def shades(once: Opened, head: int) -> list[float]:
    """How far the background of each token of a head is from that of the page."""
    far = """(all) => all.map((each) => {
        const colour = (node) => getComputedStyle(node).backgroundColor.match(/[\\d.]+/g);
        const [paper, own] = [document.body, each].map(colour);
        return own.length > 3 ? 0 : own.reduce((sum, value, k) => sum + Math.abs(value - paper[k]), 0);
    })"""
    return once.page.locator("#stretch .attending-head").nth(head).locator(".word").evaluate_all(far)


@pytest.mark.browser
def test_every_token_is_marked_by_the_nearest_rung_at_the_sliders_step(once: Opened):
    page, nearest = once.page, text_view()[1]
    shown(once, run=0)
    tokens = page.locator("#stretch .stretch-text .token")
    assert tokens.all_text_contents() == ["T", "he", " ", "<b>", "⏎", "é"], "as text, and not as markup"
    colour = "(all) => all.map((each) => getComputedStyle(each).borderBottomColor)"
    keys = page.locator("#stretch .rung-key").evaluate_all(colour)
    assert page.locator("#stretch .rung-key").all_text_contents() == list(RUNGS) and len(set(keys)) == 3
    for place in range(len(TIMES)):
        page.evaluate("(time) => headway.selection.set({ time })", place)
        once.settle()
        first, *marked = tokens.evaluate_all(colour)
        assert marked == [keys[int(rung)] for rung in nearest[place]] and first not in keys
    assert tokens.nth(1).get_attribute("title") == "bigram; loss 1.25"
    shown(once, run=1, time=0)
    assert page.locator("#stretch").is_hidden()
    once.check()


@pytest.mark.browser
def test_hovering_a_token_shows_where_each_head_attends_when_it_is_predicted(once: Opened):
    shown(once, run=0, time=len(TIMES) - 1)
    tokens = once.page.locator("#stretch .stretch-text .token")
    tokens.nth(3).hover()
    layer = ["most on “␣”, lag 1: 100 %", "most on “T”, lag 3: 100 %"]
    assert [each.split("\n")[-1].partition("most")[2] for each in heads(once)] == [
        each.removeprefix("most") for each in 2 * layer
    ]
    assert "when “<b>” is predicted" in once.text("#stretch .attending h3")
    assert [bool(shade) for shade in shades(once, 0)] == [False, False, True, False, False, False]
    assert [bool(shade) for shade in shades(once, 1)] == [True, False, False, False, False, False]
    assert once.page.locator("#stretch .attending-head").first.locator(".later").all_inner_texts() == ["⏎", "é"]
    shown(once, time=0)
    assert all("33 %" in each for each in heads(once)), "three tokens before it, all alike at first"
    assert len(set(shades(once, 0)[:3])) == 1 and not any(shades(once, 0)[3:])
    shown(once, time=3)
    assert "taken at step 20" in once.text("#stretch .attending h3"), "the nearest that was kept"
    once.check()


@pytest.mark.browser
def test_a_tap_and_the_arrow_keys_choose_a_token_and_leave_the_slider_alone(once: Opened):
    shown(once, run=0, time=2)
    tokens = once.page.locator("#stretch .stretch-text .token")
    tokens.nth(2).click()
    for key, place in (("ArrowRight", 3), ("ArrowLeft", 2), ("Home", 1), ("ArrowLeft", 1), ("End", 5)):
        if key == "ArrowRight":
            tokens.nth(2).focus()
        once.press(key)
        checked = tokens.evaluate_all("(all) => all.map((each) => each.getAttribute('aria-checked'))")
        assert checked.index("true") == place and checked.count("true") == 1 and checked[0] is None
        assert once.page.evaluate("headway.selection.state.time") == 2
    once.check()


@pytest.mark.browser
def test_a_record_without_attention_in_its_text_says_so(once: Opened):
    shown(once, run=2, time=1)
    assert "does not contain the attention" in once.text("#stretch .stretch-lacking")
    assert once.page.locator("#stretch .attending, #stretch [role=radio]").count() == 0
    assert once.page.locator("#stretch .token").count() == len(TOKENS) + len(RUNGS)
    once.check()


@pytest.mark.browser
def test_attention_from_the_last_positions_is_shown_of_the_last_tokens(once: Opened):
    shown(once, run=3, time=len(TIMES) - 1)
    tokens = once.page.locator("#stretch .stretch-text .token")
    roles = tokens.evaluate_all("(all) => all.map((each) => each.getAttribute('role'))")
    assert roles == [None] * 4 + ["radio"] * 2
    tokens.nth(4).hover()
    assert "most on “<b>”, lag 1" in heads(once)[0] and "most on “T”, lag 4" in heads(once)[1]
    tokens.nth(5).hover()
    assert "most on “⏎”, lag 1" in heads(once)[0]
    once.check()


@pytest.mark.browser
def test_heads_of_a_text_fit_a_phone(browser: Browser, tmp_path):
    for phone in Opened.once(browser, tmp_path, Report("Text", "", (text_view()[0],)), 400):
        assert phone.overflow() <= 0
        widths = phone.page.locator("#stretch .attending-head").evaluate_all("(all) => all.map((e) => e.clientWidth)")
        assert min(widths) > 200
