"""A worker that is asked for one bundle after the other and reports how far it is: JSON both ways, through pipes.

    {"do": 3}                                               to a worker: the bundle of that number
    {"say": "ready", "spent": {...}}                        from it, once it can begin
    {"say": "begin", "run": "8-gram", "members": 10, "steps": 2000}
    {"say": "step", "step": 400, "loss": 2.31, "spent": {"training": 20.1, ...}}    at most one a second
    {"say": "note", "text": "resuming at step 300 of 2000"}
    {"say": "over", "do": 3, "busy": 0, "failed": [], "spent": {...}}

Nothing that is read is ever run, and nothing is written but to these pipes and the store. What JAX, or a user's task,
prints goes to the log.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import jax
import numpy as np

from headway.records import Cell
from headway.store import Store
from headway.sweep.bundle import Bundle
from headway.sweep.compiled import kept_compiled, share
from headway.sweep.here import run_free
from headway.sweep.log_progress import LogProgress
from headway.sweep.watch import middle, name
from headway.training.spent import during, listen, spent

EVERY = 1.0
"""Seconds between two lines about steps."""
LONGEST_LINE = 1 << 16


class Reports(LogProgress):
    """A watch that reports to the process which handed the work out, besides the log."""

    def __init__(self, file: IO[str]) -> None:
        super().__init__()
        self._out = file
        self._told = 0.0

    def tell(self, say: str, **more: Any) -> None:
        self._out.write(f"{json.dumps({'say': say, **more})}\n")
        self._out.flush()

    def note(self, text: str) -> None:
        super().note(text)
        self.tell("note", text=text[:2000])

    def begin(self, cells: Sequence[Cell], position: int, steps: int) -> None:
        LogProgress.note(self, f"training {' '.join(cell.identity for cell in cells)} from step {position} to {steps}")
        self._told = 0.0
        self.tell("begin", run=name(cells[0]), members=sum(len(cell.seeds) for cell in cells), steps=steps)

    def advance(self, step: int, losses: np.ndarray, rungs: np.ndarray | None) -> None:
        if time.monotonic() - self._told > EVERY:
            self._told = time.monotonic()
            loss = middle(losses)
            self.tell("step", step=step, loss=loss if np.isfinite(loss) else None, spent=spent())

    def end(self, cells: Sequence[Cell]) -> None:
        LogProgress.note(self, f"done: {' '.join(cell.identity for cell in cells)}")


def serve(bundles: Sequence[Bundle], store: Store, read: IO[bytes], reports: Reports) -> bool:
    """Compute what is asked for until nothing more is; whether nothing failed."""
    listen()
    well = True
    # Now or never: after JAX has failed to get hold of a device, it would take the CPU when asked again.
    jax.devices()
    with kept_compiled(reports.note):
        reports.tell("ready", spent=spent())
        for number in asked(read, len(bundles)):
            share()  # what others have compiled since
            bundle, errors = bundles[number], list[Exception]()
            busy = run_free(bundle, store, reports, errors, once=True)
            share()
            for error in errors:
                LogProgress.note(reports, f"{type(error).__name__}: {error}")
            well = well and not errors
            failed = [f"{type(error).__name__}: {error}"[:500] for error in errors]
            reports.tell("over", do=number, busy=len(busy), failed=failed, spent=spent())
    return well


def asked(read: IO[bytes], number: int) -> Iterator[int]:
    """The numbers that come in, each below `number`, until the pipe is closed."""
    while True:
        with during("waiting"):
            line = read.readline(LONGEST_LINE)
        if not line:
            return
        wanted = heard(line).get("do")
        if not isinstance(wanted, int) or not 0 <= wanted < number:
            raise ValueError(f"a worker was asked for {wanted!r}, but its order has the bundles 0 to {number - 1}.")
        yield wanted


def heard(line: bytes) -> Mapping[str, Any]:
    """What a line says; nothing if it is not one of ours."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def own_pipe() -> IO[str]:
    """Standard output, for reports alone: whoever prints from now on prints to the log."""
    kept = os.dup(1)
    sys.stdout.flush()
    os.dup2(2, 1)
    return os.fdopen(kept, "w", encoding="utf-8")
