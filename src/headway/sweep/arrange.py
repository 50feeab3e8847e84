"""A sweep as jobs for the workers of one machine: cut where one would keep all others waiting, the longest first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from headway.sweep.bundle import Bundle, cut, for_workers
from headway.sweep.cost import Costs, Platform
from headway.sweep.engines.layout import Layout
from headway.sweep.plan import footprint_of
from headway.sweep.queue import Job, Place, span
from headway.tasks.task import has_shared
from headway.training.chunks import planned


class Arranged(NamedTuple):
    """Bundles, each with the job that it is."""

    bundles: list[Bundle]
    jobs: tuple[Job, ...]

    def seconds(self, layout: Layout) -> float:
        """How long all of it takes."""
        return span(self.jobs, {"device": layout.workers, "cpu": layout.beside})


def arrange(bundles: Sequence[Bundle], layout: Layout, costs: Costs) -> Arranged:
    """These bundles, which must not be empty, for these workers; what needs others waits for them."""
    places = [place_of(bundle, layout, costs) for bundle in bundles]
    found = [costs.of(each, _platform(place, layout)) for each, place in zip(bundles, places, strict=True)]
    total = {own: sum(cost.alone for cost, place in zip(found, places, strict=True) if place == own) for own in places}
    pieces, jobs = list[Bundle](), list[Job]()
    for bundle, place, cost in zip(bundles, places, found, strict=True):
        fair = total[place] / workers_of(layout, place)
        for piece in cut(bundle, for_workers(bundle, math.ceil(cost.alone / fair - 1e-9)) if fair else 1):
            own = cost.times(piece.members / bundle.members)
            jobs.append(Job(len(pieces), own.alone, own.work, place))
            pieces.append(piece)
    number_of = {cell: number for number, piece in enumerate(pieces) for cell in piece.cells}
    for number, piece in enumerate(pieces):
        needs = frozenset(number_of[each] for cell in piece.cells for each in cell.needs() if each in number_of)
        jobs[number] = replace(jobs[number], needs=needs)
    return Arranged(pieces, tuple(jobs))


def workers_of(layout: Layout, place: Place) -> int:
    return max(1, layout.workers if place == "device" else layout.beside)


def place_of(bundle: Bundle, layout: Layout, costs: Costs) -> Place:
    """Where its work is done: beside a GPU, on the CPU what is computed in one go, and small models if sooner there.

    Those of a few numbers are: a GPU would wait for the launches of their kernels.
    """
    if not (layout.gpus and layout.beside):
        return "device"
    if not bundle.trained:
        return "cpu"
    own = bundle.cells[0].settings.model is None
    return "cpu" if own and costs.of(bundle, "cpu").alone < costs.of(bundle, "gpu").alone else "device"


def quickest(bundles: Sequence[Bundle], widest: Layout, costs: Costs) -> Layout:
    """The number of workers, up to those of a layout, that is through first, if every cell fits into its share.

    More are not always quicker: what takes longest, or what others wait for, has a smaller part of the device.
    """
    large = [bundle for bundle in bundles if place_of(bundle, widest, costs) == "device"]
    most = max(1, min(widest.workers, sum(len(bundle.cells) for bundle in large)))
    layouts = [replace(widest, workers=number) for number in range(1, most + 1)]
    fitting = [each for each in layouts if all(_fits(bundle, each) for bundle in large)] or layouts[:1]
    return min(fitting, key=lambda each: arrange(bundles, each, costs).seconds(each))


def _fits(bundle: Bundle, layout: Layout) -> bool:
    if layout.memory is None or layout.limit is None or not bundle.trained:
        return True
    if has_shared(bundle.cells[0].settings.task):  # whose tables must be counted first: it is asked when it begins
        return True
    with suppress(Exception), planned(layout.memory):
        return footprint_of(bundle).of(max(len(cell.seeds) for cell in bundle.cells)) <= layout.limit.free
    return True


def _platform(place: Place, layout: Layout) -> Platform:
    return "gpu" if layout.gpus and place == "device" else "cpu"
