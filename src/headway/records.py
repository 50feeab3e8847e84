"""The few nouns that cross folders: what to compute, what came out, what it means."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np

Verdict = Literal["holds", "partly", "fails", "cannot be judged", "not run"]
NOT_MADE = "A run that it needs has not been made."
"""The detail of a claim of which nothing was run."""
Made = TypeVar("Made")


MOST_LINES, MOST_SIGNS = 10, 110
"""Of what a notebook shows of an object."""


def shortened(lines: Sequence[str]) -> str:
    """At most ten lines of at most 110 signs; what is left out is counted or dotted."""
    cut = [line if len(line) <= MOST_SIGNS else f"{line[: MOST_SIGNS - 4]} ..." for line in lines]
    if len(cut) > MOST_LINES:
        cut = [*cut[: MOST_LINES - 1], f"... and {len(cut) - MOST_LINES + 1} more"]
    return "\n".join(cut)


def told_apart(value: Any) -> str:
    """Name(field=value, ...) of a frozen record, with the fields that do not have their defaults."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return repr(value)
    own = [f"{f.name}={getattr(value, f.name)!r}" for f in dataclasses.fields(value) if not _is_default(value, f)]
    return f"{type(value).__name__}({', '.join(own)})"


def _is_default(value: Any, field: dataclasses.Field) -> bool:
    usual = field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
    return usual is not dataclasses.MISSING and getattr(value, field.name) == usual


def plain(value: Any) -> Any:
    """Frozen records as dictionaries, lists, numbers and words, ready for JSON.

    A field that was added later (`metadata={"added": version}`) is left out while it has its default, so that what was
    computed before it existed keeps its name.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        told = (f for f in dataclasses.fields(value) if not (_added(f) and getattr(value, f.name) == f.default))
        return {f.name: plain(getattr(value, f.name)) for f in told}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value.described if isinstance(value, Open) else value


class Open:
    """Settings as a record holds them, of a kind whose code is not at hand: record.cell.settings.task.states."""

    def __init__(self, described: Mapping[str, Any]) -> None:
        self.described = dict(described)

    def __getattr__(self, name: str) -> Any:
        described = self.__dict__.get("described", {})
        if name not in described:
            raise AttributeError(f"these settings have no {name!r}; they have {', '.join(described)}.")
        return _opened(described[name])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Open) and self.described == other.described

    def __hash__(self) -> int:
        return hash(json.dumps(self.described, sort_keys=True))

    def __repr__(self) -> str:
        return f"Open({self.described!r})"


def _opened(value: Any) -> Any:
    if isinstance(value, dict):
        return Open(value)
    return tuple(map(_opened, value)) if isinstance(value, list) else value


PILOT_SEEDS = (1_000_000, 1_000_001)
"""Seeds of runs that only choose a learning rate: apart from all that are reported."""


@dataclass(frozen=True, repr=False)
class Cell:
    """Settings and the seeds to run them with: the unit that is computed, stored and found again."""

    settings: Any
    seeds: tuple[int, ...]
    kind: str = ""
    """What kind of computation it is: the settings know."""
    source: str = ""
    """A digest of the code that it depends on, if that is not Headway's own."""

    def __post_init__(self) -> None:
        kind = self.kind or getattr(self.settings, "KIND", "")
        if not kind:
            what = type(self.settings).__name__
            raise ValueError(
                f"a cell holds {what}, but it needs the settings of a whole run, as in Settings(task=...)."
            )
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "source", self.source or getattr(self.settings, "source", ""))

    def describe(self) -> dict[str, Any]:
        own = {"kind": self.kind, "settings": plain(self.settings), "seeds": list(self.seeds)}
        return own | ({"source": self.source} if self.source else {})

    @functools.cached_property
    def identity(self) -> str:
        """A name that two cells share exactly if they ask for the same computation."""
        return named_by(self.describe())

    @functools.cached_property
    def run(self) -> tuple[str, str, Any]:
        """What it computes, whatever its seeds and whatever it is compared with."""
        references = getattr(self.settings, "references", ())
        return self.kind, self.source, self.settings.alone() if references else self.settings

    def __repr__(self) -> str:
        return shortened(
            [f"Cell({self.identity}, seeds {', '.join(map(str, self.seeds))}):", *repr(self.settings).splitlines()]
        )

    def references(self) -> tuple[Cell, ...]:
        """The cells that this one compares itself with, and that must be done before it."""
        return tuple(Cell(settings, self.seeds) for settings in getattr(self.settings, "references", ()))

    def pilots(self) -> tuple[Cell, ...]:
        """The cells that choose its learning rate, on seeds of their own."""
        return tuple(Cell(settings, PILOT_SEEDS) for settings in getattr(self.settings, "pilots", ()))

    def needs(self) -> tuple[Cell, ...]:
        """All that must be done before it."""
        return (*self.references(), *self.pilots())


