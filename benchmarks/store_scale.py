"""What a cell costs the store, and how long planning and listing take when there are ten thousand of them.

    python benchmarks/store_scale.py                       # 10 000 cells in a temporary folder, removed at the end
    python benchmarks/store_scale.py 10000 /tmp/many       # kept; what lies there already is not made again

The cells are tiny trainings that differ in one number; their records hold made-up curves of one seed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from headway import presets
from headway.lookup import needed
from headway.records import Cell, Trajectory
from headway.store import Store, provenance
from headway.watch.survey import Survey

READING = ("list", "list --all", "claims", "report --no-page --grid quick")
PLANNING = "run stages --vary task.ratio 1.2:2.0:{count} --seeds 1 --dry-run"


def cells(count: int) -> list[Cell]:
    """So many cells that differ in the strength of the hierarchy; the first is that of `headway run stages`."""
    settings = presets.minimal_quick()
    return [Cell(settings.changed(task={"ratio": settings.task.ratio + k / 1e6}), (0,)) for k in range(count)]


def trajectory() -> Trajectory:
    """Curves of one seed at 40 times, as small as a run's that keeps no attention."""
    ticks = np.unique(np.geomspace(1, 1000, 40).astype(int))
    fall = np.exp(-ticks / 300, dtype=np.float32)[None]
    task = presets.minimal_quick().task
    attention = np.full((1, len(ticks), 1, presets.minimal_quick().model.heads, task.length), 1 / task.length, "f4")
    arrays = {"excess_loss": fall, "kl_rungs": np.stack([fall] * 4, -1), "attention_by_lag": attention}
    return Trajectory((0,), {"evaluation": ticks}, arrays, dict.fromkeys(arrays, "evaluation"))


def seconds(act: Callable[[], Any], times: int = 3) -> str:
    """The shortest wall time, and the processor's: on a busy machine the second says more."""
    took = []
    for _ in range(times):
        wall, processor = time.perf_counter(), _processor()
        act()
        took.append((time.perf_counter() - wall, _processor() - processor))
    return "{:8.2f} s ({:.2f} s of a core)".format(*min(took))


def _processor() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def fill(store: Store, wanted: list[Cell]) -> float:
    """Microseconds to write one record, forced to the disk; NaN where all were there."""
    missing = [cell for cell in wanted if not (store.root / cell.identity).is_dir()]
    made, told = trajectory(), provenance("none: made up", 0.0)
    start = time.perf_counter()
    for cell in missing:
        with store.open(cell) as work:
            work.place(made, told)
    return (time.perf_counter() - start) / len(missing) * 1e6 if missing else float("nan")


def size(folder: Path) -> tuple[int, int, int]:
    """Files, their bytes, and the bytes that they take on the disk."""
    found = [os.lstat(Path(where) / name) for where, _, names in os.walk(folder) for name in names]
    return len(found), sum(each.st_size for each in found), sum(512 * each.st_blocks for each in found)


def command(words: str) -> str:
    """From the command to its end, in a process of its own."""
    process = [sys.executable, "-m", "headway", *words.split()]
    nowhere = subprocess.DEVNULL
    # Checked: the time of a crash is no time.
    return seconds(lambda: subprocess.run(process, check=True, stdout=nowhere, stderr=nowhere), 1)


def measure(count: int, folder: Path) -> None:
    wanted, store = cells(count), Store(folder)
    empty = Store(folder / "nothing-here")
    print(f"{count} cells")
    print(f"  make the settings    {seconds(lambda: cells(count), 1)}")
    print(f"  plan, nothing done   {seconds(lambda: needed(wanted, [empty]), 1)}")
    print(f"  write a record       {fill(store, wanted):8.0f} microseconds a cell")
    files, held, taken = size(folder)
    print(f"  a record             {files / count:8.1f} files, {held / count:.0f} bytes, {taken / count:.0f} on disk")
    print(f"  plan, all done       {seconds(lambda: needed(wanted, [store]), 1)}")
    print(f"  Store.status         {seconds(store.status)}")
    look = Survey(folder).look
    print(f"  watch, first look    {seconds(look, 1)}")
    print(f"  watch, next look     {seconds(look, 1)}")
    for words in READING:
        print(f"  headway {words[:12]:<13}{command(f'{words} --from {folder}')}")
    print(f"  headway run --vary   {command(f'{PLANNING.format(count=count)} --into {empty.root}')}")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    if len(sys.argv) > 2:
        measure(count, Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as made:
            measure(count, Path(made))
