"""What a sweep will be: its programs, how long each takes by what the store knows, and how much memory."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headway.records import Cell
from headway.store import Store, StoreError
from headway.sweep.bundle import Bundle, cut, program_of, waves
from headway.training.chunks import device as device
from headway.training.limits import Limit
from headway.training.memory import Footprint, footprint
from headway.training.memory import room as room


@dataclass(frozen=True)
class Part:
    """Cells of one shape."""

    bundle: Bundle
    programs: int
    """In how many pieces they are computed."""
    largest: Bundle
    """The piece of most seeds."""
    memory: int | None
    """Its bytes; None where nobody knows."""
    seconds: float | None
    """All pieces one after the other; None where no record of the same shape says how long one takes."""


def plan(cells: Iterable[Cell], store: Store, workers: int = 1, limit: Limit | None = None) -> list[Part]:
    """The missing cells, and what they are compared with, by shape; each cut for so many workers within a limit."""
    bundles = [bundle for wave in waves(cells) for bundle in wave]
    paces = pace_of({program_of(bundle.cells[0]) for bundle in bundles}, store)
    parts = []
    for bundle in bundles:
        left = missing_of(bundle, store)
        if left is not None:
            pieces = pieces_of(left, limit, workers)
            largest = max(pieces, key=lambda piece: piece.members)
            pace = paces.get(program_of(left.cells[0]))
            seconds = None if pace is None else pace * sum(piece.members for piece in pieces)
            parts.append(Part(left, len(pieces), largest, memory_of(largest), seconds))
    return parts


def missing_of(bundle: Bundle, store: Store) -> Bundle | None:
    """What the store lacks of it."""
    left = tuple(cell for cell in bundle.cells if not store.has(cell))
    return replace(bundle, cells=left) if left else None


def pieces_of(bundle: Bundle, limit: Limit | None, workers: int = 1) -> list[Bundle]:
    """The bundle in pieces, for so many workers and each within the limit, as far as whole cells can be."""
    if len(bundle.cells) == 1 or not bundle.trained or limit is None:
        return cut(bundle, workers)
    most = members_within(bundle, limit)
    pieces = max(workers, -(-bundle.members // most) if most else len(bundle.cells))
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


def pace_of(programs: set[Any], store: Store) -> dict[Any, float]:
    """Program -> seconds of one member, from the records of the same program, whatever their numbers and seeds are.

    Cells that were trained together all say how long that took, to the same millisecond: it counts once.
    """

    def ignore(_error: StoreError) -> None: ...

    spent: dict[Any, set[float]] = defaultdict(set)
    members: dict[Any, int] = defaultdict(int)
    for record in store.records(on_damaged=ignore):
        program, seconds = program_of(record.cell), record.provenance.get("seconds")
        if program in programs and isinstance(seconds, (int, float)):
            spent[program].add(seconds)
            members[program] += len(record.cell.seeds)
    return {program: sum(spent[program]) / members[program] for program in spent}


def total(parts: Sequence[Part], workers: int = 1) -> tuple[float, int]:
    """Seconds of all parts whose pace is known, for so many workers, and the number of the others."""
    known = [part.seconds for part in parts if part.seconds is not None]
    return sum(known) / workers, len(parts) - len(known)
