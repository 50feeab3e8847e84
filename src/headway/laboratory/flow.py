"""A cell of the gradient flow: its settings become a problem, and every seed a start."""

import numpy as np

from headway.records import Cell, Trajectory
from headway.settings import FlowSettings
from headway.theory import Problem, full_problem, geometric, log_times, reduced_problem, simulate


def flow(cell: Cell) -> Trajectory:
    """The flow from every seed's start, on the clock "time"; see `theory.simulate` and `kept`."""
    settings: FlowSettings = cell.settings
    times = log_times(settings.first, settings.last, settings.points)
    whole = simulate(
        problem_of(settings), seeds=cell.seeds, noise=settings.noise**0.5, times=times, decay=settings.weight_decay
    )
    return kept(whole, settings.features)


def problem_of(settings: FlowSettings) -> Problem:
    """What there is to learn: in coordinates, unless a dimension is asked for."""
    strengths = geometric(settings.features, settings.ratio, settings.base)
    length, heads, projections = settings.length, settings.heads, settings.projections
    if settings.dimension is None:
        return reduced_problem(strengths, length=length, heads=heads, projections=projections)
    return full_problem(strengths, length=length, heads=heads, projections=projections, dimension=settings.dimension)


def kept(whole: Trajectory, features: int) -> Trajectory:
    """What is stored: attention and parts of the loss at the positions that hold a feature, in single precision.

        attention, loss_parts    (..., feature's position)    as they are
        attention_elsewhere      (seed, time, head)           the most that any one of the other positions gets, or 0

    Nothing is lost that is shown: attention sums to 1, and the parts to the loss. All positions would be ten times as
    much, nearly all of it the start's noise.
    """
    beyond = whole["attention"][..., features:]
    arrays = {
        "loss": whole["loss"],
        "attention": whole["attention"][..., :features],
        "attention_elsewhere": beyond.max(axis=-1, initial=0.0),
        "values": whole["values"],
        "loss_parts": whole["loss_parts"][..., :features],
    }
    return Trajectory(
        seeds=whole.seeds,
        clocks=whole.clocks,
        arrays={name: np.asarray(values, np.float32) for name, values in arrays.items()},
        clock_of=dict.fromkeys(arrays, "time"),
        facts=whole.facts,
    )
