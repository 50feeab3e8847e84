"""cost ~ value^exponent: seconds per seed and step of Headway, one number of the settings changed at a time."""

from __future__ import annotations

from benchmarks.bench.alternate import seconds_per_step, warm_up
from benchmarks.bench.cases import Case, along, axes
from benchmarks.bench.headway_side import begin
from benchmarks.bench.parts import Bench


def measure(bench: Bench) -> None:
    """The models, axis by axis."""
    for case in bench.cases("scaling"):
        _measure(bench, case)


def _measure(bench: Bench, base: Case) -> None:
    found: dict[str, dict[str, list[float]]] = {}
    for axis, values in axes(base.name, bench.scale, bench.gpu).items():
        bench.say(f"{base.name}: compiling for {axis} {', '.join(map(str, values))}")
        contestants = {}
        for value in values:
            changed = along(base, axis, value)
            contestants[str(value)] = begin(changed.settings, changed.seeds).contestant(base.pace.headway_steps)
            warm_up(contestants[str(value)])
        times: dict[str, list[float]] = {value: [] for value in contestants}
        for _ in range(base.pace.rounds):
            # All values in turn, for the same reason as in `alternate`.
            taken = {value: seconds_per_step(contestant) for value, contestant in contestants.items()}
            times = {value: [*times[value], seconds] for value, seconds in taken.items()}
            found[axis] = times
            bench.keep("scaling", base, {"axes": found})
        bench.say(f"{base.name}: measured {axis}")
