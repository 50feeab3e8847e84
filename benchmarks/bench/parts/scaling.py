"""cost ~ value^exponent: seconds per seed and step of Headway, one number of the settings changed at a time."""

from __future__ import annotations

from typing import Any

from benchmarks.bench.alternate import seconds_per_step, warm_up
from benchmarks.bench.cases import Case, along, axes
from benchmarks.bench.headway_side import begin
from benchmarks.bench.parts import Bench
from benchmarks.bench.record import BenchRecord


def measure(bench: Bench) -> list[BenchRecord]:
    """The models, axis by axis."""
    return [_measure(bench, case) for case in bench.cases("scaling")]


def _measure(bench: Bench, base: Case) -> BenchRecord:
    measured: dict[str, Any] = {"axes": {}}
    record = None
    for axis, values in axes(base.name, bench.scale, bench.gpu).items():
        bench.say(f"{base.name}: compiling for {axis} {', '.join(map(str, values))}")
        contestants = {}
        for value in values:
            changed = along(base, axis, value)
            contestants[value] = begin(changed.settings, changed.seeds).contestant(base.pace.headway_steps)
            warm_up(contestants[value])
        times: dict[str, list[float]] = {str(value): [] for value in values}
        for _ in range(base.pace.rounds):
            # All values in turn, for the same reason as in `alternate`.
            taken = {str(value): seconds_per_step(contestant) for value, contestant in contestants.items()}
            times = {value: [*times[value], seconds] for value, seconds in taken.items()}
            measured["axes"][axis] = times
            record = bench.keep("scaling", base, measured)
        bench.say(f"{base.name}: measured {axis}")
    assert record is not None
    return record
