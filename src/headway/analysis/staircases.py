"""Made loss curves that carry their own answer, and how well the stage detector finds it.

python -m headway.analysis.staircases [curves per cell]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headway.analysis.plateaus import stages_from_loss

Array = np.ndarray
Shape = Callable[[Array, float], Array]
"""(log of time over the drop's half-way time, blur) -> share of the drop that is done."""


@dataclass(frozen=True)
class Staircase:
    """A loss curve and what a perfect reader would say about it."""

    times: Array
    loss: Array
    count: int
    """Number of drops, hence of stages."""
    boundaries: tuple[float, ...]
    """Half-way times of all drops but the first."""
    levels: tuple[float, ...]
    """The plateau after each drop."""


def sigmoid(x: Array, blur: float) -> Array:
    """1 / (1 + e^(-x / blur)): a drop that is symmetric in log-time."""
    return 0.5 * (1 + np.tanh(x / (2 * blur)))


def escape(x: Array, blur: float) -> Array:
    """A logistic in plain time, of width blur x half-way time: exponential growth out of a saddle."""
    return 0.5 * (1 + np.tanh((np.exp(np.minimum(x, 50.0)) - 1) / (2 * blur)))


def relaxation(x: Array, blur: float) -> Array:
    """A sudden start, e^(-2 blur) before half-way, and an exponential approach to the next level."""
    onset = math.exp(-2 * blur)
    return -np.expm1(-math.log(2) * np.maximum(np.exp(np.minimum(x, 50.0)) - onset, 0.0) / (1 - onset))


def evaluation_times(steps: int = 2000, points: int = 120) -> Array:
    """0 and whole steps, evenly spaced in log-time: `points`, less those that coincide at the start."""
    return np.unique(np.concatenate([[0.0], np.round(np.geomspace(1, steps, points))]))


def made_staircase(
    rng: np.random.Generator,
    *,
    drops: tuple[float, ...],
    at: tuple[float, ...],
    blur: float = 0.05,
    noise: float = 0.0,
    shape: Shape = sigmoid,
    floor: float = 0.0,
    drift: float = 0.0,
    overfitting: float = 0.0,
    times: Array | None = None,
) -> Staircase:
    """loss(t) = floor + sum_k drops[k] (1 - shape(log(t / at[k]), blur)) + noise.

    `at` are the half-way times. `noise` is the standard deviation of a value, `drift` a further fall
    spread evenly over log-time, `overfitting` the rise per unit of log-time after the last drop.
    """
    if len(drops) != len(at):
        raise ValueError(f"got {len(drops)} drops and {len(at)} times, but each drop needs a half-way time.")
    times = evaluation_times() if times is None else np.asarray(times, float)
    with np.errstate(divide="ignore"):
        log_times = np.maximum(np.log(times), -50.0)
    loss = floor + sum(drops) - drift * np.log1p(times) / np.log1p(times[-1])
    for drop, half_way in zip(drops, at, strict=True):
        loss = loss - drop * shape(log_times - math.log(half_way), blur)
    if at:
        loss = loss + overfitting * np.maximum(log_times - math.log(1.5 * at[-1]), 0.0)
    return Staircase(
        times=times,
        loss=loss + noise * rng.normal(size=len(times)),
        count=len(drops),
        boundaries=tuple(at[1:]),
        levels=tuple(floor + sum(drops[k + 1 :]) for k in range(len(drops))),
    )


def random_staircase(
    rng: np.random.Generator, *, noise: float, blur: float, times: Array | None = None, **more: float
) -> Staircase:
    """1 to 4 drops of falling size at random times up to step 1000, in one of the three shapes.

    `noise` is in units of the smallest drop, which is at least 4 % of the descent. `blur` is in units of
    the smallest log-time between drops, a factor of 1.65 to 7.4 in time: at 0.2 two equal sigmoids leave
    half of their peak rate between them, at 0.38 they are one.
    """
    count = int(rng.integers(1, 5))
    while True:
        ratio = rng.uniform(1.3, 4.0)
        drops = 3.0 * ratio ** -np.arange(count) * rng.uniform(0.8, 1.25, count)
        if drops.min() >= 0.04 * drops.sum():
            break
    while True:
        gaps = rng.uniform(0.5, 2.0, count - 1)
        places = math.log(rng.uniform(5, 30)) + np.concatenate([[0.0], np.cumsum(gaps)])
        if places[-1] < math.log(1000):
            break
    return made_staircase(
        rng,
        drops=tuple(drops.tolist()),
        at=tuple(np.exp(places).tolist()),
        blur=blur * float(gaps.min(initial=2.0)),
        noise=noise * float(drops.min()),
        shape=(sigmoid, escape, relaxation)[int(rng.integers(3))],
        floor=float(rng.uniform(0, 1)),
        times=times,
        **more,
    )


def smooth_decays(rng: np.random.Generator, noise: float) -> dict[str, Array]:
    """Curves on `evaluation_times()` without a second stage: flat, rising, or falling once, in many ways."""
    times = evaluation_times()
    curves = {
        "flat": np.ones(len(times)),
        "rising": 1 + 0.1 * np.log1p(times),
        "exponential": 3 * np.exp(-times / rng.uniform(3, 500)),
        "power law": 3 * (1 + times / rng.uniform(1, 100)) ** -rng.uniform(0.2, 2.0),
        "logarithm": 3 - 0.3 * np.log1p(times),
        "exponential, then drift": 3 * np.exp(-times / 10) - 0.02 * np.log1p(times),
    }
    return {name: curve + noise * rng.normal(size=len(times)) for name, curve in curves.items()}


def accuracy(noise: float, blur: float, curves: int, seed: int = 0) -> tuple[float, float]:
    """(share of staircases with the right number of stages, median |log(boundary / true one)| of those)."""
    rng = np.random.default_rng(seed)
    right, errors = 0, []
    for _ in range(curves):
        made = random_staircase(rng, noise=noise, blur=blur)
        found = stages_from_loss(made.times, made.loss)
        if found.count == made.count:
            right += 1
            errors += np.abs(np.log(np.array(found.boundaries) / np.array(made.boundaries))).tolist()
    return right / curves, float(np.median(errors)) if errors else math.nan


def accuracy_table(curves: int = 100) -> str:
    """Accuracy over noise and blur, and stages found in curves that fall once or not at all, in Markdown."""
    blurs = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25)
    lines = ["| noise \\ blur | " + " | ".join(f"{blur:g}" for blur in blurs) + " |", "|---" * 7 + "|"]
    for noise in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4):
        cells = []
        for blur in blurs:
            share, error = accuracy(noise, blur, curves)
            cells.append(f"{share:.0%}, {'-' if math.isnan(error) else format(error, '.1%')}")
        lines.append(f"| {noise:g} | " + " | ".join(cells) + " |")
    lines += ["", "| curve | 0 stages | 1 stage | more |", "|---|---|---|---|"]
    counts: dict[str, list[int]] = {}
    rng = np.random.default_rng(1)
    for noise in (0.0, 0.003, 0.03, 0.3):
        for _ in range(curves):
            for name, curve in smooth_decays(rng, noise).items():
                counts.setdefault(name, []).append(stages_from_loss(evaluation_times(), curve).count)
    for name, found in counts.items():
        none, one = found.count(0), found.count(1)
        lines.append(f"| {name} | {none} | {one} | {len(found) - none - one} |")
    return "\n".join(lines)


