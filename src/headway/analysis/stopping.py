"""Stop where t > f t*, t* the best step so far: a patience in proportion to time, shorter once heads have specialised.

A model that learns in stages overfits within a stage, and the next one may still be ahead: the held-out loss rises and
then falls below its former minimum. A patience of so many steps is too short for late stages or too long for early
ones. Stages last in proportion to the time at which they come, so patience is a factor of time here. None of the rules
knows the truth: they see the held-out loss, and what heads attend to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from headway.analysis.arrays import of_any_arrays
from headway.analysis.stages import finite_part

Array = np.ndarray
Why = Literal["rise", "specialised", "patience", "end"]


@dataclass(frozen=True)
class Stopped:
    """When training ends, and which step is kept."""

    time: float
    """The evaluation at which it ends; the last one if no rule applied."""
    best: float
    """The step with the lowest held-out loss until then: its parameters are kept."""
    why: Why
    """rise: overfitted; specialised: heads share nothing, so no stage is ahead; patience: waited long; end: never."""


@of_any_arrays
def stop_by_stages(
    times: Array,
    held_out: Array,
    overlap: Array | None = None,
    *,
    rise: float = 0.1,
    patient: float = 3.0,
    quick: float = 1.25,
    specialised: float = 0.5,
    least_evaluations: int = 10,
) -> Stopped:
    """The first evaluation t, with t* the step of the lowest held-out loss L so far, at which one of these holds:

        rise          L(t) - L(t*) > rise (L(0) - L(t*))
        specialised   t > quick t* and overlap(t) < specialised max overlap so far
        patience      t > patient t*

    `overlap` is any index of how far heads attend to the same tokens, such as `competition` of attention by lag: it
    falls when each has found its own, after which nothing is left to wait for. Without it, or where it is NaN, the
    second rule is not used. What comes after t is not looked at. No rule is used in the first `least_evaluations`: a
    model that begins on a plateau, where a factor of time means nothing yet, needs as many as that lasts. One seed at
    a time.
    """
    times, values = _one_seed(times, held_out)
    shared = np.full(len(times), np.nan) if overlap is None else _kept(overlap, held_out)
    best, most = 0, -np.inf
    for now in range(len(times)):
        if values[now] < values[best]:
            best = now
        most = max(most, shared[now]) if np.isfinite(shared[now]) else most
        if now < least_evaluations:
            continue
        found: Why | None = None
        if values[now] - values[best] > rise * (values[0] - values[best]) > 0:
            found = "rise"
        elif times[now] > quick * times[best] and shared[now] < specialised * most:
            found = "specialised"
        elif times[now] > patient * times[best]:
            found = "patience"
        if found is not None:
            return Stopped(float(times[now]), float(times[best]), found)
    return Stopped(float(times[-1]), float(times[best]), "end")


@of_any_arrays
def stop_by_patience(times: Array, held_out: Array, patience: float) -> Stopped:
    """The first evaluation more than `patience` steps after the lowest held-out loss so far: the usual rule."""
    times, values = _one_seed(times, held_out)
    best = 0
    for now in range(len(times)):
        if values[now] < values[best]:
            best = now
        if times[now] - times[best] > patience:
            return Stopped(float(times[now]), float(times[best]), "patience")
    return Stopped(float(times[-1]), float(times[best]), "end")


def _one_seed(times: Array, held_out: Array) -> tuple[Array, Array]:
    """Its finite losses and their times."""
    times, values = finite_part(times, held_out)
    if values.ndim != 1 or not len(times):
        raise ValueError(f"got losses of shape {np.shape(held_out)}, but wanted (time,), at least one of them finite.")
    return times, values


def _kept(overlap: Array, held_out: Array) -> Array:
    """The index at the times at which the loss is known."""
    shared, losses = np.asarray(overlap, np.float64), np.asarray(held_out, np.float64)
    if shared.shape != losses.shape:
        raise ValueError(
            f"got an overlap of shape {shared.shape} and losses of shape {losses.shape}. Pass both at the same times."
        )
    return shared[np.isfinite(losses)]
