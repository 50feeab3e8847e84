"""alone = fixed + steps * launch + work, work = steps * members * bytes of activations * rate; work holds the device.

    beside k - 1 others like it = (alone^4 + (k work)^4)^(1/4)

As long as those who share a device leave room there, each takes as long as alone; from then on its work counts. Three
numbers of each form of a program are fitted to the records in `results/` (`benchmarks/cost_model.py`, which also tries
them on records that were left out: docs/cluster.md). Records of programs near it correct what the formula says.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

import numpy as np

from headway.kernels.asked import has_minimal_switches
from headway.store import Record, Store, StoreError
from headway.sweep.bundle import Bundle, program_of
from headway.tasks.run import Settings
from headway.training.memory import step_of

Platform = Literal["cpu", "gpu"]


@dataclass(frozen=True)
class Rates:
    """Of one form of a program on one kind of device."""

    fixed: float
    """Seconds for compiling, drawing and storing."""
    launch: float
    """Seconds of 1000 steps, whatever they hold."""
    work: float
    """Seconds of 10^12 bytes of activations, which nobody else can have."""


class Cost(NamedTuple):
    """Seconds of a program."""

    alone: float
    work: float
    """Of them, those in which it holds the device."""

    def beside(self, others: float) -> float:
        """If so many like it share the device, itself included."""
        return (self.alone**4 + (others * self.work) ** 4) ** 0.25

    def times(self, factor: float) -> Cost:
        return Cost(self.alone * factor, self.work * factor)


RATES: Mapping[Platform, Mapping[str, Rates]] = {
    "gpu": {
        # Their code is newer than the records: measured alone on an H200, docs/log.md, 2026-11-18 to 2026-11-20.
        "minimal": Rates(20.0, 0.3, 0.45),
        "full": Rates(25.0, 1.0, 0.43),
        "full windows": Rates(25.0, 1.0, 0.27),
        "dense": Rates(30.0, 2.0, 0.8),
        "dense, float32": Rates(30.0, 2.0, 4.0),
        # Fitted to records.
        "transformer": Rates(36.5, 16.9, 1.58),
        "own": Rates(15.5, 18.8, 1.82),
    },
    # Two cores, a seed on each: measured, on machines that differ by a factor of 2.5 (docs/log.md, 2026-11-19).
    "cpu": {
        "minimal": Rates(6.0, 1.0, 22.0),
        "full": Rates(10.0, 1.0, 220.0),
        "full windows": Rates(10.0, 1.0, 200.0),
        "dense": Rates(12.0, 1.0, 250.0),
        "dense, float32": Rates(12.0, 1.0, 250.0),
        "transformer": Rates(8.0, 1.0, 400.0),
        "own": Rates(5.0, 0.2, 60.0),
    },
}
AT_ONCE = {
    "k-gram-points": 19.0,
    "construction": 1.6,
    "flow": 1.2,
    "stage-times": 0.67,
    "portrait": 0.2,
    "toy-flow": 0.1,
}
"""Seconds of a seed of what is computed in one go, on one core or two."""
LEARNT = {"toy": 0.001, "recall": 0.1, "single-location": 0.05}
"""Of the most steps, those that a run until it has learnt was measured to take."""
USUAL_LEARNT = 0.3
MOST = 300
"""Programs that were computed before and are looked at, the newest."""
SECOND = 1.05
"""Records say to the second when they were made, and to the millisecond how long it took."""
SAME, FIRM = 20.0, 0.05
"""What a record of the same program weighs, one that is near at most 1; what all must weigh to be believed."""


@dataclass(frozen=True)
class Work:
    """What the cost of a program depends on."""

    form: str
    """Of `RATES`; what is computed in one go has its kind."""
    kind: str
    members: int
    steps: float = 0.0
    bytes: float = 0.0
    """Of activations, of a member's step."""

    def cost(self, known: Mapping[str, Rates]) -> Cost:
        """By the formula; what is computed in one go uses a core, and leaves others theirs."""
        if self.form not in known:
            return Cost(AT_ONCE.get(self.form, 1.0) * self.members, 0.0)
        rates = known[self.form]
        work = rates.work * self.steps * self.members * self.bytes * 1e-12
        return Cost(rates.fixed + self.steps * rates.launch * 1e-3 + work, work)

    def near(self, other: Work) -> float:
        """1 for the same, less for what differs."""
        if self.form != other.form:
            return 0.0
        apart = 2.0 * _apart(self.bytes, other.bytes) + _apart(self.steps, other.steps)
        return math.exp(-apart - _apart(self.members, other.members) - (self.kind != other.kind))


def _apart(one: float, other: float) -> float:
    return abs(math.log((one + 1.0) / (other + 1.0)))


def work_of(bundle: Bundle, steps: float | None = None) -> Work:
    """Of a bundle as it is; `steps` where it is known how many it took."""
    settings, kind = bundle.cells[0].settings, bundle.cells[0].kind
    if not bundle.trained:
        return Work(kind, kind, bundle.members)
    own, training = step_of(settings, bundle.capacity), settings.training
    form = _form(settings) if own.kind == "kernels" else own.kind
    if steps is None:
        # With a tail below 0 a run goes on to its last step, whatever it has learnt.
        stops = training.threshold is not None and training.tail >= 0
        steps = training.steps * (LEARNT.get(kind, USUAL_LEARNT) if stops else 1.0)
    return Work(form, kind, bundle.members, steps, own.example * own.batch)


