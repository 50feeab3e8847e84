"""Run cells in this process: references first, cells of one shape in one program, resuming what was begun."""

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import ExitStack

import numpy as np

from headway.laboratory import Group, device, shape_of
from headway.laboratory.flow import flow
from headway.laboratory.hand_made import hand_made
from headway.laboratory.portrait import portrait
from headway.laboratory.regression import regression
from headway.laboratory.stage_times import stage_times
from headway.laboratory.toy import toy_run
from headway.records import Cell
from headway.store import Store, Work, provenance
from headway.store.plan import announced
from headway.sweep.adaptive import run_adaptive
from headway.sweep.begun import SECONDS, begun
from headway.sweep.rungs import Rungs
from headway.sweep.watch import Silence, Watch
from headway.training.train import Segment, Stretch

SAVE_EVERY = 10.0
"""Seconds between checkpoints: what a kill -9 can cost."""
AT_ONCE = {
    "construction": hand_made,
    "flow": flow,
    "regression": regression,
    "portrait": portrait,
    "stage-times": stage_times,
    "toy": toy_run,
}
"""Kind of a cell -> what computes it in one go; the other cells are trained."""
ADAPTIVE = ("single-location", "recall")
"""Kinds of cells that are trained for as long as their plateau lasts."""
_said: set[str] = set()
"""Why some training is slower than it could be: told once, not for every cell."""


def run_cells(cells: Iterable[Cell], store: Store, watch: Watch | None = None) -> None:
    """Compute every cell that the store lacks, and whatever they compare themselves with."""
    cells = list(cells)
    with announced(store.root, cells):
        _run_cells(cells, store, watch or Silence())


def _run_cells(cells: Sequence[Cell], store: Store, watch: Watch) -> None:
    for cell in dict.fromkeys(cells):
        if cell.kind in AT_ONCE and not store.has(cell):
            _compute_at_once(cell, store, watch)
    run_adaptive((cell for cell in cells if cell.kind in ADAPTIVE), store, watch)
    for wave in _waves(cell for cell in cells if cell.kind not in (*AT_ONCE, *ADAPTIVE)):
        alike, left = defaultdict(list), defaultdict(list)
        for cell in wave:
            alike[shape_of(cell.settings)].append(cell)
            if not store.has(cell):
                left[shape_of(cell.settings)].append(cell)
        for shape, group in left.items():
            # Room for the largest of them all: a cell's bits must not depend on which others are done.
            _run_group(group, max(cell.settings.training.samples for cell in alike[shape]), store, watch)


def _compute_at_once(cell: Cell, store: Store, watch: Watch) -> None:
    waiting = f"another process is at {cell.identity}; waiting for it"
    with store.open(cell, on_wait=lambda: watch.note(waiting)) as work:
        if work.record is None:
            watch.note(f"computing {cell.kind}, {len(cell.seeds)} seeds")
            began = time.monotonic()
            trajectory = AT_ONCE[cell.kind](cell)
            work.place(trajectory, provenance(device(), time.monotonic() - began))


def _waves(cells: Iterable[Cell]) -> tuple[list[Cell], list[Cell]]:
    """What needs nothing, then what needs it; each cell once."""
    wanted = list(dict.fromkeys(cells))
    needed = [reference for cell in wanted for reference in cell.references()]
    first = dict.fromkeys([*needed, *(cell for cell in wanted if not cell.settings.references)])
    return list(first), [cell for cell in wanted if cell.settings.references]


def _run_group(cells: Sequence[Cell], capacity: int, store: Store, watch: Watch) -> None:
    """Cells of one shape; those that were interrupted at the same step go on together."""
    with ExitStack() as held:
        for position, works in begun(cells, store, watch, held).items():
            checkpoints = [checkpoint for _, checkpoint in works]
            _train([work for work, _ in works], position, checkpoints, capacity, store, watch)


def _train(
    works: Sequence[Work], position: int, checkpoints: Sequence, capacity: int, store: Store, watch: Watch
) -> None:
    cells = [work.cell for work in works]
    steps = cells[0].settings.training.steps
    references = [[store.load(needed).weights() for needed in cell.references()] for cell in cells]
    fresh = checkpoints[0] is None
    before = 0.0 if fresh else float(checkpoints[0][SECONDS][0])
    watch.begin(cells, position, steps)
    if position:
        watch.note(f"going on at step {position} of {steps}")
    began = saved = time.monotonic()
    group = Group(cells, references, capacity)
    if group.form.shortfall is not None and group.form.shortfall not in _said:
        _said.add(group.form.shortfall)
        watch.note(group.form.shortfall)
    pending: list[Stretch] = []
    measured: Segment | None = None  # The last evaluation: the one state that is kept between saves.
    rungs = Rungs()

    def save() -> None:
        """Keep everything up to the last evaluation; step 0 alone is a function of the seeds and not worth it."""
        nonlocal saved, measured
        if measured is None or measured.step == 0:
            return
        last, measured = measured, None
        kept = [stretch for stretch in pending if stretch.step <= last.step]
        pending[:] = pending[len(kept) :]
        for index, work in enumerate(works):
            state = group.checkpoint(last, index)
            state[SECONDS] = np.asarray([before + time.monotonic() - began])
            work.save(group.part(kept, index), state, last.step)
        saved = time.monotonic()

    try:
        for segment in group.segments(position, None if fresh else checkpoints):
            pending.append(segment.stretch)
            if segment.probe is not None:
                measured = segment
            _tell(segment, rungs, watch)
            if segment.probe is not None and (time.monotonic() - saved > SAVE_EVERY or segment.step == steps):
                save()
    except KeyboardInterrupt:
        save()
        raise
    seconds = before + time.monotonic() - began
    for index, work in enumerate(works):
        work.finish(group.facts(segment, index), provenance(device(), seconds), group.weights(segment, index))
    watch.end(cells)


def _tell(segment: Stretch, rungs: Rungs, watch: Watch) -> None:
    at = None if segment.probe is None else rungs.update(segment.probe["kl_rungs"])
    if segment.losses.shape[1]:
        watch.advance(segment.step, segment.losses[:, -1], at)
