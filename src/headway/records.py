"""The few nouns that cross folders: what to compute, what came out, what it means."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from headway.settings.plain import named_by, plain

Verdict = Literal["holds", "partly", "fails", "cannot be judged", "not run", "not in grid"]
NOT_MADE = "A run that it needs has not been made."
NOT_IN_GRID = "This grid has no such runs."
"""Details of a claim that has no verdict."""

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

    @property
    def is_pilot(self) -> bool:
        """Whether it only helps to choose a learning rate; nothing is reported of it."""
        return self.seeds == PILOT_SEEDS

    def pilots(self) -> tuple[Cell, ...]:
        """The cells that choose its learning rate, on seeds of their own."""
        return tuple(Cell(settings, PILOT_SEEDS) for settings in getattr(self.settings, "pilots", ()))

    def needs(self) -> tuple[Cell, ...]:
        """All that must be done before it."""
        return (*self.references(), *self.pilots())


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
    in_grid: bool = True
    """Whether the grid has the runs that it is about; without seeds it is "not in grid" or "not run" by this."""

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
            return "not run" if self.in_grid else "not in grid"
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
