"""Ours: how long each stage of the gradient flow takes, against what it depends on, one factor at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headway.settings import StageTimesSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

# More noise than 1e-5 would leave a head without any attention on some of 40 positions, and so would 1e-6 on 320.
FACTORS: dict[str, tuple[Any, ...]] = {
    "length": (10, 20, 40, 80, 160),
    "ratio": (1.2, 1.4, 1.7, 2.0, 2.5, 3.0),
    "features": (2, 3, 4, 5),
    "heads": (2, 3, 4, 6, 9, 12),
    "noise": (1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 1e-16, 1e-18, 1e-20),
}
"""What differs from the run of figure 10, and its values; two heads cannot hold three features."""
FEW: dict[str, tuple[Any, ...]] = {
    "length": (10, 40, 160),
    "ratio": (1.4, 1.7, 2.5),
    "noise": (1e-6, 1e-10, 1e-14),
}


def _runs(base: StageTimesSettings, factors: dict[str, tuple[Any, ...]]) -> dict[str, StageTimesSettings]:
    """The run of figure 10 first, then those that differ in one factor; that one is not in there twice."""
    others = {
        f"{factor} {value:g}": replace(base, **{factor: value})
        for factor, values in factors.items()
        for value in values
        if value != (base.crowd if factor == "heads" else getattr(base, factor))
    }
    return {"base": base, **others}


PRINTED = StageTimesSettings(projections=2)
AS_RUN = StageTimesSettings(projections=1)
GRIDS = {"quick": _runs(AS_RUN, FEW), "printed": _runs(PRINTED, FACTORS), "as-run": _runs(AS_RUN, FACTORS)}
SEEDS = {"quick": 4, "printed": 10, "as-run": 10}


def read(results: Results) -> list[Finding]:
    """T1 to T5."""
    from headway.claims import stage_times as claims

    # Names tell which grid it is: the paper's factors take values that the quick ones do not.
    names = list(GRIDS["quick"] if results.keys() <= GRIDS["quick"].keys() else GRIDS["printed"])

    def chosen(word: str) -> list[Any]:
        return [results.get(name) for name in names if name == "base" or name.startswith(word)]

    return [
        claims.first_stage_is_a_power_of_length(claims.T1, *chosen("length")),
        claims.first_stage_takes_what_the_formula_says(claims.T2, *chosen("")),
        claims.differences_grow_as_foretold(claims.T3, *chosen("noise")),
        claims.wait_is_between_logarithm_and_power(claims.T4, *chosen("noise")),
        claims.second_stage_ends_when_foretold(claims.T5, *chosen("")),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """What each stage takes, factor by factor."""
    from headway.report.figures.stage_times import figure_stage_times

    return {"stage-times": figure_stage_times(results)}
