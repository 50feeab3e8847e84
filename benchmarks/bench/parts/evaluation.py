"""share = evaluations of a run * seconds of an evaluation / (its steps * seconds of a step)."""

from __future__ import annotations

from typing import Any

from benchmarks.bench.alternate import seconds, seconds_per_step, warm_up
from benchmarks.bench.headway_side import begin
from benchmarks.bench.parts import Bench


def measure(bench: Bench) -> None:
    """The models: steps and an evaluation in turn."""
    for case in bench.cases("evaluation"):
        begun = begin(case.settings, case.seeds)
        contestant = begun.contestant(case.pace.headway_steps)
        bench.say(f"{case.name}: compiling training and evaluation")
        warm_up(contestant)
        for _ in range(2):
            begun.evaluate()
        steps = case.settings.training.steps
        measured: dict[str, Any] = {
            "steps": steps,
            "evaluations": len(case.settings.evaluation.steps(steps)),
            "step_seconds": [],
            "evaluation_seconds": [],
        }
        for _ in range(case.pace.rounds):
            measured["step_seconds"].append(seconds_per_step(contestant))
            measured["evaluation_seconds"].append(seconds(begun.evaluate) / case.seeds)
            bench.keep("evaluation", case, measured)
        bench.say(f"{case.name}: measured evaluations")
