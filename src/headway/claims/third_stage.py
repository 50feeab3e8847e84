"""The third boundary of the gradient flow against what docs/theory.md derives for it.

For records of the kind "stage-times", with the fact `boundaries`, (seed, feature).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headway.analysis import over_seeds
from headway.analysis.power_laws import fit_power_laws
from headway.claims.claim import Claim, judged
from headway.claims.stage_times import StageTimesRun
from headway.records import Finding
from headway.settings import StageTimesSettings

FACTORS = ("length", "ratio", "features", "head_count", "noise")


def predicted(settings: StageTimesSettings) -> float:
    """t_3 by the theory; infinite where it has none."""
    from headway.tasks.flow_third_stage import third_stage  # late: SciPy

    return third_stage(
        settings.strengths,
        length=settings.length,
        heads=settings.head_count,
        projections=settings.projections,
        noise=settings.noise**0.5,
        last=settings.last,
    ).end


def base_of(runs: Sequence[StageTimesRun]) -> StageTimesSettings:
    """The run that has the most factors in common with the others."""
    return max((run[0] for run in runs), key=lambda own: -sum(differing(own, other[0]) for other in runs))


def differing(one: StageTimesSettings, other: StageTimesSettings) -> int:
    """In how many factors two runs differ; as many heads as features follow the features."""
    changed = [factor for factor in FACTORS if getattr(one, factor) != getattr(other, factor)]
    own = one.heads is None and other.heads is None and "features" in changed
    return len(changed) - (own and "head_count" in changed)


def parted(runs: Sequence[StageTimesRun]) -> tuple[list[StageTimesRun], list[StageTimesRun]]:
    """Runs with a third boundary in theory: those that differ from the base in one factor at most, and the others."""
    base = base_of(runs)
    known = [run for run in runs if run[0].features > 2 and np.isfinite(predicted(run[0]))]
    few = [run for run in known if differing(run[0], base) <= 1]
    return few, [run for run in known if differing(run[0], base) > 1]


def third(runs: Sequence[StageTimesRun]) -> np.ndarray:
    """(run, seed): t_3, NaN where it was not reached."""
    times = np.stack([np.asarray(trajectory.facts["boundaries"], float)[:, 2] for _, trajectory in runs])
    return np.where(np.isfinite(times), times, np.nan)


@judged
def grows_as_predicted(claim: Claim, *runs: StageTimesRun, within: float) -> Finding:
    """The exponent a in t_3 = C predicted^a over the runs that differ in one factor, in every seed."""
    few, _ = parted(runs)
    if len(few) < 3:
        return claim.not_run("It needs three runs with a third boundary.")
    times, wanted = third(few), np.array([[predicted(settings)] for settings, _ in few])
    fitted = fit_power_laws(wanted, times.T)
    found = fitted.exponents[:, 0]
    constant = over_seeds(fitted.constants)
    detail = f"Predicted from {wanted.min():.3g} to {wanted.max():.3g}."
    if constant.seeds:
        interval = (
            f" [{constant.low:.2f}, {constant.high:.2f}]" if np.isfinite(constant.low) else ""
        )  # one seed has none
        detail += f" The constant is {constant.median:.2f}{interval}."
    return claim.finding(few, found, np.abs(found - 1) <= within, detail)


@judged
def holds_where_not_looked(claim: Claim, *runs: StageTimesRun, typical: float, most: float) -> Finding:
    """measured / predicted of runs that differ in several factors at once: median and worst over runs, seed by seed."""
    _, others = parted(runs)
    if not others:
        return claim.not_run("It needs runs that differ in several factors.")
    ratio = third(others) / np.array([[predicted(settings)] for settings, _ in others])
    off = np.abs(np.log(ratio))
    middle = np.median(off, axis=0)
    parts = {
        f"typically within a factor {typical:g}": middle <= np.log(typical),
        f"always within a factor {most:g}": np.max(np.where(np.isnan(off), np.inf, off), axis=0) <= np.log(most),
    }
    medians = [over_seeds(row) for row in ratio]
    said = ", ".join(f"{over.median:.2f}" if over.seeds else "never" for over in medians)
    return claim.all_of(others, parts, f"Measured over predicted, medians, run by run: {said}.", np.exp(middle))
