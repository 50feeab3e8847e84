"""How soon a page is there, and how evenly it follows a hand that drags its slider, in a real browser.

    python benchmarks/page.py runs/report.html

`dragged`: frames from the browser's own clock while the mouse takes the slider from one end to the other and back,
one step of the mouse a frame, with one run and with two side by side. Needs playwright and Chromium on the PATH.
"""

from __future__ import annotations

import itertools
import json
import shutil
import statistics
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

WATCH = """() => {
    window.frames_seen = [];
    const look = (now) => { window.frames_seen.push(now); window.looking = requestAnimationFrame(look); };
    window.looking = requestAnimationFrame(look);
}"""
STOP = "() => { cancelAnimationFrame(window.looking); return window.frames_seen; }"


def opened(browser: Browser, path: Path) -> tuple[Page, dict[str, float]]:
    """The page when all is drawn, and the milliseconds from the address to words, to the slider, and to the charts."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.goto(path.resolve().as_uri())
    page.wait_for_selector("html[data-ready]")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    first = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null")
    slider = page.evaluate("performance.getEntriesByName('slider')[0]?.startTime ?? null")
    drawn = page.evaluate("performance.now()")
    return page, {"first words (ms)": first, "slider and pictures (ms)": slider, "charts (ms)": drawn}


def dragged(page: Page, moves: int = 120) -> dict[str, float]:
    """Milliseconds between frames while the slider is dragged to its left end and back."""
    page.locator("#time").scroll_into_view_if_needed()
    box = page.locator("#time").bounding_box()
    if box is None:
        raise SystemExit("the page has no slider: give one that shows a run.")
    left, right, middle = box["x"] + 8, box["x"] + box["width"] - 8, box["y"] + box["height"] / 2
    page.mouse.move(right, middle)
    page.mouse.down()
    page.evaluate(WATCH)
    for end in (left, right):
        page.mouse.move(end, middle, steps=moves)
    times = page.evaluate(STOP)
    page.mouse.up()
    gaps = sorted(after - before for before, after in itertools.pairwise(times))
    if not gaps:
        raise SystemExit("no frame was drawn while the slider was dragged.")
    return {
        "frames": len(gaps),
        "median (ms)": statistics.median(gaps),
        "95 % below (ms)": gaps[int(0.95 * (len(gaps) - 1))],
        "longest (ms)": gaps[-1],
    }


def measured(path: Path, chromium: str) -> dict[str, object]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page, opening = opened(browser, path)
        found: dict[str, object] = {"megabytes": path.stat().st_size / 1e6, **opening, "dragged": dragged(page)}
        if page.locator("#compare").is_visible():
            page.click("#compare")
            found["dragged, two runs"] = dragged(page)
        browser.close()
    return found


if __name__ == "__main__":
    known = filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        raise SystemExit("which page? python benchmarks/page.py runs/report.html")
    print(json.dumps(measured(Path(sys.argv[1]), next(known)), indent=2))
