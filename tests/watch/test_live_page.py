"""The served page in a real browser: it takes in what happens on disk, and the reader stays where they are."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect
from tests.watch.made import CELL, OTHER, WHOLE, save

from headway.watch import pages

pytestmark = pytest.mark.browser
expect.set_options(timeout=30_000)  # a busy machine is no mistake


def _is_complaint(said: ConsoleMessage) -> bool:
    """A question that got lost on the way is asked again by the page; the browser says so all the same."""
    return said.type in ("error", "warning") and "net::ERR_" not in said.text


@pytest.fixture
def window(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """A window that may talk to this machine only, and must not complain."""
    monkeypatch.setattr(pages, "EVERY", 50)
    complaints: list[str] = []
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.route(lambda url: not url.startswith(("http://127.0.0.1:", "data:", "blob:")), lambda route: route.abort())
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if _is_complaint(said) else None)
    yield page
    page.context.close()
    assert complaints == []


def times(page: Page) -> int:
    return page.evaluate("headway.report.runs[headway.selection.state.run].times.length")


def test_a_page_fills_by_itself_and_keeps_what_the_reader_chose(window, serve, store):
    server = serve()
    window.goto(server.url)
    words = window.locator(".sweep-words")
    lead = window.locator(".introduction")
    expect(words).to_have_text("Nothing has been run in this folder yet.")
    expect(lead).to_contain_text("There is no folder")
    with store.open(CELL) as work:
        work.resume()
        expect(lead).to_have_text(
            "It updates by itself and only reads. Pictures appear with the first checkpoint of a run."
        )
        expect(window.locator("#summary")).to_be_empty()
        save(work, -1, 100, 30.0)
        window.wait_for_selector("#watch:not([hidden])")  # it has loaded itself anew
        expect(words).to_contain_text("1 cell is running.")
        window.select_option("#seed", "2")
        window.locator("#log-time").uncheck()
        before = times(window)
        shown = window.locator(".step").inner_text()
        save(work, 100, 400, 40.0)
        window.wait_for_function("before => headway.report.runs[0].times.length > before", arg=before)
        expect(words).to_have_text("1 cell is running. About 53 s left.")
        filled = window.eval_on_selector(".sweep-bar .running", "each => each.style.getPropertyValue('--share')")
        assert filled == "20.0%"  # 400 of 2000 steps
        assert window.locator(".step").inner_text() != shown, "who stood at the end goes with the run"
        window.locator("#time").press("Home")
        for _ in range(4):
            window.keyboard.press("ArrowRight")
        expect(window.locator(".step")).to_have_text("step 4")
        window.locator("#run-details details").first.evaluate("each => (each.open = true)")
        save(work, 400, 2000, 60.0)
        work.finish(WHOLE.facts, {"device": "none: made up"})
    expect(words).to_have_text("1 cell is done.")
    expect(lead).to_contain_text("headway claims --from ")
    expect(window.locator(".step")).to_have_text("step 4")
    assert window.locator("#time").input_value() == "4"
    assert window.locator("#seed").input_value() == "2"
    assert not window.locator("#log-time").is_checked()
    assert window.locator("#run-details details").first.evaluate("each => each.open")
    expect(window.locator("#run-details")).to_contain_text("none: made up")
    assert window.locator("#time").get_attribute("max") == str(times(window) - 1)


def test_a_run_that_begins_later_can_be_chosen_from_the_list(window, serve, store, record):
    server = serve()
    window.goto(server.url)
    window.wait_for_selector("html[data-ready]")
    window.locator("#time").press("Home")
    with store.open(OTHER) as work:
        work.resume()
        save(work, -1, 300, 20.0)
        window.wait_for_function("() => headway.report.runs.length === 2")
        expect(window.locator(".step")).to_have_text("step 0")
        window.locator("tr[data-state=running] button").click()
        expect(window.locator("#run")).to_have_value("1")
    with pytest.raises(ValueError), store.open(OTHER):
        raise ValueError("too hot")
    expect(window.locator("tr[data-state=failed]")).to_contain_text("ValueError: too hot")
    expect(window.locator(".sweep-words")).to_have_text("1 cell failed and 1 is done.")


def test_a_reader_is_told_when_nobody_answers_any_more(window, serve, record):
    server = serve()
    window.goto(server.url)
    window.wait_for_selector("html[data-ready]")
    window.route("**/state.json", lambda route: route.fulfill(status=204, body=""))
    expect(window.locator(".contact")).to_contain_text("is headway watch still running?")
    window.unroute("**/state.json")
    expect(window.locator(".contact")).to_contain_text("Up to date at")


@pytest.mark.parametrize("width", [400, 1280])
def test_the_list_of_a_sweep_fits_the_window(window, serve, store, record, width):
    with store.open(OTHER) as work:
        work.resume()
        save(work, -1, 300, 20.0)
        window.set_viewport_size({"width": width, "height": 900})
        window.goto(serve().url)
        window.wait_for_selector("html[data-ready]")
        assert window.eval_on_selector("html", "root => root.scrollWidth - root.clientWidth") == 0


def test_with_a_token_the_first_visit_is_enough(window, serve, record):
    server = serve("127.0.0.1")
    window.goto(server.url)
    window.wait_for_selector("html[data-ready]")
    assert "token" not in window.url
    expect(window.locator(".contact")).to_contain_text("Up to date at")
