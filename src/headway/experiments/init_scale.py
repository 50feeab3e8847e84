"""Paper A, Figure 4 left: the smaller the start of the scores, the later the stages; from zero there is only one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import FEW_SEEDS, MINIMALS, curves, for_each_grid
from headway.published import PLATEAUS
from headway.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

SCALES = (1e-3, 1e-6, 1e-9, 0.0)
"""u, as run; the paper does not print all of them."""


def _runs(base: Settings) -> dict[str, Settings]:
    starts = {f"u = {u:g}": curves(base).changed(model={"initialisation": "uniform", "scale": u}) for u in SCALES}
    return {"Xavier": base, **starts}


GRIDS = for_each_grid(MINIMALS, _runs)
SEEDS = FEW_SEEDS


def read(results: Results) -> list[Finding]:
    """A7."""
    from headway.claims.start import A7, smaller_start_is_later

    return [smaller_start_is_later(A7, *(results.get(f"u = {u:g}") for u in SCALES))]


def draw(results: Results) -> dict[str, Figure]:
    """Figure 4, left, with the published plateaus of what was run."""
    from headway.report.figures import figure_family

    least = "u = 1e-09"
    published = PLATEAUS["init-scale", least] if results[least][0] == GRIDS["as-run"][least] else ()
    return {"figure-4-left": figure_family(results, plateaus=published)}
