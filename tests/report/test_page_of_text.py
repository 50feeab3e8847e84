"""Real text on the page: every token of a held-out stretch, marked by the rung that is closest to the model now."""

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from playwright.sync_api import Browser
from tests.report.conftest import Opened
from tests.report.made_task import heads_view

from headway.corpora.arrays import code_points
from headway.records import About, Trajectory
from headway.report.build import run_view
from headway.report.page import Report
from headway.settings.plain import plain

TIMES = np.arange(0, 60, 10)
TOKENS = ["T", "he", " ", "<b>", "\n", "é"]
RUNGS = ("uniform", "unigram", "bigram")


def text_view():
    """From uniform to unigram to bigram, the later tokens later."""
    nearest = np.clip((TIMES[:, None] - 5 * np.arange(5)) // 15, 0, 2).astype(np.float32)
    kl = np.abs(np.arange(3) - TIMES[:, None] / 20).astype(np.float32)
    arrays = {"loss": 3 - TIMES / 30, "shown_rung": nearest, "shown_loss": np.full((6, 5), 1.25), "kl_rungs": kl}
    arrays = {name: np.stack([values, values]).astype(np.float32) for name, values in arrays.items()}
    facts = {"shown_written": np.stack([code_points(TOKENS)] * 2)}
    trajectory = Trajectory((0, 1), {"evaluation": TIMES}, arrays, dict.fromkeys(arrays, "evaluation"), facts)
    about = plain(About("Text", rungs=RUNGS, loss="cross-entropy"))
    return run_view("text", SimpleNamespace(name=""), trajectory, {"about": about}), nearest


@pytest.fixture(scope="module")
def once(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    report = Report("Text", "", (text_view()[0], heads_view()))
    yield from Opened.once(browser, tmp_path_factory.mktemp("pages"), report, 1280)


@pytest.mark.browser
def test_every_token_is_marked_by_the_nearest_rung_at_the_sliders_step(once: Opened):
    page, nearest = once.page, text_view()[1]
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
    page.evaluate("headway.selection.set({ run: 1, time: 0 })")
    once.settle()
    assert page.locator("#stretch").is_hidden()
    once.check()
