"""The page's modules, one by one, in a browser: what computes is tested without a page around it."""

from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import pytest
from playwright.sync_api import Browser, Route

PLACE = "http://modules.invalid/"
"""No such host: what the browser asks of it is answered here."""


def answer(route: Route) -> None:
    name = route.request.url.removeprefix(PLACE)
    if not name:
        route.fulfill(content_type="text/html", body="<!doctype html><title>modules</title>")
        return
    text = (files("headway.report.page") / "assets" / name).read_text(encoding="utf-8")
    route.fulfill(content_type="text/javascript", body=text)


@pytest.fixture(scope="module")
def _modules(browser: Browser) -> Iterator[Any]:
    context = browser.new_context()
    context.route(f"{PLACE}**", answer)
    page = context.new_page()
    page.goto(PLACE)
    yield page
    context.close()


@pytest.fixture
def js(_modules: Any) -> Callable[..., Any]:
    """js("simplex", "m.corners(count)", count=3): an expression over a module `m` and some plain values."""

    def evaluate(module: str, expression: str, **values: Any) -> Any:
        names = ", ".join(values)
        body = f'async ({{{names}}}) => {{ const m = await import("{PLACE}{module}.js"); return {expression}; }}'
        return _modules.evaluate(body, values)

    return evaluate
