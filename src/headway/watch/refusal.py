"""A request that gets an error page instead of what it asked for."""

from __future__ import annotations

from http import HTTPStatus


class Refusal(Exception):  # noqa: N818 - the server is well
    """What the reader gets to know, and with which status."""

    def __init__(self, status: HTTPStatus, title: str, words: str) -> None:
        super().__init__(f"{title}: {words}")
        self.status = status
        self.title = title
        self.words = words
