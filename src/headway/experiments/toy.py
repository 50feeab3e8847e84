"""Paper B's toy: attention waits on a plateau, then finds the one token that matters at once; W moves first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.settings import ToySettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

GRIDS = {
    "quick": {
        "expectation": ToySettings(dimensions=(16,), lengths=(64,), model="matrices"),
        "samples": ToySettings(dimensions=(16,), lengths=(64,), model="matrices", samples=256),
    },
    # Ours: the slides show curves of one size, and do not say which; nor how large a training set would be.
    "paper": {
        "expectation": ToySettings(dimensions=(16, 64), lengths=(64, 256), model="matrices"),
        "samples": ToySettings(dimensions=(16, 32), lengths=(64, 128), model="matrices", samples=512),
    },
}
SEEDS = {"quick": 4, "paper": 8}


def read(results: Results) -> list[Finding]:
    """B5, with the exact expectation and with a training set."""
    from headway.claims.emergence import B5, B5_SAMPLES, sharp_and_in_order

    return [
        sharp_and_in_order(B5, results.get("expectation")),
        sharp_and_in_order(B5_SAMPLES, results.get("samples")),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """Loss, attention and W over time: the largest case of the expectation, and of a training set."""
    from headway.report.figures import figure_transition

    return {name: figure_transition(run) for name, run in results.items()}