def canonical(data: Any) -> str:
    """JSON in which equal content is equal text."""
    return _ENCODER.encode(data)


# dumps would set it up anew for each of ten thousand cells.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def named_by(description: Mapping[str, Any], text: str = "") -> str:
    """named_by(cell.describe()) == cell.identity: from what a file says, before it is made into settings.

    `text` is canonical(description), where that is known.
    """
    return f"{description['kind']}-{hashlib.sha256((text or canonical(description)).encode()).hexdigest()[:16]}"


@dataclass(frozen=True, repr=False)
class Trajectory:
    """What was measured along a run: arrays of shape (seed, time, ...) on named clocks.

    Training counts optimiser steps and theory counts flow time; both write this record.

        trajectory["excess_loss"]        # (seed, time)
        trajectory.times("excess_loss")  # (time,)
        trajectory.facts["entropy"]      # (seed,): what does not change along the run
    """

    seeds: tuple[int, ...]
    clocks: Mapping[str, np.ndarray]
    """Name of a clock -> the times at which it ticked."""
    arrays: Mapping[str, np.ndarray]
    """Name of a quantity -> its values, (seed, time, ...)."""
    clock_of: Mapping[str, str]
    """Name of a quantity -> name of its clock."""
    facts: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Name of a quantity without a time axis -> its values, (seed, ...)."""

    def __post_init__(self) -> None:
        for name, values in self.arrays.items():
            wanted = (len(self.seeds), len(self.times(name)))
            if values.shape[:2] != wanted:
                raise ValueError(
                    f"the array {name!r} starts with the shape {values.shape[:2]}, but there are "
                    f"{wanted[0]} seeds and {wanted[1]} times. Arrays are (seed, time, ...)."
                )
        for name, values in self.facts.items():
            if values.shape[:1] != (len(self.seeds),):
                raise ValueError(
                    f"the fact {name!r} has the shape {values.shape}, but there are {len(self.seeds)} seeds."
                )

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.arrays:
            raise KeyError(f"no array {name!r} in this trajectory; it has {', '.join(sorted(self.arrays))}.")
        return self.arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self.arrays

    def __iter__(self) -> Iterator[str]:
        """The names of the arrays, as of a dictionary."""
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def __repr__(self) -> str:
        lines = [f"Trajectory of {len(self.seeds)} seeds; arrays (seed, time, ...) by name:"]
        for clock, ticks in self.clocks.items():
            own = [f"{name} {values.shape}" for name, values in self.arrays.items() if self.clock_of[name] == clock]
            span = f"{len(ticks)} times, {ticks[0]:g} to {ticks[-1]:g}" if len(ticks) else "no times"
            lines.append(f"  {clock} ({span}): {', '.join(own) or 'none'}")
        lines += [f"  facts: {', '.join(self.facts)}"] if self.facts else []
        return shortened(lines)

    def times(self, name: str) -> np.ndarray:
        """The times of the array `name`."""
        return self.clocks[self.clock_of[name]]


@dataclass(frozen=True)
class About:
    """What the page says of a run in words: made by its task where it is trained, and kept in the record.

    Whoever reads a record needs neither the task's code nor its settings to draw it.
    """

    title: str
    """What is learnt, as the beginning of a sentence: "An in-context Markov chain of 4 states"."""
    rungs: tuple[str, ...] = ()
    """The reference predictors, from knowing nothing to the truth: the last axis of `kl_rungs`."""
    loss: str = "loss"
    """What `loss` is: "cross-entropy", "half the squared error"."""
    unit: str = "nats"
    """Of the loss and of the distance to the rungs; empty for a number without one."""
    progress: str = "loss"
    """The array by which one sees how far a run has come: "excess_loss", "loss" or "accuracy"."""
    groups: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Lags whose attention is summed up, by name: (("block 1", (1, 2)), ...); lag 1 is the newest position."""
    measures: tuple[tuple[str, str], ...] = ()
    """Further arrays, (seed, evaluation, ...), and what they are: (("attention_previous", "on the token before"),).

    One of the shape (seed, evaluation, layer, head) is drawn once a head.
    """