def tally(noise: float, blur: float, curves: int, times: Array, seed: int) -> tuple[int, int]:
    """(staircases with the right number of stages, with more than there are)."""
    rng = np.random.default_rng(seed)
    made = [random_staircase(rng, noise=noise, blur=blur, times=times) for _ in range(curves)]
    found = [stages_from_loss(each.times, each.loss).count - each.count for each in made]
    return found.count(0), sum(more > 0 for more in found)


def further_table(curves: int = 100) -> str:
    """Seeds that no threshold was chosen with, and other numbers of evaluations, in Markdown."""
    usual = evaluation_times()
    asked = [(noise, blur, usual) for noise, blur in ((0.02, 0.1), (0.05, 0.1), (0.1, 0.1), (0.05, 0.15))]
    asked += [(0.03, 0.08, times) for times in (evaluation_times(points=30), evaluation_times(points=60))]
    asked.append((0.03, 0.08, np.arange(2001.0)))
    lines = ["| noise | blur | evaluations | right | more | of |", "|---|---|---|---|---|---|"]
    for noise, blur, times in asked:
        right, more = tally(noise, blur, curves, times, seed=2)
        lines.append(f"| {noise:g} | {blur:g} | {len(times)} | {right} | {more} | {curves} |")
    return "\n".join(lines)


if __name__ == "__main__":
    curves = tuple(map(int, sys.argv[1:2]))
    sys.stdout.write(f"{accuracy_table(*curves)}\n\n{further_table(*curves)}\n")
