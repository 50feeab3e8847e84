"""A claim: what a paper says, when a seed counts as showing it, and what is measured."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from headway.analysis import interval_over_seeds, over_seeds
from headway.records import NOT_IN_GRID, NOT_MADE, Finding, Trajectory, shortened

Run = tuple[Any, Trajectory]
AnyRun = tuple[Any, Trajectory]
"""A run of any kind: its settings are those of its kind."""
Results = Mapping[str, AnyRun]
"""Settings of a run and what it measured, by its name; a run that was not made is missing."""
Judge = Callable[["Claim", Results], Any]
NO_COMMON_SEED = "The runs share no seed."
MOST_NAMED = 3
"""Missing runs that are named one by one."""


@dataclass(frozen=True, repr=False)
class Claim:
    """Words that stay the same whatever the numbers say."""

    name: str
    """As in "A1", or "A1 minimal" where the same claim is made of another run."""
    statement: str
    """What the paper says, in our words."""
    definition: str
    """When we say that a seed shows it."""
    quantity: str
    """The number that is measured."""
    judge: Judge | None = None
    """(claim, results) -> a finding; or values and whether it holds, seed by seed, with or without a word of detail."""
    title: str = ""
    """What it claims, in a few words for a table."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Grid, or "" for all -> why we think it does not hold in every seed: an opinion, shown beside such a verdict."""
    about: Callable[[Any], bool] | None = None
    """Settings -> whether a run with them is one of those that the judge looks at, where names do not say it; the
    claim is not run before all such runs of a grid are there."""

    def __repr__(self) -> str:
        lines = [f"Claim {self.name}: {self.statement}", f"  Definition: {self.definition}"]
        return shortened([*lines, f"  Measured: {self.quantity}"])

    def __post_init__(self) -> None:
        """Words may be broken into lines anywhere: they are joined by single blanks."""
        for name in ("statement", "definition", "quantity", "title"):
            object.__setattr__(self, name, " ".join(getattr(self, name).split()))

    def held_against(self, results: Results, grid: str = "") -> Finding:
        """The verdict of the claim's own judge, with the reason that belongs to it."""
        if self.judge is None:
            raise TypeError(f"the claim {self.name!r} has no judge. Give it one: judge(claim, results).")
        about = self.about
        results = {name: run for name, run in results.items() if about is None or about(run[0])}
        judged = self.judge(self, results)
        if not isinstance(judged, Finding):
            judged = self.finding(list(results.values()), *judged)
        short = bool(judged.holds) and judged.verdict != "holds"
        return dataclasses.replace(judged, reason=self._reason(grid) if short else "")

    def _reason(self, grid: str) -> str:
        return " ".join(self.reasons.get(grid, self.reasons.get("", "")).split())

    def held_in(self, grid: Mapping[str, Any], results: Results, name: str = "") -> Finding:
        """The verdict on the grid of this name; "not in grid" where no run is missing that the grid has."""
        found = self.lacking(grid, results) or self.held_against(results, name)
        if found.holds or not grid:
            return found
        named = getattr(self.judge, "names", ())
        complete = found.detail != NO_COMMON_SEED and all(run in results for run in grid)
        if not (any(run not in grid for run in named) if named else complete):
            return found
        why = "" if named or found.detail == NOT_MADE else found.detail
        return dataclasses.replace(self.not_run(f"{NOT_IN_GRID} {why}".strip()), in_grid=False)

    def lacking(self, grid: Mapping[str, Any], results: Results) -> Finding | None:
        """Not run, if a run of the grid that it is about was not made."""
        about = self.about
        names = [name for name, run in grid.items() if about is not None and about(run)]
        return self.not_run(_lacking(names, results)) if any(name not in results for name in names) else None

    def called(self, name: str, statement: str | None = None, **changes: Any) -> Claim:
        """The same claim about something else."""
        words = self.statement if statement is None else statement
        return dataclasses.replace(self, name=name, statement=words, **changes)

    def finding(
        self,
        runs: Sequence[AnyRun],
        values: ArrayLike,
        holds: ArrayLike,
        detail: str = "",
        parts: Mapping[str, ArrayLike] | None = None,
    ) -> Finding:
        """The verdict over all seeds; one that diverged in a run has no value and the claim does not hold for it.

        A seed whose value is NaN, and in which no part is false, cannot be judged. What never happened, although it
        could have been seen, is no such case: its value is infinite. A part is NaN where it cannot be judged itself.
        """
        sound = np.all([not_diverged(trajectory) for _, trajectory in runs], axis=0)
        measured, table = np.asarray(values, float), {name: np.asarray(part) for name, part in (parts or {}).items()}
        numbers, held = np.where(sound, measured, np.nan), (np.asarray(holds) == 1) & sound
        refuted = np.any([part == 0 for part in table.values()], axis=0) if table else np.zeros(len(sound), bool)
        unknown = sound & ~held & ~refuted & np.isnan(measured)
        low, high = interval_over_seeds(numbers)
        lost = int(np.sum(~sound))
        if lost:
            detail = f"{detail} {lost} of {len(sound)} seeds diverged.".strip()
        return Finding(
            claim=self.name,
            statement=self.statement,
            definition=self.definition,
            quantity=self.quantity,
            seeds=tuple(runs[0][1].seeds),
            values=tuple(numbers.tolist()),
            holds=tuple(None if lacks else shows for shows, lacks in zip(held.tolist(), unknown, strict=True)),
            interval=(low, high) if math.isfinite(low) else None,
            detail=detail,
            parts={name: int(np.sum((part == 1) & sound)) for name, part in table.items()},
        )

    def all_of(
        self,
        runs: Sequence[AnyRun],
        parts: Mapping[str, ArrayLike],
        detail: str = "",
        values: ArrayLike | None = None,
    ) -> Finding:
        """It holds where all of its parts do; what is measured is, unless values are given, how many."""
        table = np.stack([np.asarray(part) == 1 for part in parts.values()], axis=1)
        return self.finding(runs, table.sum(axis=1) if values is None else values, table.all(axis=1), detail, parts)

    def not_run(self, why: str = NOT_MADE) -> Finding:
        """The records cannot speak about this claim."""
        return Finding(
            self.name, self.statement, self.definition, self.quantity, seeds=(), values=(), holds=(), detail=why
        )


