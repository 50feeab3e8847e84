"""The work itself, wherever it is done: cells of one shape in one program, resuming what was begun."""

import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from headway import registry
from headway.records import Cell
from headway.settings import SettingsError
from headway.settings.keeping import NOTHING, Keep
from headway.store import Store, StoreError, Work, failure, provenance
from headway.store.plan import announced
from headway.sweep.begun import SECONDS, Begun, take
from headway.sweep.bundle import Bundle, cut, waves
from headway.sweep.compiled import share
from headway.sweep.continuing import ShorterRuns, adopt
from headway.sweep.fitting import require_fitting, too_large
from headway.sweep.keeping import KeptModels, kept_in_words, require_keepable
from headway.sweep.pilots import choose_rate
from headway.sweep.plan import pieces_of, room
from headway.sweep.rungs import Rungs
from headway.sweep.users_code import look_at_users_code
from headway.sweep.watch import Silence, Watch
from headway.tasks.task import about_task
from headway.trained import reads_of_task
from headway.training.chunks import device
from headway.training.group import Group, Tick
from headway.training.spent import during
from headway.training.spent import listen as listen
from headway.training.spent import spent as spent

SAVE_EVERY = 10.0
"""Seconds between checkpoints, as long as they are quickly made: what a kill -9 can cost."""
SAVING = 1.0
"""Seconds that a checkpoint may take: one of thousands of cells, which takes longer, is made as much more seldom."""
MOST_SELDOM = 30.0
"""But not more: five minutes apart, whatever a disk is doing."""
SHORTEST, LONGEST = 0.1, 2.0
"""Seconds between two looks at what another process works on."""
_said: set[str] = set()
"""Why some training is slower than it could be: reported once, not for every cell."""


def run_cells(cells: Iterable[Cell], store: Store, watch: Watch | None = None, keep: Keep = NOTHING) -> None:
    """Compute every cell that the store lacks, and whatever they compare themselves with; `keep` models of theirs."""
    cells, watch = list(cells), watch or Silence()
    require_keepable(keep, cells)
    look_at_users_code(cells, store, watch)
    require_fitting(cells, store, room())
    with announced(store.root, cells):
        errors: list[Exception] = []
        for wave in waves(cells, keep):
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
            if others := run_free(bundle, store, watch, errors, once=once):
                busy.append(replace(bundle, cells=others))
        if busy:
            if not told:
                told = True
                names = [cell.identity for bundle in busy for cell in bundle.cells]
                more = f" and {len(names) - 1} more" if len(names) > 1 else ""
                watch.note(f"another process is computing {names[0]}{more}; waiting for it")
            pause = SHORTEST if len(busy) < len(waiting) else min(2 * pause, LONGEST)
            with during("waiting"):
                time.sleep(pause)
        waiting = busy
    return errors


def run_free(
    bundle: Bundle, store: Store, watch: Watch, errors: list[Exception], *, once: bool = False
) -> tuple[Cell, ...]:
    """Compute what the store lacks of a bundle and nobody else works on, and add its errors; the cells of others."""
    try:
        return run_bundle(replace(bundle, cells=_wanted(bundle, store, once, errors)), store, watch)
    except Exception as error:
        if isinstance(error, StoreError) and error.trouble == "unwritable":
            raise
        errors.append(error)
        return ()


def run_bundle(bundle: Bundle, store: Store, watch: Watch) -> tuple[Cell, ...]:
    """The work itself, wherever it is done: all cells of a bundle that are free; what others work on comes back.

    As many at once as this device has memory for; those that are too many in spite of the estimate are halved.
    """
    if not bundle.cells:
        return ()
    if not bundle.trained:
        return _compute_at_once(bundle.cells, store, watch)
    pieces = pieces_of(bundle, room())
    if len(pieces) > 1:
        return tuple(cell for piece in pieces for cell in run_bundle(piece, store, watch))
    try:
        return _run_group(bundle, store, watch)
    except Exception as error:
        if len(bundle.cells) == 1 or "RESOURCE_EXHAUSTED" not in str(error):
            raise
    # Outside of the handler: the error's frames hold what fills the memory.
    watch.note(f"{bundle.members} runs at once do not fit the memory of the device: splitting them into two halves")
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
            # What it needs and could not be computed is an error already, and no other one follows from it.
            if all(store.has(each) for each in cell.needs()):
                wanted.append(cell)
        except StoreError as error:
            errors.append(error)
    return tuple(wanted)


def _compute_at_once(cells: Sequence[Cell], store: Store, watch: Watch) -> tuple[Cell, ...]:
    with ExitStack() as held:
        taken = take(cells, store, watch, held)
        works = [begun.work for each in taken.at.values() for begun in each]
        if works:
            free = [work.cell for work in works]
            watch.note(f"computing {cells[0].kind}, {sum(len(cell.seeds) for cell in free)} seeds")
            began = time.monotonic()
            with during("training"):
                found = registry.compute(free)
            origin = provenance(device(), time.monotonic() - began)
            with during("storing"):
                for work, trajectory in zip(works, found, strict=True):
                    work.place(trajectory, origin)
    return taken.busy


