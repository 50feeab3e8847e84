"""How long it will still take: left = (steps - position) * seconds a step, both from the checkpoints."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open

from headway.store.progress import Progress
from headway.watch.snapshot import Seen, Snapshot

SECONDS = "seconds"
"""Name under which a checkpoint keeps the time that was spent before it, as the sweep writes it."""
ENOUGH = 0.1
"""Share of a run from which on the time spent on all of it, compiling included, says how long the rest will take."""


def seconds_spent(folder: Path, progress: Progress) -> float | None:
    """What the checkpoint says was spent; only this one number of it is read."""
    for name in progress.state:
        try:
            if not stat.S_ISREG(os.lstat(folder / name).st_mode):
                return None
            with safe_open(folder / name, framework="numpy") as state:
                spent = float(state.get_tensor(SECONDS)[0])
                return spent if math.isfinite(spent) and spent >= 0 else None
        # The next checkpoint may have replaced it, and other kinds of work keep other things.
        except (OSError, SafetensorError, IndexError, TypeError, ValueError):
            return None
    return None


def cell_left(seen: Seen) -> float | None:
    """Seconds until a running cell is done, at its own pace; of one that may stop early, at most.

    The pace since the first checkpoint that was seen: setting up and compiling, before it, say nothing about the rest.
    """
    if seen.state != "running" or not seen.steps or seen.seconds is None:
        return None
    position, seconds = seen.since or (0, 0.0)
    if seen.position <= position:
        position, seconds = 0, 0.0
        if seen.position < ENOUGH * seen.steps:
            return None
    return max(0.0, seen.seconds - seconds) * max(0, seen.steps - seen.position) / (seen.position - position)


def left(sight: Snapshot) -> Mapping[str, float | None]:
    """Seconds until what runs now is done, and until everything is; None where nothing shows it yet.

    What runs, runs side by side. What waits is taken to need as long as what the same sweep has done before.
    """
    running = [cell_left(seen) for seen in sight.cells.values() if seen.state == "running"]
    known = [seconds for seconds in running if seconds is not None]
    now = max(known) if known and len(known) == len(running) else None
    waiting = sum(seen.state == "waiting" for seen in sight.cells.values())
    if not waiting or now is None:
        return {"running": now, "all": now}
    paces = [pace for pace in (_pace(sight, number) for number in range(len(sight.plans))) if pace is not None]
    return {"running": now, "all": now + waiting * max(paces) if paces else None}


def _pace(sight: Snapshot, number: int) -> float | None:
    """Seconds that a sweep took for each cell that it has done."""
    plan = sight.plans[number]
    done = [sight.cells[identity] for identity, _ in plan.cells if sight.cells[identity].state == "done"]
    if not done:
        return None
    return max(0.0, max(seen.changed for seen in done) - plan.begun) / len(done)