@dataclass(frozen=True, repr=False)
class Finding:
    """A claim, held against the numbers of every seed."""

    claim: str
    """Its name, as in "A1"."""
    statement: str
    """What the paper says, in our words."""
    definition: str
    """When we say that a seed shows it."""
    quantity: str
    """What `values` are."""
    seeds: tuple[int, ...]
    values: tuple[float, ...]
    """The measured quantity, seed by seed."""
    holds: tuple[bool | None, ...]
    """Whether the claim holds, seed by seed; None where it cannot be judged, which counts as not holding."""
    interval: tuple[float, float] | None = None
    """95 % interval of the quantity's median over seeds."""
    detail: str = ""
    """Anything a reader needs to understand the outcome, such as why it fails."""
    parts: Mapping[str, int] = field(default_factory=dict)
    """For a claim of several parts: in how many seeds each holds."""
    reason: str = ""
    """Why we think it does not hold in every seed: an opinion."""
    figures: str = ""
    """The figures that show it: an experiment and a grid, as in "stages-as-run"."""

    @property
    def showing(self) -> int:
        """In how many seeds it holds."""
        return sum(bool(each) for each in self.holds)

    @property
    def unjudged(self) -> int:
        """In how many seeds it cannot be judged."""
        return sum(each is None for each in self.holds)

    @property
    def held(self) -> str:
        """In how many of the seeds it holds, as in "8/10"; nothing if it was not run."""
        return f"{self.showing}/{len(self.holds)}" if self.holds else ""

    @property
    def counts(self) -> str:
        """The same, or "0/10 hold, 10 cannot be judged"."""
        return f"{self.held} hold, {self.unjudged} cannot be judged" if self.unjudged else self.held

    @property
    def verdict(self) -> Verdict:
        """Holds in every seed, partly in at least half of them; in fewer it fails if it does so in one of them.

        Seeds that cannot be judged count among all of them, so that they never improve a verdict.
        """
        if not self.holds:
            return "not run"
        share = self.showing / len(self.holds)
        if share >= 0.5:
            return "holds" if share == 1 else "partly"
        return "fails" if False in self.holds else "cannot be judged"

    @property
    def summary(self) -> str:
        """For a cell: "fails 0/10", "partly 8/10, 2 cannot be judged", "cannot be judged, 0/10 hold", "not run"."""
        if self.verdict == "cannot be judged":
            return f"{self.verdict}, {self.held} hold"
        rest = f", {self.unjudged} cannot be judged" if self.unjudged else ""
        return f"{self.verdict} {self.held}{rest}".rstrip()

    def __repr__(self) -> str:
        ends = "" if self.interval is None else " [{:.3g}, {:.3g}]".format(*self.interval)
        values = ", ".join(f"{value:.3g}" for value in self.values)
        lines = [f"{self.claim}: {self.summary}", self.statement, f"Definition: {self.definition}"]
        lines.append(f"{self.quantity}{ends}: {values}")
        return shortened([*lines, *([self.detail] if self.detail else [])])


def join(parts: Sequence[Trajectory]) -> Trajectory:
    """One trajectory from consecutive parts: every array concatenated along its time axis.

    Every clock must go on where the part before stopped, never stand still or run back. A fact
    may come with any part; parts that give the same fact must agree on it.
    """
    if not parts:
        raise ValueError("there are no parts to join. A trajectory needs at least one.")
    first = parts[0]
    last: Mapping[str, Any] = {}
    facts: dict[str, np.ndarray] = {}
    for part in parts:
        require_alike(outline(first), outline(part))
        last = ticks_after(last, part)
        for name, values in part.facts.items():
            if name in facts and not _same(facts[name], values):
                raise ValueError(f"two parts give different values of the fact {name!r}.")
            facts[name] = values
    if len(parts) == 1:
        return first
    return Trajectory(
        seeds=first.seeds,
        clocks={name: np.concatenate([part.clocks[name] for part in parts]) for name in first.clocks},
        arrays={name: np.concatenate([part.arrays[name] for part in parts], axis=1) for name in first.arrays},
        clock_of=first.clock_of,
        facts=facts,
    )


