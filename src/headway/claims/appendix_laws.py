"""Paper B's laws of transformers as its appendix fits and varies them: C d^a (T/B)^b, one power for T and B.

What a fit of ours unties, and what comes before the plateau, stands beside. A published power counts as found within
0.2, as before; whether it lies inside the interval over seeds is reported with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from headway.analysis import fit_power_laws, interval_over_seeds, over_seeds
from headway.analysis.crossings import first_at_most
from headway.claims.claim import AnyRun, Claim, judged
from headway.claims.plateau_laws import (
    LOCATION,
    LONGEST,
    PublishedLaw,
    censored,
    ending,
    fit,
    lasting,
    lasts,
    plateaus,
    powers_by_end,
    sizes,
    task_of,
)
from headway.records import Finding

TIED = PublishedLaw(LOCATION.constant, {"d": LOCATION.powers["d"], "(T/B)": LOCATION.powers["T"]})
"""The published fit: one power for T and for 1/B."""
SETTLED = 0.6
"""Loss below which what a model answers by chance at its start is unlearnt: silence costs 0.5."""
FITS = 1.25
"""A law fits where it misses plateaus by this factor or less, in the root mean square of logarithms."""
MADE = 0.1
"""By so much a power changes that counts as changed."""


def inside(values: np.ndarray, published: float) -> str:
    """Whether the published power lies inside the interval over seeds."""
    low, high = interval_over_seeds(values)
    if not np.isfinite(low):
        return ""
    return f"The published {published:g} is {'' if low <= published <= high else 'not '}inside {low:.2f} to {high:.2f}."


def read_otherwise(runs: Sequence[AnyRun], law: PublishedLaw, factor: str, levels: Sequence[float]) -> str:
    """The same power where plateaus end at other losses, and where those that never ended did so with training."""
    place = list(law.powers).index(factor)
    each = powers_by_end(runs, law, factor, levels)
    words = f"The exponent of {factor} is {', '.join(each)}." if each else ""
    lasted = plateaus(runs)
    if not each or np.isfinite(lasted).all():
        return words
    last = np.array([run.times("loss")[-1] for _, run in runs])
    counted_all = np.where(np.isnan(lasted), last, lasted)
    whole = fit_power_laws(sizes(law.powers, [settings for settings, _ in runs]), counted_all)
    low, high = interval_over_seeds(whole.exponents[:, place])
    counted = f"{np.median(whole.exponents[:, place]):.2f} ({low:.2f} to {high:.2f})"
    return f"{words} It is {counted} if plateaus that never ended are counted as ending with training.".strip()


@judged
def tied_exponent(
    claim: Claim,
    *runs: AnyRun,
    law: PublishedLaw,
    factor: str,
    beside: Sequence[str],
    levels: Sequence[float] = (),
) -> Finding:
    """Whether the exponent of one factor is the published one, with the law in the factors `beside` as a second fit.

    The power is also reported for plateaus that end at other `levels`.
    """
    place = list(law.powers).index(factor)
    every = [settings for settings, _ in runs]
    if len(np.unique(sizes(law.powers, every)[:, place])) < 2:
        return claim.not_run("It needs runs with two values of this factor.")
    found = fit(law.powers, runs)
    powers = found.exponents[:, place]
    changing = [name for name in beside if len(np.unique(sizes([name], every))) > 1]
    untied = fit(changing, runs).in_words(changing) if list(law.powers) != changing else ""
    words = [lasts(found, law.powers), inside(powers, law.powers[factor])]
    apart = " and ".join(name for name in changing if name not in law.powers)
    words += [f"With {apart} fitted separately: {untied}."] if untied else []
    words += [read_otherwise(runs, law, factor, levels)] if levels else []
    return claim.finding(
        runs, powers, np.abs(powers - law.powers[factor]) <= law.near, " ".join([*words, censored(runs)]).strip()
    )


@judged
def settles_first(claim: Claim, *runs: AnyRun, share: float) -> Finding:
    """first time below 0.6 / plateau: how much of what is called a plateau is spent on forgetting the start."""
    times = [first_at_most(run.times("loss"), run["loss"], SETTLED) for _, run in runs]
    before, lasted = np.stack(times, axis=1), plateaus(runs)
    ratio = before / lasted
    known = np.isfinite(ratio)
    largest = np.where(known.any(axis=1), np.max(np.where(known, ratio, -np.inf), axis=1), np.nan)
    typical = over_seeds(before.ravel())
    words = f"The loss is below {SETTLED:g} after {typical.median:.0f} steps (median)." if typical.seeds else ""
    return claim.finding(runs, largest, largest <= share, f"{words} {censored(runs)}".strip())


@judged
def own_law(claim: Claim, *runs: AnyRun) -> Finding:
    """c d^a T^b: whether plateaus grow with both by a power law, and by which.

    Three sizes always lie on one: a seed of which no more plateaus ended cannot be judged.
    """
    factors = ("d", "T")
    if any(len(np.unique(sizes([name], [settings for settings, _ in runs]))) < 2 for name in factors):
        return claim.not_run("It needs runs with two values of d and of T.")
    found = fit(factors, runs)
    judgeable = np.sum(np.isfinite(plateaus(runs)), axis=1) > 1 + len(factors)
    parts = {
        "grows with d": found.exponents[:, 0] > 0,
        "grows with T": found.exponents[:, 1] > 0,
        "a power law": np.where(judgeable, found.errors <= np.log(FITS), np.nan),
    }
    words = [lasts(found, factors)]
    for name, powers in zip(factors, found.exponents.T, strict=True):
        low, high = interval_over_seeds(powers)
        words += [f"Exponent of {name}: {low:.2f} to {high:.2f}."] if np.isfinite(low) else []
    words += [] if judgeable.all() else ["Where no more than three plateaus of a seed ended, any power law fits them."]
    holds = np.all([part == 1 for part in parts.values()], axis=0)
    measured = np.where(judgeable, found.exponents[:, 1], np.nan)
    return claim.finding(runs, measured, holds, " ".join([*words, censored(runs)]).strip(), parts)


Named = Mapping[str, Sequence[AnyRun]]


def start_makes_power(claim: Claim, usual: Sequence[AnyRun], others: Named, *, of: str, least: float) -> Finding:
    """power with our usual models - power with variants `of` another start, at the same sizes."""
    groups = {"": list(usual), **{name: list(runs) for name, runs in others.items()}}
    lengths = {name: len(runs) for name, runs in groups.items()}
    if of not in groups or min(lengths.values()) < len(groups[of]) or len(groups[of]) < 3:
        return claim.not_run()
    places = np.cumsum([0, *lengths.values()])

    @judged
    def compare(claim: Claim, *runs: AnyRun) -> Finding:
        powers, words = {}, []
        for name, first, last in zip(groups, places[:-1], places[1:], strict=True):
            found = fit(("d", "T"), runs[first:last])
            powers[name] = found.exponents[:, 1]
            law = found.in_words(("d", "T"))
            words.append(f"{name or 'Unchanged'}: {law}" if law else f"{name}: no law")
        change = powers[""] - powers[of]
        detail = f"{'; '.join(words)} (medians). {censored(runs)}".strip()
        return claim.finding(runs, change, change >= least, detail)

    return compare(claim, *(run for own in groups.values() for run in own))


@judged
def sooner_with_copies(claim: Claim, *runs: AnyRun) -> Finding:
    """plateau(B) falls with every larger B, at the same T and d."""
    lasted = lasting(runs)
    falls, ratios = [], []
    for own in _alike(runs, lambda task: (task.length, task.dimension)):
        order = sorted(own, key=lambda place: task_of(runs[place][0]).copies)
        if len(order) > 1:
            row = lasted[:, order]
            falls.append(np.all(row[:, 1:] < row[:, :-1], axis=1))
            ratios.append(row[:, 0] / row[:, -1])
    if not falls:
        return claim.not_run("It needs two numbers of copies at the same sizes.")
    least = np.min(ratios, axis=0)
    value = np.where(np.isfinite(least), least, np.nan)
    sooner = np.all(falls, axis=0)
    return claim.finding(runs, value, sooner, censored(runs, LONGEST), {"sooner with every larger B": sooner})


@judged
def sooner_across_samples(claim: Claim, *runs: AnyRun, end: float) -> Finding:
    """t(p = 0) / min_p t(p) > 1 at every d, and larger at the largest d than at the smallest; t: to a loss of `end`."""
    runs = tuple(ending(runs, end))
    lasted = lasting(runs)
    gains: dict[int, np.ndarray] = {}
    for own in _alike(runs, lambda task: (task.length, task.dimension)):
        none = [place for place in own if task_of(runs[place][0]).repeated == 0]
        some = [place for place in own if task_of(runs[place][0]).repeated > 0]
        if none and some:
            ratio = lasted[:, none[0]] / np.min(lasted[:, some], axis=1)
            gains[task_of(runs[own[0]][0]).dimension] = ratio
    if len(gains) < 2:
        return claim.not_run("It needs shares with and without repetition at two dimensions.")
    small, large = gains[min(gains)], gains[max(gains)]
    parts = {"sooner at every d": np.all([each > 1 for each in gains.values()], axis=0), "more so": large > small}
    words = ", ".join(f"{np.median(each):.2f} at d = {d}" for d, each in sorted(gains.items()))
    rates = sorted({float(rate) for _, run in runs for rate in run.facts.get("chosen_rate", ())})
    chosen = f" Learning rates that were chosen: {', '.join(f'{rate:g}' for rate in rates)}." if rates else ""
    detail = f"The best share shortens it by a factor of {words} (medians).{chosen} {censored(runs, LONGEST)}".strip()
    value = np.where(np.isfinite(large / small), large / small, np.nan)
    return claim.finding(runs, value, np.all(list(parts.values()), axis=0), detail, parts)


def _alike(runs: Sequence[AnyRun], key: Callable[[Any], Any]) -> list[list[int]]:
    """Places of the runs of which the key of the task is the same."""
    groups: dict[Any, list[int]] = {}
    for place, (settings, _) in enumerate(runs):
        groups.setdefault(key(task_of(settings)), []).append(place)
    return list(groups.values())
