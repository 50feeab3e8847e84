"""One case of the part `forms` in a process of its own: prepared beside others, timed alone.

    python -m benchmarks.bench.one_form '{"case": "without-norm", "lock": "...", ...}'

The part starts it. Before anything large is imported it waits until nobody is timed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.bench import turns


def measure(task: dict[str, Any]) -> None:
    """Prepare, wait for the others, take the time."""
    lock, name = Path(task.pop("lock")), task.pop("case")
    with turns.beside(lock):
        from benchmarks.bench.cases import case
        from benchmarks.bench.parts import Bench
        from benchmarks.bench.parts.forms import prepare

        folder, rivals = Path(task.pop("folder")), tuple(task.pop("rivals"))
        bench = Bench(folder=folder, rivals=rivals, say=lambda words: print(words, file=sys.stderr, flush=True), **task)
        take_time = prepare(bench, case(name, bench.scale, bench.gpu, bench.rounds))
    with turns.alone(lock):
        take_time()


if __name__ == "__main__":
    try:
        measure(json.loads(sys.argv[1]))
    except KeyboardInterrupt:
        raise SystemExit(130) from None
