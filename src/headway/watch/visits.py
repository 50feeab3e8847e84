"""How many connections there are, and how long: a thousand that never finish asking keep nobody out."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass

MOST = 64
"""Connections at once; of more, the oldest that has not yet sent its request goes."""
ASKING = 10.0
"""Seconds to send a request."""
WHOLE = 300.0
"""Seconds for all of a request; a page of many megabytes may come over a slow line."""


@dataclass
class Visit:
    """One connection."""

    since: float
    asked: bool = False


class Visits:
    """The connections that are open now."""

    def __init__(self) -> None:
        self._open: dict[socket.socket, Visit] = {}
        self._lock = threading.Lock()

    def begin(self, connection: socket.socket) -> bool:
        """Whether one more may come; for it, one that asks for nothing may have to go."""
        with self._lock:
            if len(self._open) >= MOST:
                idle = [each for each, visit in self._open.items() if not visit.asked]
                if not idle:
                    return False
                _send_away(idle[0])  # dictionaries keep their order: the oldest
                del self._open[idle[0]]
            self._open[connection] = Visit(time.monotonic())
            return True

    def asked(self, connection: socket.socket) -> None:
        """Its request has been read."""
        with self._lock:
            if connection in self._open:
                self._open[connection].asked = True

    def end(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.pop(connection, None)

    def expire(self) -> None:
        """Send away whoever takes too long, however often it sends a letter."""
        now = time.monotonic()
        with self._lock:
            for connection, visit in self._open.items():
                if now - visit.since > (WHOLE if visit.asked else ASKING):
                    _send_away(connection)


def _send_away(connection: socket.socket) -> None:
    """Its thread, which waits for it, then ends by itself."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
