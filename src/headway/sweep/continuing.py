"""A run of more steps goes on where a shorter one of the same settings ended, if that one kept its state."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import numpy as np

from headway.records import Cell
from headway.store import Record, Resumed, Store, StoreError, Work
from headway.store.origin import sources
from headway.store.record import SEEDS
from headway.sweep.watch import Watch
from headway.tasks.task import with_numbers
from headway.training.group import reopened


class ShorterRuns:
    """The records of a store from whose end training can go on, by what they share with longer runs."""

    def __init__(self, store: Store) -> None:
        self._alike: dict[Hashable, list[Record]] = {}
        for record in store.with_state():
            self._alike.setdefault(_but_for_steps(record.cell), []).append(record)

    def before(self, cell: Cell) -> Record | None:
        """The longest that is shorter than the cell."""
        steps = cell.settings.training.steps
        found = [each for each in self._alike.get(_but_for_steps(cell), []) if _steps(each) < steps]
        return max(found, key=_steps, default=None)


def adopt(work: Work, resumed: Resumed, shorter: ShorterRuns, watch: Watch) -> Resumed:
    """New work goes on from the end of a shorter run, if there is one and its steps do not depend on their number."""
    record = shorter.before(work.cell) if resumed.checkpoint is None else None
    if record is None:
        return resumed
    end, words = _steps(record), f"{record.identity} ends at step {_steps(record)} with the same settings"
    refusal = _refusal(work.cell.settings)
    if refusal:
        watch.note(f"{words}, but {refusal}: starting from scratch")
        return resumed
    try:
        state = reopened(record.state(), record.cell.settings)
        kept = {step: record.weights(step) for step in record.kept}
        if record.cell.settings.training.threshold is None:
            kept[end] = {SEEDS: np.asarray(record.cell.seeds, np.int64), **record.weights()}
        trajectory = dataclasses.replace(record.trajectory, facts={})
    except (StoreError, KeyError) as error:
        watch.note(f"{words}, but it cannot be used ({error}): starting from scratch")
        return resumed
    notes: dict[str, Any] = {"continued": {"from": record.identity, "at": end}}
    made = {name: record.provenance.get(name) for name in sources()}
    if made != sources():
        notes["begun_with"] = made
    if record.provenance.get("keep_weights"):
        notes["keep_weights"] = record.provenance["keep_weights"]
    work.save(trajectory, state, end, kept, notes)
    if _looks(work.cell.settings, end) != _looks(record.cell.settings, end):
        watch.note(f"up to step {end} the evaluations are those of {record.identity}: theirs depend on its own length")
    return Resumed([trajectory], state, end, tuple(kept), notes)


def _refusal(settings: Any) -> str:
    """Why the first steps of a longer run are others; nothing if they are the same."""
    if settings.training.schedule == "cosine":
        return "with the schedule cosine every step depends on how many there are"
    if settings.references:
        return "it needs other runs (task.references, training.frozen) of as many steps as its own"
    if settings.training.rates:
        return "its learning rate is chosen by runs of as many steps as its own (training.rates)"
    return ""


def _looks(settings: Any, end: int) -> list[list[int]]:
    """When a run is measured, and when whole attention matrices are kept, up to a step."""
    evaluation, last = settings.evaluation, settings.training.steps
    return [[step for step in every if step <= end] for every in (evaluation.steps(last), evaluation.pictures(last))]


def _steps(record: Record) -> int:
    return record.cell.settings.training.steps


def _but_for_steps(cell: Cell) -> Hashable:
    settings = cell.settings
    return (
        cell.kind,
        cell.source,
        cell.seeds,
        with_numbers(settings, {"training": with_numbers(settings.training, {"steps": 0})}),
    )
