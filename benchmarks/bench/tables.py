"""Records as rows of words, the same for the screen and for the document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.bench.alternate import Spread, spread
from benchmarks.bench.cases import AXES
from benchmarks.bench.forms import FORMS
from benchmarks.bench.power_law import axis_exponent, medians
from benchmarks.bench.record import BenchRecord
from benchmarks.bench.rivals import TITLES
from benchmarks.bench.small import SMALL, SMALL_AXES

NAMES = {"headway": "Headway", **TITLES}
CASES = {"minimal": "minimal", "full": "full", "full-dropout": "full, dropout", **SMALL}
CASES |= {name: form.title for name, form in FORMS.items()}
ALONG = {**AXES, **SMALL_AXES}
COMPARED = ("rivals", "transformers", "forms")
"""Parts in which somebody takes turns with Headway."""


@dataclass(frozen=True)
class Table:
    """Headings and rows of words, and the commands that measured them."""

    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]
    commands: tuple[str, ...]
    rounds: tuple[int, ...]
    """How often each record was measured in turn; different numbers if one was interrupted."""
    others: float | None
    """The largest share of the processor that other processes had in a round, where that is known."""


def table(part: str, records: Sequence[BenchRecord]) -> Table:
    """The table of a part from its records, which are of one scale and platform."""
    headings, rows_of = _PARTS[part]
    rows = [row for record in records for row in rows_of(record)]
    commands = dict.fromkeys(record.command for record in records)
    shares = [share for record in records for share in record.measured.get("others", ()) if share is not None]
    rounds = sorted({_rounds(record) for record in records} - {0})
    return Table(headings, rows, tuple(commands), tuple(rounds), max(shares, default=None))


def _rounds(record: BenchRecord) -> int:
    """How many rounds a record holds; each process of its own is one, and 0 if only spreads were kept."""
    match record.part:
        case "rivals":
            return len(record.measured["rounds"])
        case "transformers" | "forms":
            return len(record.measured.get("rounds", ()))
        case "scaling":
            return min(len(taken) for times in record.measured["axes"].values() for taken in times.values())
        case "evaluation":
            return len(record.measured["step_seconds"])
        case "reduction":
            return min(map(len, record.measured["rounds"].values()))
    return len(record.measured["new_step_seconds"]) if record.case == "main-job" else 1


def duration(seconds: float) -> str:
    """Three digits in the unit that suits them."""
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def ratios(record: BenchRecord) -> dict[str, Spread]:
    """Rival -> its seconds divided by those of Headway right after it, over the rounds."""
    kept = record.measured.get("spreads")
    if kept is not None:  # where single times were not kept
        return {name: Spread(**each["ratio"]) for name, each in kept["rivals"].items()}
    return {
        name: spread([pair["seconds"] / pair["headway"] for pair in pairs]) for name, pairs in _pairs(record).items()
    }


def _pairs(record: BenchRecord) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for pairs in record.measured["rounds"]:
        for pair in pairs:
            found.setdefault(pair["rival"], []).append(pair)
    return found


def _rivals(record: BenchRecord) -> list[tuple[str, ...]]:
    rows = []
    for name, over in ratios(record).items():
        pairs = _pairs(record)[name]
        rows.append(
            (
                CASES[record.case],
                NAMES[name],
                duration(spread([pair["seconds"] for pair in pairs]).median),
                duration(spread([pair["headway"] for pair in pairs]).median),
                f"{over.median:.1f}x",
                f"{over.lower_quartile:.1f}-{over.upper_quartile:.1f}",
                f"{over.low:.1f}-{over.high:.1f}",
            )
        )
    return rows


def _transformers(record: BenchRecord) -> list[tuple[str, ...]]:
    """As above; what Headway takes beside the floor, where it was measured; itself alone where nobody took part."""
    rows, own = [], _headway(record)
    operations, per_second = (record.measured.get(name) for name in ("operations", "operations_per_second"))
    floor = operations / per_second if operations and per_second else None
    beside = ("not measured", "") if floor is None else (duration(floor), f"{own / floor:.1f}x")
    kept = record.measured.get("spreads")
    for name, over in ratios(record).items():
        if kept is None:
            theirs = spread([pair["seconds"] for pair in _pairs(record)[name]]).median
        else:
            theirs = kept["rivals"][name]["seconds"]["median"]
        quartiles = f"{over.lower_quartile:.2g}-{over.upper_quartile:.2g}"
        range_ = f"{over.low:.2g}-{over.high:.2g}"
        ratio = f"{over.median:.3g}x"
        words = (CASES[record.case], NAMES[name], duration(theirs), duration(own), ratio, quartiles, range_, *beside)
        rows.append(words)
    return rows or [(CASES[record.case], "(nobody)", "", duration(own), "", "", "", *beside)]


def _headway(record: BenchRecord) -> float:
    """Its median seconds per seed and step."""
    kept = record.measured.get("spreads")
    return spread(record.measured["headway"]).median if kept is None else kept["headway_seconds"]["median"]


def _scaling(record: BenchRecord) -> list[tuple[str, ...]]:
    rows = []
    for axis, times in record.measured["axes"].items():
        costs = ", ".join(f"{value}: {duration(cost)}" for value, cost in medians(times).items())
        rows.append((CASES[record.case], ALONG[axis], costs, str(axis_exponent(times))))
    return rows


def _start(record: BenchRecord) -> list[tuple[str, ...]]:
    if record.case == "main-job":
        return [
            (
                f"the whole command, {words}",
                "`headway`",
                *(duration(spread(record.measured[f"{which}_{what}_seconds"]).median) for what in ("line", "step")),
                "",
                "",
            )
            for which, words in (("new", "nothing kept"), ("again", "again"))
        ]
    rows = []
    for name, alone in record.measured["alone"].items():
        peak = f"{alone['peak_bytes'] / 2**20:.0f} MiB"
        if alone["device_bytes"] is not None:
            peak += f" + {alone['device_bytes'] / 2**20:.0f} MiB on the GPU"
        rows.append(
            (
                CASES[record.case],
                NAMES[name],
                duration(alone["imported_seconds"]),
                duration(alone["first_seconds"] - (alone["steps"] - 1) * alone["seeds"] * alone["step_seconds"]),
                peak,
                f"{alone['imported_bytes'] / 2**20:.0f} MiB",
            )
        )
    return rows


def _evaluation(record: BenchRecord) -> list[tuple[str, ...]]:
    measured = record.measured
    pairs = list(zip(measured["evaluation_seconds"], measured["step_seconds"], strict=True))
    in_steps = spread([evaluation / step for evaluation, step in pairs])
    share = in_steps.median * measured["evaluations"] / measured["steps"]
    return [
        (
            CASES[record.case],
            duration(spread(measured["step_seconds"]).median),
            duration(spread(measured["evaluation_seconds"]).median),
            f"{in_steps.median:.2f} ({in_steps.low:.2f} to {in_steps.high:.2f})",
            f"{measured['evaluations']} in {measured['steps']} steps",
            f"{1 + share:.2f}x",
        )
    ]


def _reduction(record: BenchRecord) -> list[tuple[str, ...]]:
    rows = []
    for dimension, pairs in record.measured["rounds"].items():
        over = spread([pair["full"] / pair["reduced"] for pair in pairs])
        rows.append(
            (
                dimension,
                duration(spread([pair["full"] for pair in pairs]).median),
                duration(spread([pair["reduced"] for pair in pairs]).median),
                f"{over.median:.3g}x",
                f"{over.low:.3g}-{over.high:.3g}",
                f"{record.measured['differences'][dimension]:.0e}",
            )
        )
    return rows


_FLOORED = ("model", "rival", "its step", "Headway's", "ratio", "quartiles", "range", "floor", "Headway / floor")
_PARTS = {
    "rivals": (("model", "rival", "its step", "Headway's", "ratio", "quartiles", "range"), _rivals),
    "transformers": (_FLOORED, _transformers),
    "forms": (_FLOORED, _transformers),
    "scaling": (("model", "along", "a step at each value", "exponent"), _scaling),
    "start": (("model", "by", "imports done", "first step done", "peak memory", "after imports"), _start),
    "evaluation": (("model", "a step", "an evaluation", "in steps", "how many", "run / its steps"), _evaluation),
    "reduction": (("d", "matrices", "coordinates", "ratio", "range", "largest difference"), _reduction),
}