def of_runs(predicate: Callable[..., Finding], *names: str, **more: Any) -> Judge:
    """The predicate of the runs with these names, or of all runs that the claim is about if none is given."""

    return OfRuns(predicate, names, more)


@dataclass(frozen=True)
class OfRuns:
    """A judge that knows the names of the runs it looks at."""

    predicate: Callable[..., Finding]
    names: tuple[str, ...]
    more: Mapping[str, Any]

    def __call__(self, claim: Claim, results: Results) -> Finding:
        runs = map(results.get, self.names) if self.names else results.values()
        found = self.predicate(claim, *runs, **self.more)
        # Which runs are missing is known by their names only here.
        return dataclasses.replace(found, detail=_lacking(self.names, results)) if found.detail == NOT_MADE else found


def _lacking(names: Sequence[str], results: Results) -> str:
    """Which of these runs were not made, where others were; a claim of which nothing was run needs no list."""
    missing = [name for name in names if name not in results]
    if not missing or not results or len(missing) == len(names) > 1:
        return NOT_MADE
    if len(names) == 1:
        return f"{NOT_MADE.removesuffix('.')}: {names[0]}."
    more = f"; and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
    return f"Incomplete: runs missing: {'; '.join(missing[:MOST_NAMED])}{more} ({len(missing)} of {len(names)})."


def judged(predicate: Callable[..., Finding]) -> Callable[..., Finding]:
    """`predicate(claim, *runs)` for runs that all exist, cut to the seeds that they share; else it is not run."""

    @functools.wraps(predicate)
    def judge(claim: Claim, *runs: AnyRun | None, **more) -> Finding:
        there = [run for run in runs if run is not None]
        if len(there) < len(runs) or not there:
            return claim.not_run()
        shared = [seed for seed in there[0][1].seeds if all(seed in run[1].seeds for run in there)]
        if not shared:
            return claim.not_run(NO_COMMON_SEED)
        # A run that diverged or was cut short lacks numbers that a predicate asks for: NaN, which holds for nobody.
        with np.errstate(divide="ignore", invalid="ignore"):
            return predicate(claim, *(of_seeds(run, shared) for run in there), **more)

    return judge


def of_seeds(run: AnyRun, seeds: Sequence[int]) -> AnyRun:
    """The run of some of its seeds."""
    settings, trajectory = run
    if list(trajectory.seeds) == list(seeds):
        return run
    rows = [trajectory.seeds.index(seed) for seed in seeds]
    return settings, dataclasses.replace(
        trajectory,
        seeds=tuple(seeds),
        arrays={name: values[rows] for name, values in trajectory.arrays.items()},
        facts={name: values[rows] for name, values in trajectory.facts.items()},
    )


def _at_end(ending: np.ndarray) -> str:
    count = int(np.sum(ending))
    if not count:
        return ""
    return " (the end)" if count == len(ending) else f" (the end in {count} seed{'s' * (count > 1)})"


def where_known(shown: np.ndarray, value: np.ndarray) -> np.ndarray:
    """A part that cannot be judged, NaN, in seeds whose value is NaN: a comparison with it would say "no"."""
    return np.where(np.isnan(value), np.nan, shown)


def not_diverged(trajectory: Trajectory) -> np.ndarray:
    """Which seeds stayed finite to the end."""
    return np.asarray(trajectory.facts.get("diverged_at", np.full(len(trajectory.seeds), -1))) < 0


def steps_in_words(steps: np.ndarray, last: float | None = None) -> str:
    """Medians over seeds of a (seed, k) array of steps: "72, 188 and 450"; a column without any step is "(never)".

    With `last`, the step of the last evaluation, "450 (the end in 3 seeds)" or "450 (the end)": not passed there.
    """
    medians = [f"{over.median:.0f}" if over.seeds else "(never)" for over in map(over_seeds, steps.T)]
    if last is not None:
        medians = [f"{words}{_at_end(column == last)}" for words, column in zip(medians, steps.T, strict=True)]
    return medians[0] if len(medians) == 1 else f"{', '.join(medians[:-1])} and {medians[-1]}"