def _form(settings: Settings) -> str:
    """What computes rows of tokens on a GPU, by the settings alone: here there may be none."""
    model, task = settings.model, settings.task
    windows = getattr(task, "context", None) is not None
    if has_minimal_switches(model):
        return "minimal"
    if settings.training.precision != "tf32":
        return "dense, float32"
    whole = model.norm == "post" and model.residual and model.keys and model.output and model.readout and model.mlp
    if whole and model.layers == 1 and model.embedding == "learned" and model.width > 128:
        return "full windows" if windows else "full"
    return "dense"


class Costs:
    """What programs cost, by the formula and by what records say about programs near them."""

    def __init__(self, records: Iterable[Record] = (), rates: Mapping[Platform, Mapping[str, Rates]] = RATES) -> None:
        self._rates = rates
        self._known: dict[Platform, list[tuple[Work, Any, float]]] = {"cpu": [], "gpu": []}
        for runs, seconds, beside in together(records)[-MOST:]:
            platform: Platform = "gpu" if str(runs[0].provenance["device"]).startswith("gpu") else "cpu"
            # A record whose task is not known here, or cannot be traced, says nothing about others.
            with suppress(Exception):
                work, program = work_of_records(runs), program_of(runs[0].cell)
                off = math.log(seconds / work.cost(rates[platform]).beside(beside))
                self._known[platform].append((work, program, off))

    def of(self, bundle: Bundle, platform: Platform, work: Work | None = None) -> Cost:
        """What a bundle costs; `work` where more is known than the bundle says."""
        try:
            work = work_of(bundle) if work is None else work
        except Exception:  # a task that cannot be traced fails where its own cells say so
            return Cost(1.0, 0.0)
        program = program_of(bundle.cells[0])
        found = [(SAME if program == each else work.near(other), off) for other, each, off in self._known[platform]]
        weights, offs = np.array(found).T if found else np.zeros((2, 1))
        factor = math.exp(float(weights @ offs) / (float(weights.sum()) + FIRM))
        return work.cost(self._rates[platform]).times(factor)


def work_of_records(runs: Sequence[Record]) -> Work:
    """Of cells that were trained together, by the steps that they took."""
    cells = tuple(run.cell for run in runs)
    trained = hasattr(cells[0].settings, "training")
    capacity = max(cell.settings.training.samples for cell in cells) if trained else 0
    steps = None
    if trained and cells[0].settings.training.threshold is not None:
        stopped = [run.trajectory.facts["stopped_at"] for run in runs if "stopped_at" in run.trajectory.facts]
        steps = float(max(map(np.max, stopped))) if stopped else None
    return work_of(Bundle(cells, capacity), steps)


def together(records: Iterable[Record]) -> list[tuple[list[Record], float, float]]:
    """Records that were made in one go -> (they, their seconds, how many of the same device ran beside, on average).

    Cells of one program began at the same time; those whose plateau ends early are done before the others. When
    something ended, and how long it took, says what ran beside it.
    """
    groups: dict[Any, list[_Span]] = defaultdict(list)
    for record in records:
        told = record.provenance
        with suppress(ValueError, KeyError, TypeError):
            end = datetime.fromisoformat(told["created"]).timestamp()
            if "continued" not in told and told["seconds"] > 0:
                span = _Span(end - float(told["seconds"]), end, [record])
                groups[str(told["device"]), _program_or_own(record)].append(span)
    by_device: dict[str, list[_Span]] = defaultdict(list)
    for (device, _), spans in groups.items():
        by_device[device] += _begun_together(spans)
    found = []
    for own in by_device.values():
        begins, ends = np.array([each.begin for each in own]), np.array([each.end for each in own])
        for each in own:
            shared = np.minimum(each.end, ends) - np.maximum(each.begin, begins)
            found.append((each, max(1.0, float(shared.clip(0).sum() / each.seconds))))
    found.sort(key=lambda pair: pair[0].end)
    return [(each.runs, each.seconds, beside) for each, beside in found]


class _Span(NamedTuple):
    """When records were made, in seconds since 1970: the end is known to the second."""

    begin: float
    end: float
    runs: list[Record]

    @property
    def seconds(self) -> float:
        return max(float(run.provenance["seconds"]) for run in self.runs)


def _program_or_own(record: Record) -> Any:
    """What others of the same program share; of a task that is not known here, a name of its own."""
    try:
        return program_of(record.cell)
    except Exception:
        return record.identity


def _begun_together(spans: Iterable[_Span]) -> list[_Span]:
    """Of one program on one device: those that began within a second are one."""
    found: list[_Span] = []
    for span in sorted(spans, key=lambda each: each.begin):
        last = found[-1] if found else None
        if last is not None and span.begin - last.begin <= SECOND:
            found[-1] = _Span(last.begin, max(last.end, span.end), [*last.runs, *span.runs])
        else:
            found.append(span)
    return found


def records_of(store: Store, kinds: Iterable[str]) -> list[Record]:
    """The whole records of some kinds."""

    def ignore(_error: StoreError) -> None: ...

    wanted = set(kinds)
    return list(store.records(lambda cell: cell.kind in wanted, on_damaged=ignore))
