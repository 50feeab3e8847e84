"""Train cells whose seeds stop each at its own time: cells of one shape together, each stored as soon as it is done."""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack

import numpy as np

from headway.laboratory import device
from headway.laboratory.emergence import EmergenceGroup, Tick
from headway.records import Cell
from headway.store import Store, Work, provenance
from headway.sweep.begun import SECONDS, take
from headway.sweep.compiled import share
from headway.sweep.watch import Watch

SAVE_EVERY = 60.0
"""Seconds between checkpoints: what a kill -9 can cost. The models are large and the disk takes its time."""


def run_adaptive(cells: Sequence[Cell], store: Store, watch: Watch) -> tuple[Cell, ...]:
    """Cells of one shape, those that were interrupted at the same step together; what others work on comes back."""
    with ExitStack() as held:
        taken = take(cells, store, watch, held)
        for position, begun in taken.at.items():
            checkpoints = [each.checkpoint for each in begun if each.checkpoint is not None]
            _train([each.work for each in begun], position, checkpoints, watch)
    return taken.busy


def _train(works: Sequence[Work], position: int, checkpoints: Sequence[Mapping], watch: Watch) -> None:
    cells = [work.cell for work in works]
    before = max((float(checkpoint[SECONDS][0]) for checkpoint in checkpoints), default=0.0)
    steps = cells[0].settings.training.steps
    watch.begin(cells, position, steps)
    if position:
        watch.note(f"going on at step {position} of at most {steps}")
    began = saved = time.monotonic()
    group = EmergenceGroup(cells)
    pending: dict[int, list[Tick]] = {index: [] for index in range(len(works))}
    losses = np.full(sum(len(cell.seeds) for cell in cells), np.nan)  # The last one of each seed, stopped or not.

    def save(indices: Iterable[int], at_least: int = 1) -> None:
        """Keep everything up to the last tick; step 0 alone is a function of the seeds, worth it only if it is all."""
        for index in indices:
            ticks = pending[index]
            if ticks and ticks[-1].step >= at_least:
                state = group.checkpoint(index)
                state[SECONDS] = np.asarray([before + time.monotonic() - began])
                works[index].save(group.part(ticks, index), state, ticks[-1].step)
                ticks.clear()

    try:
        for tick in group.ticks(position, checkpoints or None):
            for ticks in pending.values():
                ticks.append(tick)
            for index in [index for index in pending if group.done(index)]:
                save([index], at_least=0)
                del pending[index]
                seconds = before + time.monotonic() - began
                works[index].finish(group.facts(index), provenance(device(), seconds))
            if time.monotonic() - saved > SAVE_EVERY:
                save(pending)
                share()
                saved = time.monotonic()
            losses = np.where(np.isnan(tick.measured["train_loss"]), losses, tick.measured["train_loss"])
            if tick.step:
                watch.advance(tick.step, losses, None)
    except KeyboardInterrupt:
        save(pending)
        raise
    watch.end(cells)
