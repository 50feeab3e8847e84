"""Watch a model while it trains: `watch.step(i)` measures when a probe is due, and never ends the training."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from headway.analysis.ngrams import Ngrams
from headway.records import Cell
from headway.store import Store, StoreError
from headway.telemetry.errors import TelemetryError
from headway.telemetry.ladder import ladder_on
from headway.telemetry.probe import digest, rows_of
from headway.telemetry.reading import Forward, Reader
from headway.telemetry.recording import CLOCK, Recording
from headway.telemetry.schedule import Budget, Schedule
from headway.telemetry.settings import IN_CONTEXT, SCORES, TelemetrySettings
from headway.telemetry.stage_log import StageLog
from headway.telemetry.undisturbed import bare, device_of, wait_for

log = logging.getLogger("headway.telemetry")
SHARDED = ("FullyShardedDataParallel", "FSDPModule")


class Watch:
    """A model, a probe, scores and a schedule; writes an ordinary record into `folder`."""

    def __init__(
        self,
        model: torch.nn.Module,
        probe: Any,
        *,
        ladder: Ngrams | None = None,
        scores: Sequence[str] = SCORES,
        schedule: Schedule | None = None,
        folder: str | Path = "runs",
        name: str = "",
        seed: int = 0,
        lags: int = 64,
        forward: Forward | None = None,
        attention: Any = None,
        autocast: torch.dtype | None = None,
        start_token: int | None = None,
        vocab: int | None = None,
        steps: int | None = None,
        checkpoints: Sequence[str] = (),
    ) -> None:
        """`steps` is how many there will be, if that is known: it lets early probes use what late ones leave.

        `autocast` is the type that training casts to, if `step` is called outside of its `torch.autocast`.
        """
        unknown = [each for each in scores if each not in SCORES]
        if unknown:
            raise TelemetryError(f"there is no score {unknown[0]!r}; there are {', '.join(SCORES)}.")
        config = getattr(bare(model), "config", None)
        vocab = vocab or (ladder.vocab if ladder is not None else None) or _number(config, "vocab_size")
        rows = rows_of(probe, vocab)
        start = start_token if start_token is not None else _number(config, "bos_token_id") or 0
        start = start if vocab is None or start < vocab else 0
        length = rows.shape[1]
        in_context = IN_CONTEXT if length > IN_CONTEXT[1] else (max(1, length // 10), length - 1)
        made = None if ladder is None else ladder_on(ladder, rows)
        self.model, self.folder, self.seed = model, Path(folder), seed
        self.settings = TelemetrySettings(
            name=name or f"started {datetime.now(UTC):%Y-%m-%d %H:%M:%S}",
            model=type(bare(model)).__name__,
            parameters=sum(each.numel() for each in bare(model).parameters()),
            probe=digest(rows),
            rows=rows.shape[0],
            length=length,
            vocab=vocab or 0,
            scores=tuple(scores),
            rungs=() if made is None else made.rungs,
            ladder="" if made is None else made.digest,
            lags=min(lags, length),
            in_context=in_context,
            schedule=schedule or Schedule(),
            checkpoints=tuple(checkpoints),
        )
        self._reader = Reader(rows, lags, in_context, made, forward, attention, start, vocab, autocast)
        self._facts = {} if made is None else {"rung_loss": made.losses}
        self._stages = StageLog(self.settings.rungs)
        self._recording: Recording | None = None
        self._path: Path | None = None
        self._last: int | None = None
        self._seen = False
        self._began = 0.0
        self.budget = Budget(self.settings.schedule.share, steps)
        self._postponed = 0
        self._over = False

    @property
    def stage(self) -> str:
        """The rung that the model is at, by name; "" without a ladder, or before the first probe."""
        return self._stages.stage

    @property
    def path(self) -> Path | None:
        """Where the record is, or will be; None before the first probe, and in processes that do not measure."""
        return self._path if self._recording is None else self._recording.path

    @property
    def failures(self) -> list[dict[str, Any]]:
        """Probes that failed: their steps and errors."""
        return [] if self._recording is None else list(self._recording.failures)

    def is_done(self) -> bool:
        """Whether the folder has the whole record of this run already."""
        cell = Cell(self.settings, (self.seed,))
        done = Store(self.folder).has(cell)
        self._path = self.folder / cell.identity
        return done

    def open(self) -> int | None:
        """Begin the record, or go on with it; the last step that it holds."""
        if self._recording is None and _rank() == 0:
            self._begin()
        return self._last

    def step(self, step: int) -> None:
        """So many optimiser steps are done: measure if a probe is due."""
        if self._over or _rank() != 0 or not self.settings.schedule.due(step, self._last):
            return
        if not self.budget.allows(step, time.monotonic()):
            self._postponed += 1
            return
        self.measure(step)

    def measure(self, step: int) -> None:
        """Probe the model now, due or not, if the record has no later step."""
        if self._over or _rank() != 0 or (self._last is not None and step <= self._last):
            return
        self.open()
        recording = self._recording
        if recording is None or (recording.last is not None and step <= recording.last):
            return  # A run that was interrupted repeats some steps, which the record has.
        first, self._seen = not self._seen, True
        device = device_of(self.model)
        wait_for(device)
        began = time.monotonic()
        try:
            reading = self._reader.read(bare(self.model))
            wait_for(device)
            recording.add(step, self._scored(reading), time.monotonic() - began)
            if first:
                log.info("%s; recording into %s", reading.found, recording.path)
            self._tell_stages(recording)
        except TelemetryError:
            if first:
                self._over = True
                recording.close()
                raise
            self._failed(step, began)
        except Exception:
            self._failed(step, began)
        self._last = step
        self.budget.probed(step, began, time.monotonic())

    def finish(self, step: int | None = None) -> None:
        """The run is over, after so many steps: a last probe, and the record is whole."""
        if self._over or _rank() != 0:
            return
        if step is not None:
            self.measure(step)
        self._over = True
        if self._recording is None:
            return
        seconds = time.monotonic() - self._began
        told = {
            "seconds": round(self.budget.took, 4),
            "first_probe_seconds": round(self.budget.first, 4),
            "share": round(self.budget.took / max(seconds, 1e-9), 5),
            "waited": self._postponed,
        }
        try:
            self._recording.finish(_device_name(self.model), told)
        except Exception:  # A full disk ends no training, either.
            log.exception("the record could not be finished; what was saved is in %s", self._recording.path)
            return
        log.info(
            "%d probes took %.2f s, the first of them %.2f s, of %.1f s; the record is %s",
            self.budget.probes, self.budget.took, self.budget.first, seconds, self._recording.path,
        )  # fmt: skip

    def close(self) -> None:
        """Stop without an end: the record stays unfinished, and a run of the same name goes on with it."""
        if not self._over and self._recording is not None:
            self._over = True
            self._recording.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self.finish() if kind is None else self.close()

    def trainer_callback(self) -> Any:
        """For `transformers.Trainer(callbacks=[...])`."""
        from headway.telemetry.trainer import callback

        return callback(self)

    def lightning_callback(self) -> Any:
        """For `lightning.Trainer(callbacks=[...])`."""
        from headway.telemetry.lightning import callback

        return callback(self)

    def _begin(self) -> None:
        _show_log()
        if any(each.__name__ in SHARDED for module in self.model.modules() for each in type(module).__mro__):
            raise TelemetryError(
                "the model is sharded over several processes (FSDP), and none of them has all of it. Save "
                "checkpoints and measure them: headway measure."
            )
        try:
            self._recording = Recording(self.folder, self.settings, self.seed, self._facts)
        except (StoreError, TelemetryError):
            self._over = True
            raise
        self._last = self._recording.last
        self._began = time.monotonic()
        atexit.register(self._at_exit)

    def _scored(self, reading: Any) -> Any:
        wanted = self.settings.scores
        return reading._replace(scores={name: reading.scores[name] for name in SCORES if name in wanted})

    def _failed(self, step: int, began: float) -> None:
        """Log it, record it, and go on."""
        error = sys.exc_info()[1]
        log.warning("the probe at step %d failed; training goes on", step, exc_info=True)
        if isinstance(error, torch.OutOfMemoryError):
            torch.get_device_module(device_of(self.model)).empty_cache()
        try:
            if self._recording is not None and isinstance(error, Exception):
                self._recording.fail(step, error, time.monotonic() - began)
        except Exception:
            log.warning("and it could not be recorded that it failed", exc_info=True)

    def _tell_stages(self, recording: Recording) -> None:
        if not self.settings.rungs:
            return
        steps = [int(step) for part in recording.parts for step in part.clocks[CLOCK]]
        kl = [row for part in recording.parts for row in part["kl_rungs"][0]]
        for news in self._stages.update(steps, kl):
            log.info("%s", news)

    def _at_exit(self) -> None:
        """A script that ends well has finished its run; one that dies of an error has not."""
        if getattr(sys, "last_value", None) is None:
            self.finish()
        else:
            self.close()


def _rank() -> int:
    """This process among those that train together."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank()
    return int(os.environ.get("RANK", "0") or 0)


def _number(config: Any, name: str) -> int | None:
    found = getattr(config, name, None)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _device_name(model: torch.nn.Module) -> str:
    device = device_of(model)
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def _show_log() -> None:
    """Lines of ours are seen even where nobody has set up logging."""
    if not log.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("headway: %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)
