"""The work itself, wherever it is done: cells of one shape in one program, resuming what was begun."""

import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from headway.laboratory import Group, device
from headway.laboratory.flow import flow
from headway.laboratory.hand_made import hand_made
from headway.laboratory.portrait import portrait
from headway.laboratory.regression import regression
from headway.laboratory.stage_times import stage_times
from headway.laboratory.toy import toy_runs
from headway.records import Cell
from headway.store import Store, StoreError, Work, failure, provenance
from headway.store.plan import announced
from headway.sweep.adaptive import run_adaptive
from headway.sweep.begun import SECONDS, take
from headway.sweep.bundle import ADAPTIVE, Bundle, cut, waves
from headway.sweep.compiled import share
from headway.sweep.plan import pieces_of
from headway.sweep.rungs import Rungs
from headway.sweep.watch import Silence, Watch
from headway.training.train import Segment, Stretch

SAVE_EVERY = 10.0
"""Seconds between checkpoints, as long as they are quickly made: what a kill -9 can cost."""
SAVING = 1.0
"""Seconds that a checkpoint may take: one of thousands of cells, which takes longer, is made as much more seldom."""
MOST_SELDOM = 30.0
"""But not more: five minutes apart, whatever a disk is doing."""
AT_ONCE = {
    "construction": hand_made,
    "flow": flow,
    "regression": regression,
    "portrait": portrait,
    "stage-times": stage_times,
}
"""Kind of a cell -> what computes it in one go, on its own."""
SIDE_BY_SIDE = {"toy": toy_runs}
"""Kind of a cell -> what computes all cells of a bundle in one go; the other cells are trained."""
SHORTEST, LONGEST = 0.1, 2.0
"""Seconds between two looks at what another process works on."""
_said: set[str] = set()
"""Why some training is slower than it could be: told once, not for every cell."""


def run_cells(cells: Iterable[Cell], store: Store, watch: Watch | None = None) -> None:
    """Compute every cell that the store lacks, and whatever they compare themselves with."""
    cells, watch = list(cells), watch or Silence()
    with announced(store.root, cells):
        errors: list[Exception] = []
        for wave in waves(cells):
            errors += run_bundles(wave, store, watch)
    raise_first(errors)


def run_bundles(bundles: Iterable[Bundle], store: Store, watch: Watch, *, once: bool = False) -> list[Exception]:
    """Compute every cell of the bundles that the store lacks; the errors that ended some come back.

    What another process works on is passed over and asked for again at the end. `once`, a cell that has failed, here or
    elsewhere, is not tried again. A store that cannot be written is an error at once, for nothing more can be done.
    """
    store.tidy()
    waiting, errors, pause, told = list(bundles), [], SHORTEST, False
    while waiting:
        busy: list[Bundle] = []
        for bundle in waiting:
            try:
                others = run_bundle(replace(bundle, cells=_wanted(bundle, store, once, errors)), store, watch)
            except Exception as error:
                if isinstance(error, StoreError) and error.trouble == "unwritable":
                    raise
                errors.append(error)
                continue
            if others:
                busy.append(replace(bundle, cells=others))
        if busy:
            if not told:
                told = True
                names = [cell.identity for bundle in busy for cell in bundle.cells]
                more = f" and {len(names) - 1} more" if len(names) > 1 else ""
                watch.note(f"another process is at {names[0]}{more}; waiting for it")
            pause = SHORTEST if len(busy) < len(waiting) else min(2 * pause, LONGEST)
            time.sleep(pause)
        waiting = busy
    return errors


def run_bundle(bundle: Bundle, store: Store, watch: Watch) -> tuple[Cell, ...]:
    """The work itself, wherever it is done: all cells of a bundle that are free; what others work on comes back.

    As many at once as this device has memory for; those that are too many in spite of the estimate are halved.
    """
    if not bundle.cells:
        return ()
    if bundle.kind in AT_ONCE or bundle.kind in SIDE_BY_SIDE:
        return _compute_at_once(bundle.cells, store, watch)
    pieces = pieces_of(bundle)
    if len(pieces) > 1:
        return tuple(cell for piece in pieces for cell in run_bundle(piece, store, watch))
    try:
        if bundle.kind in ADAPTIVE:
            return run_adaptive(bundle.cells, store, watch)
        return _run_group(bundle.cells, bundle.capacity, store, watch)
    except Exception as error:
        if len(bundle.cells) == 1 or "RESOURCE_EXHAUSTED" not in str(error):
            raise
    # Outside of the handler: the error's frames hold what fills the memory.
    watch.note(f"{bundle.members} runs side by side do not fit the memory of the device: in two halves")
    return tuple(cell for half in cut(bundle, 2) for cell in run_bundle(half, store, watch))