def ticks_after(last: Mapping[str, Any], part: Trajectory) -> dict[str, Any]:
    """The last tick of every clock once `part` has followed the ticks `last`."""
    ends = dict(last)
    for name, ticks in part.clocks.items():
        if not np.all(ticks[1:] > ticks[:-1]):
            raise ValueError(f"the clock {name!r} does not increase within a part: {ticks!r}.")
        if len(ticks) and name in ends and not ticks[0] > ends[name]:
            raise ValueError(
                f"the clock {name!r} had reached {ends[name]} and the next part starts at {ticks[0]}. "
                "Parts must follow each other without an overlap."
            )
        if len(ticks):
            ends[name] = ticks[-1]
    return ends


def outline(part: Trajectory) -> dict[str, Any]:
    """What all parts of a run share, ready for JSON: seeds, clocks, and the arrays' types and shapes."""
    return {
        "seeds": list(part.seeds),
        "clocks": {name: str(ticks.dtype) for name, ticks in part.clocks.items()},
        "arrays": {
            name: [part.clock_of[name], str(values.dtype), list(values.shape[2:])]
            for name, values in part.arrays.items()
        },
    }


def require_alike(wanted: Mapping[str, Any], got: Mapping[str, Any]) -> None:
    """Refuse outlines whose join would promote, broadcast or drop something in silence."""
    for what in ("seeds", "clocks", "arrays"):
        if wanted[what] != got[what]:
            raise ValueError(
                f"the {what} of a run changed between two parts, from {wanted[what]} to {got[what]}. "
                "Only parts of one run can be joined."
            )


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def revive(cls: type[Made], data: Any) -> Made:
    """revive(type(x), plain(x)) == x: a frozen record from dictionaries, lists, numbers and words.

    Follows the annotations: nested records, tuples, `None`, Literals. Numbers stay what they are,
    so that the identity of a cell survives. What does not fit is an error, never a default.
    """
    return _revive(cls, data, cls.__name__)


def _revive(kind: Any, data: Any, where: str) -> Any:
    if dataclasses.is_dataclass(kind):
        return _revive_record(kind, data, where)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple and isinstance(data, list):
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_revive(arguments[0], item, where) for item in data)
        if len(arguments) == len(data):
            return tuple(_revive(part, item, where) for part, item in zip(arguments, data, strict=True))
    if origin in (typing.Union, types.UnionType):
        return _revive_choice(arguments, data, where)
    if origin is Literal and any(data == word and type(data) is type(word) for word in arguments):
        return data
    if kind is type(None) and data is None:
        return data
    # What an optimiser's own arguments are is its own matter; a record holds numbers and words.
    if kind is Any and isinstance(data, (bool, int, float, str)):
        return data
    # An int is a good value for a float setting, a bool is not a good value for a number.
    if kind in (bool, int, float, str) and (type(data) is kind or (kind is float and type(data) is int)):
        return data
    raise _another_version(f"{where} is {data!r}, which does not fit {kind}")


def _revive_record(kind: Any, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise _another_version(f"{where} is {data!r}, not a set of named values")
    wanted = _annotations(kind)
    optional = {f.name for f in dataclasses.fields(kind) if _added(f)}
    for name in sorted(wanted.keys() - data.keys() - optional):
        raise _another_version(f"{where} lacks {name!r}")
    for name in sorted(data.keys() - wanted.keys()):
        raise _another_version(f"{where} has an unknown {name!r}")
    return kind(**{name: _revive(wanted[name], data[name], f"{where}.{name}") for name in wanted if name in data})


def _added(field: dataclasses.Field) -> bool:
    """Whether a record made before this field existed lacks it and means its default."""
    return "added" in field.metadata


def _revive_choice(kinds: tuple[Any, ...], data: Any, where: str) -> Any:
    problem: ValueError | None = None
    for kind in kinds:
        try:
            return _revive(kind, data, where)
        except ValueError as error:
            problem = error
    raise problem or ValueError(where)


@functools.cache
def _annotations(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {f.name: hints[f.name] for f in dataclasses.fields(kind)}


def _another_version(problem: str) -> ValueError:
    return ValueError(f"{problem}: made by another version of Headway.")
