"""Humps of the speed of descent: how many stages an eye counts on a loss curve over plain time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from headway.analysis.stages import finite_part

Array = np.ndarray


@dataclass(frozen=True)
class Humps:
    """n humps of -dL/dt have n - 1 dips between them."""

    times: tuple[float, ...] = ()
    """When the descent is fastest in each."""
    dips: tuple[float, ...] = ()
    """The speed between each two of them, relative to the smaller of the two peaks."""

    @property
    def count(self) -> int:
        return len(self.times)


def humps(
    times: Array, loss: Array, *, dip: float = 0.8, smallest: float = 0.02, width: float = 5.0, growth: float = 0.03
) -> Humps:
    """Peaks of v(t) = -dL/dt over linear time, each two of them separated by a dip to `dip` of the smaller or less.

    The loss is first averaged by a Gaussian of the standard deviation width + growth t, in units of time, so that the
    noise of single evaluations makes no peak. A hump in which the loss falls by less than the share `smallest` of its
    whole descent is none. Where evaluations are further apart than a hump, it is not seen.
    """
    times, loss = finite_part(times, loss)
    if loss.ndim != 1:
        raise ValueError(f"got a loss of shape {loss.shape}, but wanted (time,). Pass one seed at a time.")
    if len(times) < 4:
        return Humps()
    smooth = _averaged(times, loss, width + growth * times)
    whole = smooth[0] - smooth.min()
    if whole <= 1e-9 * np.max(np.abs(smooth)):
        return Humps()
    speed, middle = -np.diff(smooth) / np.diff(times), (times[1:] + times[:-1]) / 2
    peaks = _local_peaks(speed)
    while len(peaks) > 1:
        gone = _worst(speed, smooth, peaks, dip, smallest)
        if gone is None:
            break
        peaks = [peak for k, peak in enumerate(peaks) if k != gone]
    valleys = [speed[a : b + 1].min() / min(speed[a], speed[b]) for a, b in pairwise(peaks)]
    return Humps(tuple(float(middle[peak]) for peak in peaks), tuple(float(max(valley, 0.0)) for valley in valleys))


def _averaged(times: Array, loss: Array, spread: Array) -> Array:
    """Local lines through the points, weighted by a Gaussian around each: straight pieces stay as they are."""
    away = times[None] - times[:, None]
    weights = np.exp(-0.5 * (away / spread[:, None]) ** 2)
    total, first, second = (np.sum(weights * away**power, axis=1) for power in range(3))
    level, tilt = weights @ loss, (weights * away) @ loss
    determinant = total * second - first**2
    with np.errstate(divide="ignore", invalid="ignore"):
        fitted = (second * level - first * tilt) / determinant
    return np.where(determinant > 1e-12 * total * np.maximum(second, 1e-300), fitted, level / total)


def _local_peaks(speed: Array) -> list[int]:
    """Where the descent is faster than just before and not slower than just after."""
    padded = np.concatenate([[-np.inf], speed, [-np.inf]])
    return [k for k in range(len(speed)) if speed[k] > 0 and padded[k] < speed[k] >= padded[k + 2]]


def _worst(speed: Array, loss: Array, peaks: list[int], dip: float, smallest: float) -> int | None:
    """Which peak to give up next: beside the shallowest dip the smaller one, then the smallest hump; or none."""
    pairs = list(pairwise(peaks))
    dips = [a + int(np.argmin(speed[a : b + 1])) for a, b in pairs]
    ratios = [speed[at] / min(speed[a], speed[b]) for at, (a, b) in zip(dips, pairs, strict=True)]
    shallow = int(np.argmax(ratios))
    if ratios[shallow] > dip:
        return shallow if speed[peaks[shallow]] < speed[peaks[shallow + 1]] else shallow + 1
    # The loss between two dips: speed[k] lies between loss[k] and loss[k + 1].
    edges = [0, *(at + 1 for at in dips), len(loss) - 1]
    fallen = [float(loss[a] - loss[a : b + 1].min()) for a, b in pairwise(edges)]
    least = int(np.argmin(fallen))
    return least if fallen[least] < smallest * (loss[0] - loss.min()) else None
