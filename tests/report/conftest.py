"""A page in a real browser, with everything it complained of or asked for."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page
from tests.report.made_run import made_report, made_view

from headway.report.page import Report, RunView, write_page

_OWN = ("file:", "data:", "blob:")
_AFTER_NEXT_FRAME = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def still(browser: Browser, width: int = 1280) -> BrowserContext:
    """A window of somebody who wants no motion: the page does not play as it opens."""
    return browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")


@dataclass
class Opened:
    """A page that has drawn itself, and the hands and eyes of someone who uses it."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @classmethod
    def at(cls, context: BrowserContext, path: Path, address: str = "") -> "Opened":
        it = cls(context.new_page())
        context.route(lambda url: not url.startswith(_OWN), lambda route: route.abort())
        it.page.on("console", it._hear)
        it.page.on("pageerror", lambda error: it.complaints.append(str(error)))
        it.page.on("request", lambda request: it.requests.append(request.url))
        it.page.goto(path.as_uri() + address)
        it.page.wait_for_selector("html[data-ready]")
        it.settle()
        return it

    @classmethod
    def once(cls, browser: Browser, folder: Path, report: Report, width: int = 1280) -> "Iterator[Opened]":
        """The report in a window that serves all tests of a file, for loading it takes a while: a fixture's body."""
        it = cls.at(
            still(browser, width),
            write_page(folder / "it.html", report),
        )
        it.page.evaluate("window.fresh = { ...headway.selection.state }")
        yield it
        it.page.context.close()

    def as_when_opened(self) -> "Iterator[Opened]":
        """For one test, and checked after it: a fixture's body."""
        self.page.mouse.move(0, 0)
        self.page.evaluate("document.activeElement?.blur(); headway.selection.set(window.fresh)")
        self.settle()
        yield self
        self.check()

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def check(self) -> None:
        """No error on the console, and no request to anything outside the file."""
        assert self.complaints == []
        assert [url for url in self.requests if not url.startswith(_OWN)] == []

    def settle(self) -> None:
        """Wait until what was set is drawn."""
        self.page.evaluate(_AFTER_NEXT_FRAME)

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text().replace("\u00a0", " ")

    def summary(self) -> str:
        """The sentence at the top, with what folds open behind it."""
        self.page.evaluate("document.querySelector('#summary .in-numbers').open = true")
        self.settle()
        return self.text("#summary")

    def step(self) -> int:
        return int("".join(character for character in self.text(".step") if character.isdigit()))

    def move(self, time: int) -> None:
        """Drag the slider to its position number `time`."""
        drag = "(slider, time) => { slider.value = time; slider.dispatchEvent(new Event('input')); }"
        self.page.eval_on_selector("#time", drag, time)
        self.settle()

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.settle()

    def click(self, selector: str) -> None:
        self.page.click(selector)
        self.settle()

    def choose(self, selector: str, label: str) -> None:
        folded = self.page.locator(".choose[aria-expanded=false]")
        if folded.count() and folded.is_visible():  # on a phone
            folded.click()
        self.page.select_option(selector, label=label)
        self.settle()

    def picture(self, canvas: str = "#combined canvas") -> str:
        return self.page.eval_on_selector(canvas, "(canvas) => canvas.toDataURL()")

    def marker(self) -> float:
        """How far along the time axis the marker stands: 0 at its left end, 1 at its right end."""
        marker = self.page.locator("#charts .marker").bounding_box()
        area = self.chart_area()
        assert marker is not None
        return (marker["x"] + marker["width"] / 2 - area["x"]) / area["width"]

    def chart_area(self) -> dict[str, float]:
        charts = self.page.locator("#charts .plot .nsewdrag").first
        charts.scroll_into_view_if_needed()  # a mouse reaches only what the window shows
        area = charts.bounding_box()
        assert area is not None
        return dict(area)

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        width = "(root) => root.scrollWidth - root.clientWidth"
        return self.page.eval_on_selector("html", width)


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """opened(report, width): the report in a window of its own, checked and closed after the test."""
    pages: list[Opened] = []

    def open_page(report: Report, width: int = 1280) -> Opened:
        path = write_page(tmp_path / "report.html", report)
        pages.append(Opened.at(still(browser, width), path))
        return pages[-1]

    yield open_page
    for it in pages:
        it.page.context.close()
        it.check()


@pytest.fixture(scope="module")
def _shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    yield from Opened.once(browser, tmp_path_factory.mktemp("page"), made_report())


@pytest.fixture
def shown(_shared: Opened) -> Iterator[Opened]:
    """The made-up report as when just opened."""
    yield from _shared.as_when_opened()


@pytest.fixture(scope="session")
def photograph() -> Callable[..., None]:
    """photograph(page, name): a picture for eyes, if HEADWAY_SCREENSHOTS names a folder: others nobody looks at."""

    def take(page: Page, name: str, *, whole: bool = False) -> None:
        if named := os.environ.get("HEADWAY_SCREENSHOTS"):
            page.screenshot(path=Path(named) / f"{name}.png", full_page=whole)  # makes the folder

    return take


@pytest.fixture(scope="session")
def made() -> RunView:
    """The run that `shown` shows."""
    return made_view()
