"""Pages as text: the report of a folder or of one run, with what it needs to stay up to date, and what is refused."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from headway.report.page import Report
from headway.report.page.write import page

EVERY = 2000
"""Milliseconds between two questions for news."""


class Refusal(Exception):  # noqa: N818 - the server is well
    """What the reader gets to know, and with which status."""

    def __init__(self, status: HTTPStatus, title: str, words: str) -> None:
        super().__init__(f"{title}: {words}")
        self.status = status
        self.title = title
        self.words = words


def live_page(title: str, state: Mapping[str, Any], packed: Sequence[str], news: str, command: str) -> str:
    """The page that a report would be, with these runs; `news` is the address at which it asks for more."""
    report = Report(title, state["lead"], commands=(command,))
    live = {"news": news, "every": EVERY, "state": dict(state)}
    return page(report, {"runs": [json.loads(run) for run in packed], "live": live})


def error_page(status: HTTPStatus, title: str, words: str) -> str:
    """A few words, and the way back."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{status.value} {html.escape(title)}</title>
<style>
body {{ max-width: 42rem; margin: 12vh auto; padding: 0 1.2rem; font: 1rem/1.55 system-ui, sans-serif; }}
p {{ overflow-wrap: anywhere; }}
</style>
</head>
<body>
<p>Headway, {status.value}</p>
<h1>{html.escape(title)}</h1>
<p>{html.escape(words)}</p>
<p><a href="/">All runs of this folder</a></p>
</body>
</html>
"""
