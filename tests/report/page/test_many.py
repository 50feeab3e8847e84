"""Many rungs, heads and layers: names stay readable and near to what they name, and heads do not cover each other."""

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser
from tests.report.conftest import Opened
from tests.report.made_run import made_report, made_settings, made_view
from tests.report.made_task import TIMES, settings

from headway.records import About, Trajectory
from headway.report.build import run_view
from headway.report.page import RunView
from headway.settings.plain import plain

pytestmark = pytest.mark.browser

SEVEN = tuple((k,) for k in range(1, 8))
ORDERS = ("uniform", "unigram", "bigram", "trigram", "4-gram", "5-gram", "6-gram", "6-gram and cache")
TEXT = About("Text", rungs=ORDERS, loss="cross-entropy", progress="loss")


def text_view() -> RunView:
    """Ten seeds, three layers of four heads, attention by lag without matrices, a ladder of seven rungs."""
    seeds, rungs = tuple(range(10)), len(ORDERS)
    progress = np.log1p(TIMES) / np.log1p(TIMES[-1]) * (rungs - 1)
    kl = np.abs(progress[:, None] - np.arange(rungs)) ** 1.2 / 4 + 0.01
    by_lag = np.tile(0.5 ** np.arange(1, 33), (10, len(TIMES), 3, 4, 1))
    loss = np.tile(5 - 0.4 * progress, (10, 1))
    arrays = {"loss": loss, "kl_rungs": np.tile(kl, (10, 1, 1)), "attention_by_lag": by_lag}
    small = {name: values.astype(np.float32) for name, values in arrays.items()}
    facts = {"rung_loss": np.tile(4.85 - 3.4 * (1 - 0.5 ** np.arange(rungs)), (10, 1))}
    found = Trajectory(seeds, {"evaluation": TIMES}, small, dict.fromkeys(small, "evaluation"), facts)
    return run_view("text", settings(vocab=128), found, {"about": plain(TEXT)})


@pytest.fixture(scope="module")
def _many(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    runs = (text_view(), made_view("five heads", made_settings(5, SEVEN)), made_view("ten heads", made_settings(10)))
    yield from Opened.once(browser, tmp_path_factory.mktemp("many"), made_report(runs=runs))


@pytest.fixture
def many(_many: Opened) -> Iterator[Opened]:
    yield from _many.as_when_opened()


def test_the_words_of_a_small_chart_are_large_enough_to_read_and_its_name_fits_one_line(many):
    captions = many.page.locator("#lags figcaption").all_inner_texts()
    assert len(captions) == 12 and captions[0].split("\n")[:2] == ["1", "layer 1"]
    size = "(node) => parseFloat(getComputedStyle(node).fontSize)"
    assert many.page.locator("#lags .ends").first.evaluate(size) >= 11
    assert many.page.locator("#lags .ends").first.inner_text().split() == ["lag", "1", "32"]
    assert many.page.locator("#lags svg text").count() == 0  # it would shrink with the drawing


LEADERS = """document.querySelector("#charts .plot").layout.annotations.filter(({ xanchor, xref, x }) =>
    xanchor === "left" && xref === "paper" && x === 1)"""


def test_a_line_leads_from_a_curve_to_a_name_that_gave_way_to_others(many):
    labels = many.page.evaluate(LEADERS)
    assert {each["text"] for each in labels} >= {"unigram", "6-gram"}
    assert all(each["showarrow"] and each["arrowhead"] == 0 for each in labels)
    assert any(abs(each["ay"]) > 4 for each in labels)
    many.choose("#run", "ten heads")  # three rungs, far apart
    assert not any(each["showarrow"] for each in many.page.evaluate(LEADERS))


def test_five_heads_stand_side_by_side_where_there_is_room_until_the_reader_chooses_otherwise(many):
    pressed = "#combined .key:last-child"
    many.choose("#run", "five heads")
    assert many.page.get_attribute(pressed, "aria-pressed") == "true"
    striped = many.picture()
    many.click(pressed)
    assert many.page.get_attribute(pressed, "aria-pressed") == "false" and many.picture() != striped
    many.page.evaluate("headway.selection.set({ stripes: null })")
    many.choose("#run", "ten heads")  # a head would be two pixels wide
    assert many.page.get_attribute(pressed, "aria-pressed") == "false"


def test_on_a_phone_attention_by_lag_begins_on_the_first_screen(many):
    many.page.set_viewport_size({"width": 400, "height": 900})
    many.page.evaluate("scrollTo(0, 0)")
    many.settle()
    many.settle()
    lags, legend = (many.page.locator(part).bounding_box() for part in ("#lags figure >> nth=0", "#chart-legend"))
    assert lags["y"] < 900 and legend["y"] > lags["y"]
    assert many.overflow() <= 0
    many.page.set_viewport_size({"width": 1280, "height": 900})
    many.settle()
