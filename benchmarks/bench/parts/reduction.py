"""ratio = seconds of the flow of d x d matrices / seconds of the same flow by way of coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from benchmarks.bench.alternate import seconds
from benchmarks.bench.cases import QUICK
from benchmarks.bench.machine import Others
from benchmarks.bench.parts import Bench
from benchmarks.bench.record import BenchError
from headway.settings import FlowSettings
from headway.theory import Problem, State, full, full_problem, geometric, merge_values, solve
from headway.theory.start import near_uniform, stack

DIMENSIONS = {"paper": (10, 20, 50, 100, 200, 500), "quick": (2, 4)}
FLOW = FlowSettings(length=10, first=1.0, last=20.0, points=2)
"""Three heads, three features, ten positions, from V = 0 to some time after the first stage."""
TOLERANCE = 1e-11
CLOSE = 1e-8
"""How far the two may be apart at the end, in any entry of any matrix or attention."""
ROUNDS = 5


def measure(bench: Bench) -> None:
    """Every dimension, the two flows in turn; they must end at the same place, or nothing is kept."""
    settings = replace(FLOW, last=2.0) if bench.scale == QUICK else FLOW
    measured: dict[str, Any] = {"rounds": {}, "differences": {}, "others": []}
    others = Others()
    for dimension in DIMENSIONS[bench.scale]:
        bench.say(f"flow: compiling for d = {dimension}")
        whole, reduced = contestants(settings, dimension)
        measured["differences"][str(dimension)] = difference(whole(), reduced(), dimension)
        rounds: list[dict[str, float]] = []
        for _ in range(bench.rounds or ROUNDS):
            rounds.append({"full": seconds(whole), "reduced": seconds(reduced)})
            measured["rounds"][str(dimension)] = rounds
            measured["others"].append(others.share())
            bench.write("reduction", "flow", asdict(settings), measured)
        bench.say(f"flow: measured d = {dimension}")


def contestants(settings: FlowSettings, dimension: int) -> tuple[Callable[[], State], Callable[[], State]]:
    """The last state of all heads: by the flow of matrices, and by way of coordinates and back."""
    strengths = geometric(settings.features, settings.ratio, settings.base)
    problem = full_problem(strengths, length=settings.length, dimension=dimension, projections=settings.projections)
    start = near_uniform(problem, 0, noise=settings.noise**0.5)

    def end(problem: Problem, start: State) -> State:
        path = solve(full, problem, stack([start]), np.array([0.0, settings.last]), tolerance=TOLERANCE)
        return State(path.values[0, -1], path.attention[0, -1])

    def reduced() -> State:
        smaller, where, basis = merge_values(problem, start)
        last = end(smaller, where)
        return State(np.asarray(last.values) @ basis, last.attention)

    return lambda: end(problem, start), reduced


def difference(one: State, other: State, dimension: int) -> float:
    """The largest difference of any entry; an error if it is not as good as none."""
    found = max(float(np.abs(a - b).max()) for a, b in zip(one, other, strict=True))
    if not found < CLOSE:
        raise BenchError(
            f"for d = {dimension} the flow of matrices and the reduced one end {found:.1e} apart, but they are one "
            f"flow and may differ by {CLOSE:g}. Nothing is measured: the reduction, or the solver, is wrong here."
        )
    return found
