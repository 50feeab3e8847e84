"""A cell of stage times: when every seed's flow ends each stage, beside what the theory says of it."""

import numpy as np
from jaxtyping import Float

from headway.records import Cell, Trajectory
from headway.settings import StageTimesSettings
from headway.theory import geometric, log_times, reduced_problem
from headway.theory.simulate import boundaries, last_losses
from headway.theory.stage_times import first_stage, growth_rate, log_growth
from headway.theory.start import logit_starts

POINTS = 400
"""Times at which the growth of differences is known; it is interpolated between them."""


def stage_times(cell: Cell) -> Trajectory:
    """Facts only; a stage that has not ended by the last time ends at infinity.

    boundaries     (seed, feature)    when the loss is half-way from plateau i to plateau i + 1
    first_stage    (seed,)            `theory.stage_times.first_stage`, the same for all seeds, as are ..
    foretold       (seed,)            .. predicted: when T sigma Lambda = 1; infinite if not by the last time, and ..
    growth_rate    (seed,)            .. g in log Lambda ~ g sqrt(t)
    growth         (seed,)            log Lambda(t_2); NaN where there is no t_2
    last_loss      (seed,)            the loss at the last time, with weight decay only

    Weight decay moves the boundaries; the theory is about the flow without it.
    """
    settings: StageTimesSettings = cell.settings
    sizes = {"length": settings.length, "heads": settings.head_count, "projections": settings.projections}
    problem = reduced_problem(geometric(settings.features, settings.ratio, settings.base), **sizes)
    start, decay = logit_starts(problem, cell.seeds, settings.noise**0.5), settings.weight_decay
    ends = boundaries(problem, start, end=settings.last, decay=decay)
    times = log_times(1e-3, settings.last, POINTS)
    growth = log_growth(np.asarray(problem.strengths), times, **sizes)
    told = {
        "first_stage": first_stage(float(problem.strengths[0]), **sizes),
        "foretold": reaches(times, growth, -np.log(settings.length * settings.noise**0.5)),
        "growth_rate": growth_rate(np.asarray(problem.strengths), **sizes),
    }
    second = ends[:, 1]
    facts = {name: np.full(len(cell.seeds), value) for name, value in told.items()}
    grown = np.where(np.isfinite(second), np.interp(second, times, growth), np.nan)
    if decay:
        facts["last_loss"] = last_losses(problem, start, end=settings.last, decay=decay)
    return Trajectory(cell.seeds, {}, {}, {}, facts={"boundaries": ends, "growth": grown, **facts})


def reaches(times: Float[np.ndarray, " time"], values: Float[np.ndarray, " time"], level: float) -> float:
    """The first time from which on `values` lie above `level`, by a straight line between two times; or infinity."""
    below = np.flatnonzero(values < level)
    if len(below) == len(values) or (len(below) and below[-1] == len(values) - 1):
        return np.inf
    if not len(below):
        return float(times[0])
    at = below[-1]
    return float(np.interp(level, values[at : at + 2], times[at : at + 2]))
