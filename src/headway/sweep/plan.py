"""What a sweep will be: its programs, how long each takes by what the store knows, and how much memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headway.records import Cell
from headway.store import Store, StoreError
from headway.sweep.bundle import Bundle, cut, program_of, waves
from headway.training.chunks import device as device
from headway.training.memory import footprint
from headway.training.memory import room as room


@dataclass(frozen=True)
class Part:
    """Cells of one shape."""

    bundle: Bundle
    programs: int
    """In how many pieces they are computed."""
    memory: int | None
    """Bytes of the largest piece; None where nobody knows."""
    seconds: float | None
    """All pieces one after the other; None where no record of the same shape says how long one takes."""


def plan(cells: Iterable[Cell], store: Store, workers: int = 1) -> list[Part]:
    """The missing cells, and what they are compared with, by shape; each shape cut for so many workers."""
    bundles = [bundle for wave in waves(cells) for bundle in wave]
    paces = pace_of({program_of(bundle.cells[0]) for bundle in bundles}, store)
    parts = []
    for bundle in bundles:
        left = tuple(cell for cell in bundle.cells if not store.has(cell))
        if left:
            pieces = pieces_of(replace(bundle, cells=left), workers)
            largest = max(pieces, key=lambda piece: piece.members)
            pace = paces.get(program_of(left[0]))
            seconds = None if pace is None else pace * sum(piece.members for piece in pieces)
            parts.append(Part(replace(bundle, cells=left), len(pieces), memory_of(largest), seconds))
    return parts


def pieces_of(bundle: Bundle, workers: int = 1) -> list[Bundle]:
    """The bundle in pieces, for so many workers and each within the memory of this device, as far as both are known."""
    if len(bundle.cells) == 1:
        return [bundle]
    limit, needed = room(), memory_of(bundle)
    if limit is None or needed is None:
        return cut(bundle, workers)
    pieces = max(workers, -(-needed // limit))
    while pieces < len(bundle.cells) and max(memory_of(piece) or 0 for piece in cut(bundle, pieces)) > limit:
        pieces += 1
    return cut(bundle, pieces)


def memory_of(bundle: Bundle) -> int | None:
    """Bytes that its program needs; None for what is computed in one go."""
    if not bundle.trained:
        return None
    settings = bundle.cells[0].settings
    return footprint(settings, bundle.capacity).of(bundle.members)


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
