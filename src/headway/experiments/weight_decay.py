"""Paper A, section B.3: weight decay makes almost no difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import FEW_SEEDS, FULLS, curves, for_each_grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

GRIDS = for_each_grid(
    FULLS, lambda base: {"decay": base, "no decay": curves(base).changed(training={"weight_decay": 0.0})}
)
SEEDS = FEW_SEEDS


def read(results: Results) -> list[Finding]:
    """A13."""
    from headway.claims.decay import A13, decay_hardly_matters

    return [decay_hardly_matters(A13, results.get("decay"), results.get("no decay"))]


def draw(results: Results) -> dict[str, Figure]:
    """The excess loss with and without."""
    from headway.report.figures import figure_family

    return {"excess-loss": figure_family(results)}
