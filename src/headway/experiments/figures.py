"""Figures that several experiments have in common, each a function of their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from headway.claims.claim import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Drawing is imported when something is drawn: help must not wait for it.


def ladders(results: Results) -> dict[str, Figure]:
    """KL to the rungs, one panel for each run."""
    from headway.report.figures import figure_grid

    return {"ladders": figure_grid(results)}


def family(name: str) -> Callable[[Results], dict[str, Figure]]:
    """The excess loss of all runs, under this name."""

    def draw(results: Results) -> dict[str, Figure]:
        from headway.report.figures import figure_family

        return {name: figure_family(results)}

    return draw


def progress(run: str, curves: str, pictures: str) -> Callable[[Results], dict[str, Figure]]:
    """Loss and KL of a run under the one name; its attention, where matrices of it were kept, under the other."""

    def draw(results: Results) -> dict[str, Figure]:
        from headway.report.figures import figure_progress, with_pictures

        return with_pictures({curves: figure_progress(results[run])}, {pictures: results[run]})

    return draw
