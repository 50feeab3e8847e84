"""ratio = seconds of a rival / seconds of Headway, per seed and step, round by round."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.bench import rivals
from benchmarks.bench.agreement import check
from benchmarks.bench.alternate import Contestant, alternate, warm_up
from benchmarks.bench.cases import Case
from benchmarks.bench.headway_side import begin
from benchmarks.bench.machine import Others
from benchmarks.bench.parts import Bench


def measure(bench: Bench) -> None:
    """All cases: first that everybody computes the same, then who takes how long."""
    cases = {each: each.name.partition("-")[0] for each in bench.cases("rivals")}
    checked: dict[str, Any] = {}
    for case, model in cases.items():
        if model not in checked:  # Dropout is not compared: everybody draws other masks.
            bench.say(f"{model}: comparing losses and gradients")
            checked[model] = check(case.settings, bench.rivals_of("rivals"), bench.gpu)
    for case, model in cases.items():
        _measure(bench, case, checked[model])


def warm_up_all(bench: Bench, case: Case, contestants: Iterable[Contestant]) -> dict[str, float]:
    """Name -> seconds that it took to compile."""
    found: dict[str, float] = {}
    for contestant in contestants:
        bench.say(f"{case.name}: compiling and warming up {rivals.TITLES.get(contestant.name, 'Headway')}")
        found[contestant.name] = warm_up(contestant)
    return found


def _measure(bench: Bench, case: Case, agreed: dict[str, Any]) -> None:
    begun = begin(case.settings, case.seeds)
    headway = begun.contestant(case.pace.headway_steps)
    opponents = [
        rivals.make(name, case.settings, begun.weights, begun.sequences, case.pace.rival_steps, bench.gpu).contestant
        for name in bench.rivals_of("rivals")
    ]
    warmed = warm_up_all(bench, case, (headway, *opponents))
    measured: dict[str, Any] = {"differences": agreed, "compile_seconds": warmed, "rounds": [], "others": []}
    others = Others()
    for number, pairs in enumerate(alternate(headway, opponents, case.pace.rounds), start=1):
        measured["rounds"].append([pair._asdict() for pair in pairs])
        measured["others"].append(others.share())
        bench.keep("rivals", case, measured)
        ratios = ", ".join(f"{rivals.TITLES[pair.rival]} {pair.seconds / pair.headway:.1f}x" for pair in pairs)
        bench.say(f"{case.name}: round {number} of {case.pace.rounds}, {ratios}")
