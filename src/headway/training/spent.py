"""Every second of a process belongs to the innermost of what it was doing; compiling is taken out of all of them.

    with during("training"):
        ...                       # what JAX compiles meanwhile counts as compiling

Steps return when their losses are there, so what a device does is counted where somebody waits for it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager

NAMES = ("preparing", "compiling", "training", "evaluating", "storing", "waiting")
"""Importing and drawing data; tracing and XLA; steps, and what is computed in one go; tests; files; for work."""
EVENTS = ("/jax/core/compile/", "/jax/compilation_cache/cache_retrieval")
"""Beginnings of the names of JAX's own measurements that count as compiling; some lie inside others."""


class Ledger:
    """Seconds by name, of one process."""

    def __init__(self, name: str = "preparing") -> None:
        self._spent: dict[str, float] = defaultdict(float)
        self._open = [name]
        self._since = time.monotonic()
        self._compiled: list[tuple[float, float]] = []

    @contextmanager
    def during(self, name: str) -> Generator[None]:
        """From here to the end of the block, except for blocks inside it."""
        self._turn()
        self._open.append(name)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    def compiled(self, event: str, duration_secs: float, **_more: str | int) -> None:
        """JAX has just spent so long on this, in any thread; time that was reported before counts once."""
        if not event.startswith(EVENTS):
            return
        now = time.monotonic()
        began = now - duration_secs
        overlap = sum(max(0.0, min(now, end) - max(began, start)) for start, end in self._compiled)
        own = max(0.0, duration_secs - overlap)
        self._compiled = _joined([*self._compiled, (began, now)])[-100:]
        self._spent["compiling"] += own
        self._spent[self._open[-1]] -= own

    def spent(self) -> dict[str, float]:
        """So far; what is open included."""
        self._turn()
        return {name: max(0.0, self._spent[name]) for name in NAMES}

    def _turn(self) -> None:
        now = time.monotonic()
        self._spent[self._open[-1]] += now - self._since
        self._since = now


def _joined(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The same times without overlaps."""
    found: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


_ledger = Ledger()
_listening = False


def during(name: str) -> AbstractContextManager[None]:
    """`Ledger.during`, of this process."""
    return _ledger.during(name)


def spent() -> dict[str, float]:
    """Seconds of this process by `NAMES`, since it imported this."""
    return _ledger.spent()


def listen() -> None:
    """From now on JAX reports how long it compiles."""
    global _listening
    if not _listening:
        import jax

        jax.monitoring.register_event_duration_secs_listener(_ledger.compiled)
        _listening = True
