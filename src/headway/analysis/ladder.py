"""Where a model stands among known predictors: the rungs f_{1:i}, or n-gram models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headway.analysis.arrays import of_any_arrays
from headway.analysis.stages import finite_part

Array = np.ndarray


@dataclass(frozen=True)
class Visits:
    """How a model passed a row of predictors; true if it passed them in order."""

    times: tuple[float, ...]
    """When KL to each predictor reaches its minimum."""
    values: tuple[float, ...]
    """That minimum."""
    ordered: bool
    """Each minimum comes strictly after the one before."""
    nearest: tuple[bool, ...]
    """Whether each predictor is the nearest of all when KL to it reaches its minimum."""

    def __bool__(self) -> bool:
        return self.ordered and all(self.nearest)


@of_any_arrays
def nearest_rung(kl: Array) -> Array:
    """argmin_i KL_i, with kl (..., rung); the lower rung where two are equal, -1 where a value is NaN."""
    kl = np.asarray(kl)
    known = np.isfinite(kl).all(axis=-1)
    return np.where(known, np.argmin(np.nan_to_num(kl), axis=-1), -1)


def _minima_of_one(times: Array, kl: Array) -> tuple[Array, Array]:
    """(argmin_t KL_i(t), min_t KL_i(t)) for every column i of kl (time, rung).

    The first time, if the minimum is met twice. Times at which any KL is NaN are left out; without any
    time left both are NaN.
    """
    columns = _columns(kl)
    times, kl = finite_part(times, kl)
    if len(times) == 0:
        return np.full(columns, np.nan), np.full(columns, np.nan)
    lowest = np.argmin(kl, axis=0)
    return times[lowest], kl[lowest, np.arange(columns)]


@of_any_arrays
def minima(times: Array, kl: Array) -> Array:
    """argmin_t KL_i(t): when KL to each predictor reaches its minimum, (..., predictor) of kl (..., time, predictor).

    Not a number where there is no time at which all are known.
    """
    kl = np.asarray(kl)
    seeds = kl.reshape(-1, *kl.shape[-2:])
    return np.stack([_minima_of_one(times, seed)[0] for seed in seeds]).reshape(*kl.shape[:-2], kl.shape[-1])


@of_any_arrays
def visits_in_order(times: Array, kl: Array) -> Visits:
    """KL to column i reaches its minimum before KL to column i + 1, for all i, and column i is the nearest there.

    kl is (time, predictor), the simplest predictor first. For claims about the stages pass the rungs from
    1 on, `kl_rungs[:, 1:]`, because a random model need not start at rung 0; for n-gram models pass all
    references.
    """
    when, values = _minima_of_one(times, kl)
    finite_times, finite_kl = finite_part(times, kl)
    at_minimum = finite_kl[np.searchsorted(finite_times, when[np.isfinite(when)])]
    nearest = tuple(bool(np.argmin(row) == i) for i, row in enumerate(at_minimum))
    return Visits(
        times=tuple(when.tolist()),
        values=tuple(values.tolist()),
        ordered=bool(len(at_minimum) and np.all(np.diff(when) > 0)),
        nearest=nearest,
    )


def _columns(kl: Array) -> int:
    shape = np.shape(kl)
    if len(shape) != 2:
        raise ValueError(f"got KL values of shape {shape}, but wanted (time, rung). Pass one seed at a time.")
    return shape[1]
