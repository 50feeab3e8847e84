"""Paper A's other models: seconds per seed and step beside PyTorch's, each case in a process of its own.

So many processes as were asked for prepare side by side, since compiling takes most of the time; each is timed alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench.agreement import check_step
from benchmarks.bench.alternate import seconds
from benchmarks.bench.cases import QUICK, Case
from benchmarks.bench.contestant import HEADWAY, Contestant
from benchmarks.bench.forms import asking, batches_of, period
from benchmarks.bench.headway_side import Begun, begin
from benchmarks.bench.parts import Bench
from benchmarks.bench.parts.start import checkout_environment
from benchmarks.bench.parts.transformers import in_turn
from benchmarks.bench.record import BenchError
from benchmarks.floor import of_step, rates
from headway.tasks.run import Settings
from headway.training.problem import precision

ROUNDS = 20
"""Products of which the fastest gives the rate of the floor."""


def measure(bench: Bench) -> None:
    """All cases, as many at a time as there shall be processes; one that fails does not keep others from being made."""
    cases, failed = bench.cases("forms"), []
    with tempfile.TemporaryDirectory(dir=bench.folder, prefix=".timing-") as own:
        for first in range(0, len(cases), bench.processes):
            failed += _side_by_side(bench, cases[first : first + bench.processes], Path(own) / "lock")
    if failed:
        raise BenchError(
            f"{', '.join(failed)} could not be measured; the reason is above. Other records are in {bench.folder}."
        )


def _side_by_side(bench: Bench, cases: Sequence[Case], lock: Path) -> list[str]:
    """The names of those that failed."""
    failed, started = [], []
    try:
        for case in cases:
            started.append(_started(bench, case, lock))
        for case, process in zip(cases, started, strict=True):
            if process.wait():
                failed.append(case.name)
            else:
                bench.found("forms", case.name)
    finally:
        for process in started:  # after an interrupt
            process.terminate()
    return failed


def _started(bench: Bench, case: Case, lock: Path) -> subprocess.Popen[bytes]:
    task = {
        "case": case.name,
        "lock": str(lock),
        "folder": str(bench.folder),
        "scale": bench.scale,
        "gpu": bench.gpu,
        "rivals": bench.rivals,
        "rounds": bench.rounds,
        "options": bench.options,
        "machine": bench.machine,
    }
    command = [sys.executable, "-m", "benchmarks.bench.one_form", json.dumps(task)]
    return subprocess.Popen(command, env=checkout_environment())


def prepare(bench: Bench, case: Case) -> Callable[[], None]:
    """Everybody compiled, Headway in a thread beside the rivals; what is returned checks them and takes the time.

    Headway's steps are compiled here and not made: processes that prepare side by side could not share a GPU's memory.
    """
    names, drawn = bench.rivals_of("forms"), np.zeros(0)
    begun = begin(case.settings, case.seeds)
    checked = [_without_noise(case.settings, begun)] if names else []
    opponents, first_seconds = [], {}
    with ThreadPoolExecutor(1) as pool:
        bench.say(f"{case.name}: compiling")
        compiling = pool.submit(lambda: [seconds(each.compile) for each in _different(begun, *checked)])
        if names:
            drawn = begun.sequences
            opponents = _rivals(bench, case, begun, drawn)
            first_seconds = {each.name: seconds(each.advance) for each in opponents}
            _give_memory_back(bench.gpu)
        first_seconds[HEADWAY] = compiling.result()[0]
    bench.say(f"{case.name}: compiled")

    def take_time() -> None:
        with precision(case.settings):
            measured = _measured(case.settings, quick=bench.scale == QUICK)
        measured |= {"first_seconds": first_seconds}
        for each in checked:
            measured["differences"] = check_step(each.settings, each.second_step(), drawn, bench.gpu)
        headway = begun.contestant(case.pace.headway_steps)
        for contestant in (headway, *(opponents if bench.gpu else ())):
            contestant.advance()  # On a GPU the memory is taken anew.
        in_turn(bench, "forms", case, headway, opponents, measured)

    return take_time


def _measured(settings: Settings, quick: bool) -> dict[str, Any]:
    """The numbers of the floor, where tokens are no one-hot vectors: products with those are look-ups."""
    counted = settings.model.embedding == "learned"
    return {
        "operations": of_step(settings) if counted else None,
        "operations_per_second": max(rates(1 if quick else ROUNDS).values()) if counted else None,
        "differences": {},
        "rounds": [],
        "headway": [],
        "others": [],
    }


def _without_noise(settings: Settings, begun: Begun) -> Begun:
    """The program whose second step is compared: the one that is timed, unless dropout acts at each of its steps."""
    if settings.model.dropout and period(settings) == 1:
        return begin(settings.changed(model={"dropout": 0.0}), 1)
    return begun


def _different(first: Begun, *others: Begun) -> Sequence[Begun]:
    return (first, *(each for each in others if each is not first))


def _rivals(bench: Bench, case: Case, begun: Begun, sequences: np.ndarray) -> list[Contestant]:
    from benchmarks.bench.rivals.transformer_training import transformer_rival

    drawn, asks = batches_of(case.settings, sequences), asking(case.settings)
    return [
        transformer_rival(name, case.settings, begun.weights, drawn, case.pace.rival_steps, bench.gpu, asks)
        for name in bench.rivals_of("forms")
    ]


def _give_memory_back(gpu: bool) -> None:
    from benchmarks.bench.rivals.transformer_training import give_memory_back

    give_memory_back(gpu)
