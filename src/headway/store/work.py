"""The work on one cell, from nothing or from where a killed process stopped, to a whole record."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from headway.records import Cell, Trajectory
from headway.store import arrays, files, progress
from headway.store.errors import StoreError, explained
from headway.store.joining import join
from headway.store.origin import sources
from headway.store.progress import Progress
from headway.store.record import KEPT, STATE, Record, kept_name, read_record, write_record


@dataclass(frozen=True)
class Resumed:
    """Where the work goes on; at zero, with no checkpoint, if it is new."""

    parts: list[Trajectory]
    checkpoint: dict[str, np.ndarray] | None
    position: int
    kept: tuple[int, ...] = ()
    """Steps of which models are kept by now; `Work.kept_models` reads them."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What the record's provenance will say besides."""
    warning: str | None = None
    """Reported when earlier work could not be read and was set aside."""


class Work:
    """Work on a cell that this process alone may do, as long as the `with` of `Store.open` lasts.

    If `record` is not None, the cell is done and there is nothing to do.
    """

    def __init__(self, cell: Cell, folder: Path, record: Record | None) -> None:
        self.cell = cell
        self.record = record
        self._folder = folder
        self._partial = folder.with_name(f"{folder.name}.partial")
        self._progress: Progress | None = None
        self._open = True
        if record is None and (progress.is_bare(self._partial) or not os.path.lexists(self._partial)):
            with explained(self._partial, "beginning the cell"):
                progress.begin(self._partial, cell, sources())

    def resume(self) -> Resumed:
        """The last complete checkpoint and everything measured up to it.

        Work that cannot be read is ours and unfinished: it is kept as `.damaged-N` and the cell starts anew.
        """
        self._require_unfinished()
        with explained(self._partial, "reading the unfinished work"):
            try:
                self._progress, parts, checkpoint = progress.read_progress(self._partial, self.cell)
            except (ValueError, KeyError, TypeError, AttributeError, FileNotFoundError) as error:
                return self._start_anew(error)
            progress.sweep(self._partial, self._progress)
        kept = tuple(sorted(int(KEPT.fullmatch(name)[1]) for name in self._progress.kept))  # ty: ignore[not-subscriptable]
        return Resumed(parts, checkpoint, self._progress.position, kept, self._progress.notes)

    def kept_models(self, step: int) -> dict[str, np.ndarray]:
        """What was saved of a step's models."""
        saved = self._require_resumed()
        try:
            with explained(self._partial, "reading the unfinished work"):
                return arrays.decode(progress.read_kept(self._partial, saved, step))
        except (ValueError, FileNotFoundError) as error:
            raise self._damaged(error) from error

    def save(
        self,
        part: Trajectory | None,
        checkpoint: Mapping[str, np.ndarray],
        position: int,
        kept: Mapping[int, Mapping[str, np.ndarray] | None] | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Keep what was measured since the last save, and what is needed to go on from here.

        `kept` are the models of every step that are kept by now, None for those that were saved before.
        """
        before = self._require_resumed()
        if part is not None:
            self._require_seeds(part)
        with explained(self._partial, "saving a checkpoint"):
            self._progress = progress.append(self._partial, before, part, checkpoint, int(position), kept, notes)

    def finish(
        self,
        facts: Mapping[str, np.ndarray],
        provenance: Mapping[str, Any],
        weights: Mapping[str, np.ndarray] | None = None,
        kept: Mapping[int, Mapping[str, np.ndarray] | None] | None = None,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Trajectory:
        """Join what was saved into the whole record, and remove the unfinished work.

        `kept` are the models of earlier steps, None for those that are as they were saved; from `state` one can go on.
        """
        saved = self._require_resumed()
        if not saved.parts:
            raise ValueError("nothing was measured: save at least one part before finishing the cell.")
        try:
            with explained(self._partial, "reading the unfinished work"):
                trajectory = join(progress.read_parts(self._partial, saved, self.cell.seeds))
                begun = progress.read_begin(self._partial)["begun"]
        except ValueError as error:
            raise self._damaged(error) from error
        trajectory = dataclasses.replace(trajectory, facts={**trajectory.facts, **facts})
        # A run that another version began was not made by this one alone.
        mixed = {"begun_with": begun} if begun != sources() else {}
        more = {kept_name(step): self._models(step, models) for step, models in (kept or {}).items()}
        if state is not None:
            more[STATE] = lambda: arrays.encode(state)
        self._place(trajectory, {**provenance, **mixed, **saved.notes}, weights, None, more)
        return trajectory

    def _models(self, step: int, models: Mapping[str, np.ndarray] | None) -> Callable[[], bytes]:
        if models is not None:
            return lambda: arrays.encode(models)
        saved = self._require_resumed()
        return lambda: progress.read_kept(self._partial, saved, step)

    def _damaged(self, error: Exception) -> StoreError:
        problem, remedy = f"the unfinished work is damaged: {error}", "Start again: it will be set aside."
        return StoreError(self._partial, problem, remedy, "damaged")

    def place(
        self,
        trajectory: Trajectory,
        provenance: Mapping[str, Any],
        weights: Mapping[str, np.ndarray] | None = None,
        reduced: Mapping[str, Any] | None = None,
    ) -> Record:
        """Put a whole record in its place at once; what was saved of it before is removed."""
        return self._place(trajectory, provenance, weights, reduced, {})

    def _place(
        self,
        trajectory: Trajectory,
        provenance: Mapping[str, Any],
        weights: Mapping[str, np.ndarray] | None,
        reduced: Mapping[str, Any] | None,
        more: Mapping[str, Callable[[], bytes]],
    ) -> Record:
        if self._progress is None:
            self.resume()
        self._require_unfinished()
        self._require_seeds(trajectory)
        new = self._partial / "record"
        with explained(self._folder, "writing the record"):
            if new.exists():
                shutil.rmtree(new)
            write_record(new, self.cell, trajectory, provenance, weights, reduced, more)
            # This fails, and so it should, if a folder with something in it has come to lie there.
            new.rename(self._folder)
            files.settle(self._folder.parent)
        shutil.rmtree(self._partial, ignore_errors=True)
        self.record = read_record(self._folder)
        return self.record

    def close(self) -> None:
        """Work that saved nothing leaves nothing."""
        self._open = False
        if self.record is None and progress.is_bare(self._partial):
            shutil.rmtree(self._partial, ignore_errors=True)

    def _start_anew(self, error: Exception) -> Resumed:
        aside = progress.set_aside(self._partial)
        progress.begin(self._partial, self.cell, sources())
        self._progress = Progress()
        warning = (
            f"{self._partial}: the unfinished work cannot be read ({error}). "
            f"It is kept as {aside.name} and may be deleted; the cell starts anew."
        )
        return Resumed([], None, 0, warning=warning)

    def _require_unfinished(self) -> None:
        if not self._open:
            raise RuntimeError("this work was closed: another process may do it now. Use Store.open again.")
        if self.record is not None:
            raise RuntimeError(f"{self.cell.identity} is done. Look at `record` before working on a cell.")

    def _require_seeds(self, trajectory: Trajectory) -> None:
        if tuple(trajectory.seeds) != tuple(self.cell.seeds):
            raise ValueError(f"got the seeds {trajectory.seeds}, but the cell has {self.cell.seeds}.")

    def _require_resumed(self) -> Progress:
        self._require_unfinished()
        if self._progress is None:
            raise RuntimeError("call resume() first: it says where the work goes on.")
        return self._progress
