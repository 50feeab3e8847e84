"""ratio = seconds of a rival / seconds of Headway, per seed and step, round by round."""

from __future__ import annotations

from typing import Any

from benchmarks.bench import rivals
from benchmarks.bench.agreement import check
from benchmarks.bench.alternate import Pair, alternate, warm_up
from benchmarks.bench.cases import Case
from benchmarks.bench.contestant import Contestant
from benchmarks.bench.headway_side import begin
from benchmarks.bench.machine import Others
from benchmarks.bench.parts import Bench
from benchmarks.bench.record import BenchRecord


def measure(bench: Bench) -> list[BenchRecord]:
    """All cases: first that everybody computes the same, then who takes how long."""
    cases = bench.cases("rivals")
    checked: dict[str, Any] = {}
    for each in cases:
        model = each.name.partition("-")[0]
        if model not in checked:  # Dropout is not compared: everybody draws other masks.
            bench.say(f"{model}: comparing losses and gradients")
            checked[model] = check(each.settings, bench.rivals, bench.gpu)
    return [_measure(bench, each, checked[each.name.partition("-")[0]]) for each in cases]


def _measure(bench: Bench, case: Case, agreed: dict[str, Any]) -> BenchRecord:
    begun = begin(case.settings, case.seeds)
    headway = begun.contestant(case.pace.headway_steps)
    opponents = [
        rivals.make(name, case.settings, begun.weights, begun.sequences, case.pace.rival_steps, bench.gpu).contestant
        for name in bench.rivals
    ]
    measured: dict[str, Any] = {"differences": agreed, "compile_seconds": {}, "rounds": [], "others": []}
    for contestant in (headway, *opponents):
        bench.say(f"{case.name}: compiling and warming up {_title(contestant)}")
        measured["compile_seconds"][contestant.name] = warm_up(contestant)
    record = None
    others = Others()
    for number, pairs in enumerate(alternate(headway, opponents, case.pace.rounds), start=1):
        measured["rounds"].append([pair._asdict() for pair in pairs])
        measured["others"].append(others.share())
        record = bench.keep("rivals", case, measured)
        bench.say(f"{case.name}: round {number} of {case.pace.rounds}, {', '.join(map(_words, pairs))}")
    assert record is not None
    return record


def _title(contestant: Contestant) -> str:
    return rivals.TITLES.get(contestant.name, "Headway")


def _words(pair: Pair) -> str:
    return f"{rivals.TITLES[pair.rival]} {pair.seconds / pair.headway:.1f}x"
