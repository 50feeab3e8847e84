"""Which runs of a grid a claim is about: found by their settings, whatever they are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headway.claims.claim import AnyRun, Claim, Judge, Results
from headway.records import Finding

Grids = Mapping[str, Mapping[str, Any]]
Where = Callable[[Any], bool]
"""Of settings."""


def grid_of(grids: Grids, results: Results) -> str:
    """The first grid with runs of all these names: of a whole grid its own, as none has all names of another and more.

    Of a part it may be another; that lacks runs, too, so that nothing is judged by it.
    """
    return next((grid for grid, runs in grids.items() if results.keys() <= runs.keys()), next(iter(grids)))


def having(**wanted: Any) -> Where:
    """Settings of which these have these values: having(model="gap", points=0)."""
    return lambda settings: all(getattr(settings, name) == value for name, value in wanted.items())


def wanted(grids: Grids, results: Results) -> dict[str, Any]:
    """Name -> settings of all runs of the grid that was run: as they were made, or would be."""
    grid = grids[grid_of(grids, results)]
    return {name: results[name][0] if name in results else settings for name, settings in grid.items()}


def chosen(grids: Grids, results: Results, *kinds: Where) -> list[AnyRun | None]:
    """The runs of each kind, one kind after the other, in the grid's order; None for one that was not made."""
    runs = wanted(grids, results)
    return [results.get(name) for where in kinds for name, settings in runs.items() if where(settings)]


def about(grids: Grids, predicate: Callable[..., Finding], *kinds: Where, **more: Any) -> Judge:
    """predicate(claim, *runs, **more) of the runs of these kinds."""

    def judge(claim: Claim, results: Results) -> Finding:
        return predicate(claim, *chosen(grids, results, *kinds), **more)

    return judge


def made(results: Results, where: Where) -> list[AnyRun]:
    """The runs of a kind that were made."""
    return [run for run in results.values() if where(run[0])]
