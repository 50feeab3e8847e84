"""The programs of a sweep by their memory: what is missing, how much each takes, and in how many pieces it fits."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from headway.records import Cell
from headway.store import Store
from headway.sweep.bundle import Bundle, cut, for_workers
from headway.training.limits import Limit
from headway.training.memory import Footprint, footprint
from headway.training.memory import room as room


def missing_of(bundle: Bundle, store: Store, others: Sequence[Store] = ()) -> Bundle | None:
    """What the store lacks of it; pilots that others have are brought from there."""

    def is_there(cell: Cell) -> bool:
        return store.has(cell) or (cell.is_pilot and any(other.has(cell) for other in others))

    left = tuple(cell for cell in bundle.cells if not is_there(cell))
    return replace(bundle, cells=left) if left else None


def pieces_of(bundle: Bundle, limit: Limit | None, workers: int = 1) -> list[Bundle]:
    """The bundle in pieces, for so many workers and each within the limit, as far as whole cells can be."""
    if len(bundle.cells) == 1 or not bundle.trained or limit is None:
        return cut(bundle, for_workers(bundle, workers))
    most = members_within(bundle, limit)
    pieces = max(for_workers(bundle, workers), -(-bundle.members // most) if most else len(bundle.cells))
    while pieces < len(bundle.cells) and max(memory_of(piece) or 0 for piece in cut(bundle, pieces)) > limit.free:
        pieces += 1
    return cut(bundle, pieces)


def members_within(bundle: Bundle, limit: Limit) -> int:
    """How many seeds of its program fit at once, at most as many as it has."""
    return bisect_right(range(1, bundle.members + 1), limit.free, key=footprint_of(bundle).of)


def memory_of(bundle: Bundle) -> int | None:
    """Bytes that its program needs; None for what is computed in one go."""
    return footprint_of(bundle).of(bundle.members) if bundle.trained else None


def footprint_of(bundle: Bundle) -> Footprint:
    """Bytes of a member of its program."""
    return footprint(bundle.cells[0].settings, bundle.capacity)
