"""What a sweep will be, before it starts: its programs in the order in which they begin, how long, how much memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headway.records import Cell
from headway.store import Store
from headway.sweep.arrange import arrange
from headway.sweep.bundle import Bundle, waves
from headway.sweep.cost import Costs, Platform, records_of
from headway.sweep.engines.layout import Layout
from headway.sweep.plan import memory_of, missing_of, pieces_of
from headway.sweep.queue import Place, ways
from headway.training.chunks import device as device
from headway.training.chunks import planned as planned
from headway.training.limits import Limit

STARTING = 10.0
"""Seconds until workers have loaded JAX."""


@dataclass(frozen=True)
class Part:
    """Cells that one worker computes, or all workers of one shape where each takes what it finds."""

    bundle: Bundle
    programs: int
    """In how many pieces they are computed."""
    largest: Bundle
    """The piece of most seeds."""
    memory: int | None
    """Its bytes; None where nobody knows."""
    seconds: float | None
    """All pieces one after the other, alone on the device; None where nobody knows the machine."""
    place: Place = "device"


@dataclass(frozen=True)
class Schedule:
    """All parts, and how long they take together."""

    parts: Sequence[Part]
    seconds: float | None


def costs_for(cells: Iterable[Cell], stores: Iterable[Store]) -> Costs:
    """What the records of these kinds say."""
    kinds = {cell.kind for cell in cells}
    return Costs(record for store in stores for record in records_of(store, kinds))


def on_processes(left: Sequence[Bundle], layout: Layout, costs: Costs) -> Schedule:
    """For workers that get one program after the other, the longest way first."""
    arranged = arrange(left, layout, costs)
    far = ways(arranged.jobs)
    parts = []
    for bundle, job in sorted(zip(arranged.bundles, arranged.jobs, strict=True), key=lambda each: -far[each[1].number]):
        limit = layout.limit if job.place == "device" else None
        with planned(layout.memory):
            parts.append(_part(bundle, pieces_of(bundle, limit), job.seconds, job.place))
    return Schedule(parts, arranged.seconds(layout) + STARTING if parts else 0.0)


def one_by_one(left: Sequence[Bundle], limit: Limit | None, costs: Costs, platform: Platform | None) -> Schedule:
    """For one process, or for a cluster, of which only the work is known (`platform` None)."""
    seconds = [None if platform is None else costs.of(bundle, platform).alone for bundle in left]
    parts = [_part(each, pieces_of(each, limit), told) for each, told in zip(left, seconds, strict=True)]
    known = [each for each in seconds if each is not None]
    return Schedule(parts, sum(known) if len(known) == len(left) else None)


def left_of(cells: Iterable[Cell], store: Store, others: Sequence[Store] = ()) -> list[Bundle]:
    """The missing cells, and what they need, by shape; pilots that other stores have are not missing."""
    found = (missing_of(bundle, store, others) for wave in waves(cells) for bundle in wave)
    return [bundle for bundle in found if bundle is not None]


def _part(bundle: Bundle, pieces: Sequence[Bundle], seconds: float | None, place: Place = "device") -> Part:
    largest = max(pieces, key=lambda piece: piece.members)
    return Part(bundle, len(pieces), largest, memory_of(largest), seconds, place)
