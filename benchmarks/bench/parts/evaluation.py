"""share = evaluations of a run * seconds of an evaluation / (its steps * seconds of a step)."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.bench.alternate import PAUSE, seconds_per_step, warm_up
from benchmarks.bench.cases import Case
from benchmarks.bench.headway_side import begin
from benchmarks.bench.parts import Bench
from benchmarks.bench.record import BenchRecord
from headway.training.schedule import evaluation_steps


def measure(bench: Bench) -> list[BenchRecord]:
    """The models: steps and an evaluation in turn."""
    return [_measure(bench, case) for case in bench.cases("evaluation")]


def _measure(bench: Bench, case: Case) -> BenchRecord:
    begun = begin(case.settings, case.seeds)
    contestant = begun.contestant(case.pace.headway_steps)
    bench.say(f"{case.name}: compiling training and evaluation")
    warm_up(contestant)
    for _ in range(2):
        begun.evaluate()
    steps = case.settings.training.steps
    measured: dict[str, Any] = {
        "steps": steps,
        "evaluations": len(evaluation_steps(case.settings.evaluation, steps)),
        "step_seconds": [],
        "evaluation_seconds": [],
    }
    record = None
    for _ in range(case.pace.rounds):
        measured["step_seconds"].append(seconds_per_step(contestant))
        time.sleep(PAUSE)
        began = time.perf_counter()
        begun.evaluate()
        measured["evaluation_seconds"].append((time.perf_counter() - began) / case.seeds)
        record = bench.keep("evaluation", case, measured)
    bench.say(f"{case.name}: measured evaluations")
    assert record is not None
    return record