def _run_group(bundle: Bundle, store: Store, watch: Watch) -> tuple[Cell, ...]:
    """Cells of one shape, those that were interrupted at the same step together; what others work on comes back."""
    shorter = ShorterRuns(store)
    with ExitStack() as held:
        taken = take(bundle.cells, store, watch, held, lambda work, resumed: adopt(work, resumed, shorter, watch))
        if taken.at and (words := too_large(bundle, room())):  # of a worker elsewhere, or of data that all seeds share
            raise SettingsError(words)
        for position, begun in taken.at.items():
            _train(begun, position, bundle, store, watch)
    return taken.busy


def _train(begun: Sequence[Begun], position: int, bundle: Bundle, store: Store, watch: Watch) -> None:
    works: list[Work] = [each.work for each in begun]
    checkpoints: list[Any] = [each.resumed.checkpoint for each in begun]
    keeps = [bundle.keep or Keep(str(each.resumed.notes.get("keep_weights", ""))) for each in begun]
    keeping = [KeptModels(keep, *each) for keep, each in zip(keeps, begun, strict=True)]
    cells = [work.cell for work in works]
    steps = cells[0].settings.training.steps
    references = [[store.load(needed).weights() for needed in cell.references()] for cell in cells]
    fresh = checkpoints[0] is None
    before = 0.0 if fresh else float(checkpoints[0][SECONDS][0])
    watch.begin(cells, position, steps)
    if position:
        watch.note(f"resuming at step {position} of {steps}")
    began = saved = time.monotonic()
    pause = SAVE_EVERY
    chosen = [choose_rate(cell, store) for cell in cells]
    group = Group([each.cell for each in chosen], references, bundle.capacity)
    shortfall = None if group.form is None else group.form.shortfall
    if shortfall is not None and shortfall not in _said:
        _said.add(shortfall)
        watch.note(shortfall)
    pending: dict[int, list[Tick]] = {index: [] for index in range(len(works))}
    measured = 0  # The step of the last evaluation: of its state one can go on.
    rungs = Rungs()
    stated = False  # Whether it was noted how much is kept.

    def save(indices: Sequence[int], least: int = 1) -> None:
        """Keep everything up to the last evaluation; step 0, a function of the seeds, only if that is all."""
        nonlocal saved, pause
        start, states = time.monotonic(), None
        for index in indices:
            kept = [tick for tick in pending[index] if tick.step <= measured]
            if not kept or measured < least:
                continue
            states = group.checkpoints() if states is None else states
            state = {**states[index], SECONDS: np.asarray([before + time.monotonic() - began])}
            with during("storing"):
                works[index].save(group.part(kept, index), state, measured, keeping[index].models(), notes(index))
            keeping[index].saved()
            pending[index] = pending[index][len(kept) :]
        if states is not None:
            share()
            saved = time.monotonic()
            pause = SAVE_EVERY * min(max(1.0, (saved - start) / SAVING), MOST_SELDOM)

    def notes(index: int) -> dict[str, Any]:
        word = {"keep_weights": keeps[index].word} if keeps[index] else {}
        return {**begun[index].resumed.notes, **word}

    def look(tick: Tick) -> None:
        """Keep the models of an evaluation, of cells that want them."""
        found: list[dict[str, np.ndarray]] = []
        measured = tick.measured or {}

        def weights(index: int) -> dict[str, np.ndarray]:
            nonlocal stated
            if not found:
                found.extend(group.weights())
            if not stated:
                stated = True
                watch.note(kept_in_words(keeps, found, group.checkpoints()))
            return found[index]

        for index in pending:
            own = {name: group.own(measured[name], index) for name in ("kl_rungs",) if name in measured}
            keeping[index].look(tick.step, own.get("kl_rungs"), lambda index=index: weights(index))

    def finish(indices: Sequence[int]) -> None:
        save(indices, least=0)
        facts, weights = group.facts(), group.weights()
        ends = group.checkpoints() if any(keeps) else []
        for index in indices:
            del pending[index]
            task = cells[index].settings.task
            words = {"about": asdict(about_task(task)), "reads": asdict(reads_of_task(task))}
            origin = provenance(device(), before + time.monotonic() - began) | words
            seconds = {SECONDS: np.asarray([origin["seconds"]])}
            end = {**ends[index], **seconds} if keeps[index] else None
            with during("storing"):
                works[index].finish(
                    facts[index] | chosen[index].facts(), origin, weights[index], keeping[index].earlier(), end
                )

    try:
        for tick in group.ticks(position, None if fresh else checkpoints):
            for ticks in pending.values():
                ticks.append(tick)
            if tick.measured is not None:
                measured = tick.step
                look(tick)
            _tell(tick, rungs, watch)
            if group.until_learnt and (done := [index for index in pending if group.done(index)]):
                finish(done)
            elif tick.measured is not None and time.monotonic() - saved > pause and tick.step < steps:
                save(list(pending))
    except KeyboardInterrupt:
        save(list(pending))
        raise
    finish(list(pending))
    watch.end(cells)


def _tell(tick: Tick, rungs: Rungs, watch: Watch) -> None:
    at = None
    if tick.measured is not None and "kl_rungs" in tick.measured:
        at = rungs.update(tick.measured["kl_rungs"])
    if tick.losses.shape[1]:
        watch.advance(tick.step, tick.losses[:, -1], at)
