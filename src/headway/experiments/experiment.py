"""An experiment: runs in grids, what is claimed of them, and figures; ours and a user's are made alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.claims.claim import Claim, Results
    from headway.records import Finding


class ExperimentError(ValueError):
    """What was given, what is wanted of an experiment, and what to do."""


@dataclass(frozen=True, repr=False)
class Experiment:
    """All that the laboratory has to know: a module's `EXPERIMENT`, or one made in a notebook.

    EXPERIMENT = Experiment(
        title="Paper A, Figure 1: the minimal transformer passes the reference predictors in order.",
        grids={"quick": {"minimal": settings}},   # grid -> name of a run -> its settings
        seeds={"quick": 8},
        claims=(Claim("A1", ..., judge=lambda claim, results: in_order(claim, results.get("minimal"))),),
        figures=draw,                             # results -> name -> figure
    )
    """

    title: str
    """What it shows, in one line."""
    grids: Mapping[str, Mapping[str, Any]]
    """quick, printed, as-run, or quick, paper -> name of a run -> its settings; the page opens with the first run."""
    seeds: Mapping[str, int]
    """How many seeds each grid uses unless another number is given."""
    claims: tuple[Claim, ...] = ()
    figures: Callable[[Results], Mapping[str, Figure]] | None = field(default=None, compare=False)
    """The one that shows most first; it is asked only when all runs of a grid are there."""
    lacks: Callable[[Mapping[str, Any]], str] = field(default=lambda runs: "", compare=False)
    """What this machine lacks for these runs, such as a text or a package, and what to do: `all` leaves them out."""

    def __repr__(self) -> str:
        from headway.records import shortened  # late: help does not wait for NumPy

        grids = [f"  {grid}, {self.seeds[grid]} seeds: {', '.join(runs)}" for grid, runs in self.grids.items()]
        return shortened(
            [f"Experiment: {self.title}", *grids, f"  claims: {', '.join(each.name for each in self.claims)}"]
        )

    def __post_init__(self) -> None:
        _require(isinstance(self.title, str) and self.title, f"title is {self.title!r}", "say in a line what it shows")
        _require_grids(self.grids)
        _require(isinstance(self.seeds, Mapping), f"seeds is {_kind(self.seeds)}", 'write seeds={"quick": 8}')
        for grid in self.grids:
            count = self.seeds.get(grid)
            whole = isinstance(count, int) and not isinstance(count, bool) and count >= 1
            got = f"seeds has {count!r} for the grid {grid!r}"
            _require(whole, got, f"give every grid a number of seeds from 1 on, as in seeds={{{grid!r}: 8}}")
        _require_claims(self.claims)
        _require(self.figures is None or callable(self.figures), f"figures is {_kind(self.figures)}", "give a function")

    @classmethod
    def of(
        cls,
        task: Any,
        *,
        title: str = "",
        model: Any = None,
        training: Any = None,
        evaluation: Any = None,
        seeds: int = 4,
        claims: Sequence[Claim] = (),
        figures: Callable[[Results], Mapping[str, Figure]] | None = None,
    ) -> Experiment:
        """An experiment of a single run: one model on one task."""
        from headway.tasks.run import Settings
        from headway.tasks.task import name_of

        parts = {"model": model, "training": training, "evaluation": evaluation}
        settings = Settings(task, **{name: part for name, part in parts.items() if part is not None})
        runs = {"quick": {name_of(task): settings}}
        return cls(title or name_of(task), runs, {"quick": seeds}, tuple(claims), figures)

    def register(self) -> None:
        """From now on runs of its tasks can be trained, and records of them come back as their own settings."""
        from headway import registry
        from headway.tasks.task import name_of

        for settings in (each for runs in self.grids.values() for each in runs.values()):
            # What is computed in one go may be about a task, too.
            if hasattr(settings, "task") and name_of(settings.task) == settings.KIND:
                registry.add(type(settings.task), settings.KIND)

    def read(self, results: Results, grid: str = "") -> list[Finding]:
        """Every claim held against what was measured; "not run" if a run of the grid is missing, else "not in grid"."""
        return [claim.held_in(self.grids.get(grid, {}), results, grid) for claim in self.claims]

    def draw(self, results: Results) -> dict[str, Figure]:
        return {} if self.figures is None else dict(self.figures(results))


def headline(words: str | None) -> str:
    """The first line of a docstring."""
    return (words or "").strip().partition("\n")[0]


def _require_grids(grids: Any) -> None:
    example = 'write grids={"quick": {"name of a run": settings}}'
    _require(isinstance(grids, Mapping), f"grids is {_kind(grids)}, but it must be a mapping", example)
    _require(grids, "grids is empty", example)
    for grid, runs in grids.items():
        _require(isinstance(runs, Mapping), f"the grid {grid!r} is {_kind(runs)}, but it must be a mapping", example)
        _require(runs, f"the grid {grid!r} has no run", example)
        odd = next((name for name in (grid, *runs) if not isinstance(name, str)), None)
        _require(odd is None, f"{odd!r} in the grid {grid!r} is no name", example)


def _require_claims(claims: Any) -> None:
    from headway.claims.claim import Claim

    _require(isinstance(claims, (tuple, list)), f"claims is {_kind(claims)}", "write claims=(Claim(...),)")
    for claim in claims:
        _require(isinstance(claim, Claim), f"claims holds {_kind(claim)}", "make each by Claim(...)")
        remedy = "give it judge=..., a function of the claim and the results"
        _require(callable(claim.judge), f"the claim {claim.name!r} has no judge", remedy)
    names = [claim.name for claim in claims]
    twice = next((name for name in names if names.count(name) > 1), None)
    _require(twice is None, f"two claims are called {twice!r}", "give each a name of its own")


def _require(fine: object, got: str, remedy: str) -> None:
    if not fine:
        raise ExperimentError(f"{got}. In an experiment {remedy}.")


def _kind(value: object) -> str:
    word = type(value).__name__
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
