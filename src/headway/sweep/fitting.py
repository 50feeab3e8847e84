"""A program that needs more memory than there is does not start: what it needs, what there is, and what to change."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from headway.records import Cell
from headway.settings import SettingsError
from headway.store import Store
from headway.sweep.bundle import Bundle, waves
from headway.sweep.engines import Engine
from headway.sweep.plan import footprint_of, members_within, missing_of, pieces_of, room
from headway.sweep.watch import name
from headway.tasks.task import has_shared
from headway.training.limits import Limit
from headway.training.memory import SHARE

REMEDIES = {
    "process": ("Python, JAX and compiling", "Allow it more"),
    "shared": ("data that all seeds share", "Use a smaller text or table"),
    "model": ("models and optimisers", "Use a smaller model or vocabulary"),
    "training": ("training sets", "Use fewer training.samples"),
    "tests": ("test sets and the predictions of references", "Use fewer training.test_samples"),
    "drawing": ("drawing samples", "Use fewer training.samples or training.test_samples"),
    "testing": ("measuring", "Use fewer training.test_samples, a shorter task or a smaller model"),
    "activations": ("activations", "Use a shorter task, a smaller model or a smaller training.batch"),
}
"""A part of the memory -> what it is for, and what to change where it is the largest."""


def limit_of(engine: Engine | None, cells: int) -> Limit | None:
    """What a program of so many cells' may take where the engine runs it; None where nobody knows."""
    if engine is not None and engine.limit is not None:
        return engine.limit
    if engine is None or not engine.elsewhere:
        return room(1 if engine is None else max(1, min(engine.workers or 1, cells)))
    return Limit(int(SHARE * engine.memory), "--engine memory", shared=False) if engine.memory else None


def require_fitting(cells: Iterable[Cell], store: Store, limit: Limit | None, workers: int = 1) -> None:
    """Refuse cells of which some cannot fit, before any starts; what takes long to know is asked when it begins."""
    found: list[str] = []
    for bundle in (bundle for wave in waves(cells) for bundle in wave):
        left = missing_of(bundle, store)
        if left is None or not left.trained or has_shared(left.cells[0].settings.task):
            continue
        # A task that cannot even be traced fails where its own cells say so, and lets the others go on.
        with suppress(Exception):
            words = (too_large(piece, limit) for piece in pieces_of(left, limit, workers))
            found.extend(filter(None, words))
    if found:
        more = f" {len(found) - 1} more programs do not fit either (--dry-run lists them)." if len(found) > 1 else ""
        raise SettingsError(f"{found[0]}{more} Nothing was started.")


def too_large(piece: Bundle, limit: Limit | None) -> str:
    """What to say of cells that do not fit at once; nothing if they do, or if nobody knows."""
    if limit is None or not piece.trained or (own := footprint_of(piece)).of(piece.members) <= limit.free:
        return ""
    parts = own.parts(piece.members)
    largest = max(parts, key=lambda each: parts[each])
    words, remedy = REMEDIES[largest]
    fitting = members_within(piece, limit)
    fewer = f", or at most {counted(fitting, 'seed')} (--seeds {fitting})" if fitting else ""
    return (
        f"{name(piece.cells[0])} with {counted(piece.members, 'seed')} needs about {mib(sum(parts.values()))}, but a "
        f"program may take {mib(limit.free)} here ({limit.source}). Most of it, {mib(parts[largest])}, is for {words}. "
        f"{remedy}{fewer}."
    )


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def mib(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"