def raise_first(errors: Sequence[Exception]) -> None:
    """The first error, if there is one, with a word about the others."""
    told = list(dict.fromkeys(f"{type(error).__name__}: {error}" for error in errors))
    for other in told[1:]:
        errors[0].add_note(f"Another cell failed too. {other}")
    if errors:
        raise errors[0]


def _wanted(bundle: Bundle, store: Store, once: bool, errors: list[Exception]) -> tuple[Cell, ...]:
    """What is to be computed of a bundle; a cell in whose place something else lies is an error of its own."""
    wanted = []
    for cell in bundle.cells:
        try:
            if store.has(cell) or (once and failure.note_of(store.root / cell.identity).exists()):
                continue
            # A reference that could not be computed is an error already, and no other one follows from it.
            if all(store.has(reference) for reference in cell.references()):
                wanted.append(cell)
        except StoreError as error:
            errors.append(error)
    return tuple(wanted)


def _compute_at_once(cells: Sequence[Cell], store: Store, watch: Watch) -> tuple[Cell, ...]:
    with ExitStack() as held:
        taken = take(cells, store, watch, held)
        works = [begun.work for each in taken.at.values() for begun in each]
        if works:
            kind, free = cells[0].kind, [work.cell for work in works]
            watch.note(f"computing {kind}, {sum(len(cell.seeds) for cell in free)} seeds")
            began = time.monotonic()
            found = SIDE_BY_SIDE[kind](free) if kind in SIDE_BY_SIDE else [AT_ONCE[kind](cell) for cell in free]
            origin = provenance(device(), time.monotonic() - began)
            for work, trajectory in zip(works, found, strict=True):
                work.place(trajectory, origin)
    return taken.busy


def _run_group(cells: Sequence[Cell], capacity: int, store: Store, watch: Watch) -> tuple[Cell, ...]:
    """Cells of one shape, those that were interrupted at the same step together; what others work on comes back."""
    with ExitStack() as held:
        taken = take(cells, store, watch, held)
        for position, begun in taken.at.items():
            checkpoints = [each.checkpoint for each in begun]
            _train([each.work for each in begun], position, checkpoints, capacity, store, watch)
    return taken.busy


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
    pause = SAVE_EVERY
    group = Group(cells, references, capacity)
    if group.form.shortfall is not None and group.form.shortfall not in _said:
        _said.add(group.form.shortfall)
        watch.note(group.form.shortfall)
    pending: list[Stretch] = []
    measured: Segment | None = None  # The last evaluation: the one state that is kept between saves.
    rungs = Rungs()

    def save() -> None:
        """Keep everything up to the last evaluation; step 0 alone is a function of the seeds and not worth it."""
        nonlocal saved, measured, pause
        if measured is None or measured.step == 0:
            return
        last, measured, start = measured, None, time.monotonic()
        kept = [stretch for stretch in pending if stretch.step <= last.step]
        pending[:] = pending[len(kept) :]
        for index, (work, state) in enumerate(zip(works, group.checkpoints(last), strict=True)):
            state[SECONDS] = np.asarray([before + time.monotonic() - began])
            work.save(group.part(kept, index), state, last.step)
        share()
        saved = time.monotonic()
        pause = SAVE_EVERY * min(max(1.0, (saved - start) / SAVING), MOST_SELDOM)

    try:
        for segment in group.segments(position, None if fresh else checkpoints):
            pending.append(segment.stretch)
            if segment.probe is not None:
                measured = segment
            _tell(segment, rungs, watch)
            if segment.probe is not None and (time.monotonic() - saved > pause or segment.step == steps):
                save()
    except KeyboardInterrupt:
        save()
        raise
    seconds = before + time.monotonic() - began
    origin = provenance(device(), seconds)
    for work, facts, weights in zip(works, group.facts(segment), group.weights(segment), strict=True):
        work.finish(facts, origin, weights)
    watch.end(cells)


def _tell(segment: Stretch, rungs: Rungs, watch: Watch) -> None:
    at = None if segment.probe is None else rungs.update(segment.probe["kl_rungs"])
    if segment.losses.shape[1]:
        watch.advance(segment.step, segment.losses[:, -1], at)
