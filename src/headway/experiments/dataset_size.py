"""Paper A, Figure 5: with fewer samples there are fewer stages, and stopping early picks the rung."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.experiments import grid_of
from headway.presets import FEW_SEEDS, MINIMALS, curves, pictures
from headway.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

SIZES = {"quick": (100, 200, 400, 1000, 3000), "printed": (200, 400, 600, 1000, 2000, 3000, 4000, 6000, 9000)}
SIZES["as-run"] = SIZES["printed"]  # as run; the paper does not print them
SHOWN = {"quick": ("200", "1000", "3000", "fresh"), "printed": ("600", "2000", "9000", "fresh")}
"""Sizes whose ladders Figure 5 shows."""
SHOWN["as-run"] = SHOWN["printed"]


def _runs(grid: str) -> dict[str, Settings]:
    """Every size; and, for sets no larger than a batch, the n-gram models among which validation may choose."""
    base = MINIMALS[grid]()
    runs = {}
    for size in SIZES[grid]:
        sized = curves(base).changed(training={"samples": size})
        few = size < base.training.batch
        runs[f"{size}"] = sized.beside_ngrams() if few else sized
        if few:
            beside = runs[f"{size}"]
            runs |= {f"{size}, c = {context}": beside.ngram(context) for context in beside.references}
    # What the paper compares with: the n-gram models of the whole training set.
    if grid != "quick":
        runs[f"{base.training.samples}"] = base.beside_ngrams()
    runs["fresh"] = pictures(base).changed(training={"data": "fresh"})
    return runs


GRIDS = {grid: _runs(grid) for grid in MINIMALS}
SEEDS = FEW_SEEDS


def read(results: Results) -> list[Finding]:
    """A9, A10, and whether choosing the context length pays."""
    from headway.claims.data import (
        A9,
        A10,
        A10_ADAPTIVE,
        choosing_the_length_pays,
        early_stopping_picks_the_rung,
        fewer_samples_fewer_stages,
    )

    grid = grid_of(GRIDS, results)
    sizes = [results.get(name) for name in GRIDS[grid] if ", c =" not in name]
    everything = [results.get(name) for name in GRIDS[grid] if name != "fresh"]
    return [
        fewer_samples_fewer_stages(A9, *sizes),
        early_stopping_picks_the_rung(A10, *sizes),
        choosing_the_length_pays(A10_ADAPTIVE, *everything),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """Figure 5; and what the choice of a length gains."""
    from headway.report.figures import figure_choice, figure_sizes

    whole = {name: run for name, run in results.items() if ", c =" not in name}
    return {
        "figure-5": figure_sizes(whole, shown=[name for name in SHOWN[grid_of(GRIDS, results)] if name in whole]),
        "choice": figure_choice(results),
    }
