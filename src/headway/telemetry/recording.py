"""Readings -> a record: opened at the first, saved as they come, so that they can be watched, and whole at the end."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from headway.records import Cell, Trajectory
from headway.store import Store, failure, provenance
from headway.store.joining import join
from headway.telemetry.errors import TelemetryError
from headway.telemetry.reading import Reading
from headway.telemetry.settings import PREFIX, TelemetrySettings

CLOCK = "evaluation"
SAVE_EVERY = 2.0
"""Seconds between two saves, at least."""
PACKAGES = ("torch", "transformers", "lightning")


class Recording:
    """One run's record while it grows."""

    def __init__(
        self, folder: str | Path, settings: TelemetrySettings, seed: int, facts: dict[str, np.ndarray]
    ) -> None:
        self.cell, self.store = Cell(settings, (seed,)), Store(folder)
        self.facts = {name: values[None] for name, values in facts.items()}
        self.failures: list[dict[str, Any]] = []
        self.found = ""
        self._held = ExitStack()
        self._saved = self._began = time.monotonic()
        self._pending: list[Trajectory] = []
        self._blank: Reading | None = None
        # The time that training took is the record's, too: a run that goes on counts from where it was.
        self._before = 0.0
        self.parts: list[Trajectory] = []
        self._open()

    @property
    def path(self) -> Path:
        return self.store.root / self.cell.identity

    @property
    def last(self) -> int | None:
        """The last step that is in the record."""
        return int(self.parts[-1].clocks[CLOCK][-1]) if self.parts else None

    def _open(self) -> None:
        self._work = self._held.enter_context(self.store.open(self.cell, wait=False))
        if self._work.record is not None:
            self._held.close()
            raise TelemetryError(
                f"{self.path} is the finished record of a run {self.cell.settings.name!r} with this model and probe. "
                "Give this run another name, or another folder."
            )
        resumed = self._work.resume()
        self.parts = list(resumed.parts)
        if resumed.checkpoint is not None:
            self._before = float(resumed.checkpoint["seconds"][0])

    def add(self, step: int, reading: Reading, seconds: float) -> None:
        """Keep what was read at a step."""
        self._blank, self.found = reading, reading.found
        self._append(_trajectory(self.cell.seeds, step, reading, seconds, failed=False))

    def fail(self, step: int, error: Exception, seconds: float) -> None:
        """Keep that nothing could be read: in the record, and beside it for whoever watches."""
        self.failures.append({"step": step, "error": f"{type(error).__name__}: {error}"[:2000]})
        failure.note(self.path, error)
        if self._blank is not None:
            self._append(_trajectory(self.cell.seeds, step, _nothing(self._blank), seconds, failed=True))

    def _append(self, part: Trajectory) -> None:
        if not self.parts:
            part = Trajectory(part.seeds, part.clocks, part.arrays, part.clock_of, self.facts)
        self.parts.append(part)
        self._pending.append(part)
        if time.monotonic() - self._saved > SAVE_EVERY or len(self.parts) == 1:
            self.save()

    def save(self) -> None:
        if not self._pending:
            return
        part = join(self._pending)
        seconds = np.asarray([self._before + time.monotonic() - self._began])
        self._work.save(part, {"seconds": seconds}, int(part.clocks[CLOCK][-1]))
        self._pending = []
        self._saved = time.monotonic()

    def finish(self, device: str, told: dict[str, Any]) -> None:
        """The whole record."""
        if not self.parts:
            self.close()
            return
        self.save()
        made = provenance(device, self._before + time.monotonic() - self._began)
        versions = {name: _version(name) for name in PACKAGES}
        made["versions"] = made["versions"] | {name: version for name, version in versions.items() if version}
        words = {"about": asdict(self.cell.settings.about())}
        summary = {"found": self.found, "probes": len(self.parts), "failures": self.failures, **told}
        self._work.finish(self.facts, {**made, **words, "telemetry": summary})
        failure.forget(self.path)
        self._held.close()

    def close(self) -> None:
        """Leave it unfinished, as a killed process would; what was measured is saved."""
        try:
            self.save()
        finally:
            self._held.close()


def _trajectory(seeds: tuple[int, ...], step: int, reading: Reading, seconds: float, failed: bool) -> Trajectory:
    arrays: dict[str, Any] = {
        "loss": np.float64(reading.loss),
        "in_context_score": np.float64(reading.in_context_score),
        "attention_by_lag": reading.by_lag,
        **{PREFIX + name: values for name, values in reading.scores.items()},
        "probe_seconds": np.float64(seconds),
        "probe_failed": np.float64(failed),
    }
    if reading.kl_rungs is not None:
        arrays["kl_rungs"] = reading.kl_rungs
    return Trajectory(
        seeds=seeds,
        clocks={CLOCK: np.array([step], np.int64)},
        arrays={name: np.asarray(values)[None, None] for name, values in arrays.items()},
        clock_of=dict.fromkeys(arrays, CLOCK),
    )


def _nothing(like: Reading) -> Reading:
    """A reading of the same shape in which nothing is known."""
    return Reading(
        loss=float("nan"),
        in_context_score=float("nan"),
        kl_rungs=None if like.kl_rungs is None else np.full_like(like.kl_rungs, np.nan),
        by_lag=np.full_like(like.by_lag, np.nan),
        scores={name: np.full_like(values, np.nan) for name, values in like.scores.items()},
        found=like.found,
    )


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
