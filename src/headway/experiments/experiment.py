"""An experiment: runs in grids, what is claimed of them, and figures; ours and a user's are made alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.claims.claim import Claim, Results
    from headway.records import Finding


@dataclass(frozen=True)
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
    """How many seeds each grid uses unless told otherwise."""
    claims: tuple[Claim, ...] = ()
    figures: Callable[[Results], Mapping[str, Figure]] | None = field(default=None, compare=False)
    """The one that shows most first; it is asked only when all runs of a grid are there."""

    def read(self, results: Results, grid: str = "") -> list[Finding]:
        """Every claim held against what was measured; one that misses a run is "not run"."""
        runs = self.grids.get(grid, {})
        return [
            claim.not_run() if claim.lacks_one_of(runs, results) else claim.held_against(results, grid)
            for claim in self.claims
        ]

    def draw(self, results: Results) -> dict[str, Figure]:
        return {} if self.figures is None else dict(self.figures(results))


def headline(words: str | None) -> str:
    """The first line of a docstring."""
    return (words or "").strip().partition("\n")[0]
