"""How long the gradient flow waits for each feature, against what docs/theory.md derives.

For records of the kind "stage-times", with the facts

    boundaries    (seed, feature)        t_1, t_2, ..: when the loss is half-way from one plateau to the next
    first_stage   (seed,)                what the formula says of t_1
    growth        (seed,)                log Lambda(t_2): how much differences between heads have grown, by the theory
    foretold      (seed,)                predicted: when T sigma Lambda = 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from headway.analysis import over_seeds
from headway.analysis.laws import slopes
from headway.analysis.power_laws import fit_power_laws
from headway.claims.claim import Claim, judged
from headway.records import Finding, Trajectory
from headway.settings import StageTimesSettings

StageTimesRun = tuple[StageTimesSettings, Trajectory]


@judged
def first_stage_is_a_power_of_length(
    claim: Claim, *runs: StageTimesRun, exponents: Mapping[int, float], within: float
) -> Finding:
    """The exponent of T in t_1, in every seed; wanted are `exponents` for Pi once and twice."""
    chosen = along(runs, "length")
    if len(chosen) < 3:
        return claim.not_run("It needs three lengths.")
    times = boundary(chosen, 0)
    lengths = np.array([[settings.length] for settings, _ in chosen])
    found = fit_power_laws(lengths, times.T).exponents[:, 0]
    wanted = exponents[runs[0][0].projections]
    return claim.finding(chosen, found, np.abs(found - wanted) <= within, f"Wanted: {wanted:g}. {censored(chosen)}")


@judged
def first_stage_takes_what_the_formula_says(claim: Claim, *runs: StageTimesRun, long: int, within: float) -> Finding:
    """t_1 against its closed form, in every seed; the worst of the runs."""
    chosen = [run for run in runs if run[0].length >= long]
    if not chosen:
        return claim.not_run(f"It needs a run with at least {long} positions.")
    times, wanted = boundary(chosen, 0), np.stack([run[1].facts["first_stage"] for run in chosen])
    off = times / wanted - 1  # infinite where the feature is never learnt
    worst = worst_of(off, np.abs(off))
    detail = f"Medians over seeds, run by run: {listed(chosen, off, '+.1%')}."
    return claim.finding(chosen, worst, np.abs(worst) <= within, detail)


@judged
def differences_grow_as_predicted(claim: Claim, *runs: StageTimesRun, within: float) -> Finding:
    """log Lambda(t_2) against log(1/sigma), in every seed."""
    chosen = along(runs, "noise")
    if len(chosen) < 3:
        return claim.not_run("It needs three levels of noise.")
    growth = np.stack([run[1].facts["growth"] for run in chosen])
    found = slopes(evenness(chosen), growth.T)
    held = np.isfinite(boundary(chosen, 1)).all(axis=0) & (np.abs(found - 1) <= within)
    return claim.finding(chosen, found, held, censored(chosen))


@judged
def wait_is_between_logarithm_and_power(claim: Claim, *runs: StageTimesRun) -> Finding:
    """The wait is convex in log(1/sigma) and its logarithm is concave, in every seed."""
    chosen = along(runs, "noise")
    if len(chosen) < 3:
        return claim.not_run("It needs three levels of noise.")
    met = np.isfinite(boundary(chosen, 1)).all(axis=0)
    waits = np.where(met, boundary(chosen, 1), np.nan) - boundary(chosen, 0)
    steps = np.diff(evenness(chosen))[:, None]
    gains, powers = np.diff(waits, axis=0) / steps, np.diff(np.log(waits), axis=0) / steps
    faster, slower = np.all(np.diff(gains, axis=0) > 0, axis=0), np.all(np.diff(powers, axis=0) < 0, axis=0)
    parts = {"faster than the logarithm": faster, "slower than a power": slower}
    detail = f"Medians of t_2 - t_1, noise by noise: {listed(chosen, waits, '.3g')}. {censored(chosen)}"
    return claim.finding(chosen, powers[-1], met & faster & slower, detail, parts)


@judged
def second_stage_ends_when_predicted(claim: Claim, *runs: StageTimesRun, within: float) -> Finding:
    """t_2 over the time at which T sigma Lambda = 1, in every seed; the worst of the runs."""
    times, wanted = boundary(runs, 1), np.stack([run[1].facts["foretold"] for run in runs])
    known = np.isfinite(times) & np.isfinite(wanted)
    factors = np.where(known, times, np.nan) / np.where(known, wanted, np.nan)
    worst = worst_of(factors, np.abs(np.log(factors)))
    held = known.all(axis=0) & (np.abs(np.log(worst)) <= np.log(within))
    detail = f"Medians over seeds, run by run: {listed(runs, factors, '.2f')}. {censored(runs)}"
    return claim.finding(runs, np.where(known.all(axis=0), worst, np.inf), held, detail)


def along(runs: Sequence[StageTimesRun], factor: str) -> list[StageTimesRun]:
    """Those that differ from the first run in `factor` alone, and the first run, in order; less noise comes later."""
    base = runs[0][0]
    chosen = [run for run in runs if replace(run[0], **{factor: getattr(base, factor), "last": base.last}) == base]
    return sorted(chosen, key=lambda run: getattr(run[0], factor), reverse=factor == "noise")


def boundary(runs: Sequence[StageTimesRun], feature: int) -> np.ndarray:
    """When feature 0, 1, .. is learnt: (run, seed); infinite if it is not."""
    return np.stack([np.asarray(run[1].facts["boundaries"])[:, feature] for run in runs])


def evenness(runs: Sequence[StageTimesRun]) -> np.ndarray:
    """log(1/sigma), the variance being sigma^2: (run,)."""
    return np.array([-0.5 * np.log(settings.noise) for settings, _ in runs])


def worst_of(values: np.ndarray, badness: np.ndarray) -> np.ndarray:
    """Of each column (run, seed) the value with the largest badness; NaN is worst."""
    rows = np.argmax(np.where(np.isnan(badness), np.inf, badness), axis=0)
    return np.take_along_axis(values, rows[None], axis=0)[0]


def name_of(settings: StageTimesSettings, base: StageTimesSettings) -> str:
    """What is different from the base: "length 80"."""
    for factor in ("length", "ratio", "features", "heads", "noise"):
        value = getattr(settings, factor)
        if value != getattr(base, factor):
            return f"{factor} {value:g}"
    return "base"


def listed(runs: Sequence[StageTimesRun], table: np.ndarray, form: str) -> str:
    """ "base +3.1%, length 80 +2.0%": the median over seeds of each row."""
    base = runs[0][0]
    return ", ".join(
        f"{name_of(settings, base)} {over_seeds(row).median:{form}}"
        for (settings, _), row in zip(runs, table, strict=True)
    )


def censored(runs: Sequence[StageTimesRun]) -> str:
    """How many boundaries were not reached by the last time; nothing if all had."""
    ends = [np.asarray(run[1].facts["boundaries"]) for run in runs]
    never, all_of_them = sum(int(np.sum(~np.isfinite(end))) for end in ends), sum(end.size for end in ends)
    return f"{never} of {all_of_them} boundaries were not reached when the flow stopped." if never else ""
