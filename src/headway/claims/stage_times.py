"""T1 to T5: how long the stages of the gradient flow take. Ours; derived in docs/theory.md before any of it was run.

For records of the kind "stage-times", with the facts

    boundaries    (seed, feature)        t_1, t_2, ..: when the loss is half-way from one plateau to the next
    first_stage   (seed,)                what the formula says of t_1
    growth        (seed,)                log Lambda(t_2): how much differences between heads have grown, by the theory
    foretold      (seed,)                when T sigma Lambda = 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from headway.analysis import over_seeds
from headway.analysis.laws import slopes
from headway.analysis.power_laws import fit_power_laws
from headway.claims.claim import Claim, judged
from headway.records import Finding, Trajectory
from headway.settings import StageTimesSettings

StageTimesRun = tuple[StageTimesSettings, Trajectory]

EXPONENT = {1: 0.5, 2: 1.0}
"""Pi once or twice -> the power of T in the time of the first stage."""
EXPONENT_WITHIN = 0.1
FIRST_WITHIN = 0.15
"""Share by which the first stage may differ from its formula: the terms left out are of the order log(T) / T."""
LONG = 40
"""Positions from which on they are that small."""
SLOPE_WITHIN = 0.05
"""Share by which the growth of a deviation may differ from what the noise asks for."""
FACTOR = 2.0
"""By how much a time may be longer or shorter than foretold: nothing is said of what follows once heads differ."""

T1 = Claim(
    "T1",
    "The first stage takes a time that grows like the square root of the number of positions T where Pi is applied "
    "once, and like T where it is applied twice. (Ours.)",
    "Least squares on logarithms over the runs that differ in T alone: the exponent of the first boundary is within "
    f"{EXPONENT_WITHIN:g} of 1/2 or 1.",
    "exponent of T",
)
T2 = Claim(
    "T2",
    "The first stage takes the time sqrt(T)/m_1 F_1(H/(m_1 sqrt T)) + D(H/m_1)/m_1 with Pi once, and T/m_1 F_2(H/m_1) "
    "with Pi twice (docs/theory.md). (Ours.)",
    f"In every run with at least {LONG} positions the first boundary differs by at most {100 * FIRST_WITHIN:g} % from "
    "that.",
    "largest difference, as a share",
)
T3 = Claim(
    "T3",
    "What ends the second plateau is the growth of the heads' differences in the residual of heads that are alike: a "
    "start ten times as even waits until they have grown ten times as much. (Ours.)",
    "Least squares over the runs that differ in noise alone: log Lambda at the second boundary rises against "
    f"log(1/sigma) with a slope within {SLOPE_WITHIN:g} of 1; all of these boundaries are met.",
    "slope",
)
T4 = Claim(
    "T4",
    "The second stage's wait grows faster than the logarithm of 1/sigma and slower than any power of it: like the "
    "square of the logarithm. (Ours.)",
    "Over the runs that differ in noise alone, from each to the next with less: what t_2 - t_1 gains per unit of "
    "log(1/sigma) rises, and what log(t_2 - t_1) gains per unit falls; all boundaries are met.",
    "slope of log(t_2 - t_1) against log(1/sigma) between the two runs with least noise",
)
T5 = Claim(
    "T5",
    "The differences of the heads reach 1, T sigma Lambda = 1, about when the second stage ends, whatever T, the "
    "strengths, the heads and the noise are. (Ours.)",
    f"In every run the second boundary is met within a factor of {FACTOR:g} of the time that is foretold so.",
    "factor that is furthest from 1",
)


@judged
def first_stage_is_a_power_of_length(claim: Claim, *runs: StageTimesRun) -> Finding:
    """The exponent of T in t_1, in every seed."""
    chosen = along(runs, "length")
    if len(chosen) < 3:
        return claim.not_run("It needs three lengths.")
    times = boundary(chosen, 0)
    lengths = np.array([[settings.length] for settings, _ in chosen])
    exponents = fit_power_laws(lengths, times.T).exponents[:, 0]
    wanted = EXPONENT[runs[0][0].projections]
    return claim.finding(
        chosen, exponents, np.abs(exponents - wanted) <= EXPONENT_WITHIN, f"Wanted: {wanted:g}. {censored(chosen)}"
    )


@judged
def first_stage_takes_what_the_formula_says(claim: Claim, *runs: StageTimesRun) -> Finding:
    """t_1 against its closed form, in every seed; the worst of the runs."""
    chosen = [run for run in runs if run[0].length >= LONG]
    if not chosen:
        return claim.not_run(f"It needs a run with at least {LONG} positions.")
    times, wanted = boundary(chosen, 0), np.stack([run[1].facts["first_stage"] for run in chosen])
    off = np.where(np.isfinite(times), times, np.nan) / wanted - 1
    worst = worst_of(off, np.abs(off))
    within = np.abs(worst) <= FIRST_WITHIN
    return claim.finding(chosen, worst, within, f"Medians over seeds, run by run: {listed(chosen, off, '+.1%')}.")


@judged
def differences_grow_as_foretold(claim: Claim, *runs: StageTimesRun) -> Finding:
    """log Lambda(t_2) against log(1/sigma), in every seed."""
    chosen = along(runs, "noise")
    if len(chosen) < 3:
        return claim.not_run("It needs three levels of noise.")
    growth = np.stack([run[1].facts["growth"] for run in chosen])
    found = slopes(evenness(chosen), growth.T)
    held = np.isfinite(boundary(chosen, 1)).all(axis=0) & (np.abs(found - 1) <= SLOPE_WITHIN)
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
def second_stage_ends_when_foretold(claim: Claim, *runs: StageTimesRun) -> Finding:
    """t_2 over the time at which T sigma Lambda = 1, in every seed; the worst of the runs."""
    times, wanted = boundary(runs, 1), np.stack([run[1].facts["foretold"] for run in runs])
    known = np.isfinite(times) & np.isfinite(wanted)
    factors = np.where(known, times, np.nan) / np.where(known, wanted, np.nan)
    worst = worst_of(factors, np.abs(np.log(factors)))
    held = known.all(axis=0) & (np.abs(np.log(worst)) <= np.log(FACTOR))
    detail = f"Medians over seeds, run by run: {listed(runs, factors, '.2f')}. {censored(runs)}"
    return claim.finding(runs, worst, held, detail)


def along(runs: Sequence[StageTimesRun], factor: str) -> list[StageTimesRun]:
    """Those that differ from the first run in `factor` alone, and the first run, in order; less noise comes later."""
    base = runs[0][0]
    chosen = [run for run in runs if replace(run[0], **{factor: getattr(base, factor), "last": base.last}) == base]
    return sorted(chosen, key=lambda run: getattr(run[0], factor), reverse=factor == "noise")


def boundary(runs: Sequence[StageTimesRun], stage: int) -> np.ndarray:
    """When stage 0, 1, .. ends: (run, seed); infinite if it does not."""
    return np.stack([np.asarray(run[1].facts["boundaries"])[:, stage] for run in runs])


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
    """How many stages had not ended at the last time; nothing if all had."""
    ends = [np.asarray(run[1].facts["boundaries"]) for run in runs]
    never, all_of_them = sum(int(np.sum(~np.isfinite(end))) for end in ends), sum(end.size for end in ends)
    return f"{never} of {all_of_them} stages had not ended by the last time." if never else ""
