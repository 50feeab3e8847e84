"""A cell of the gradient flow: its settings become a problem, and every seed a start."""

from headway.records import Cell, Trajectory
from headway.settings import FlowSettings
from headway.theory import Problem, full_problem, geometric, log_times, reduced_problem, simulate


def flow(cell: Cell) -> Trajectory:
    """The flow from every seed's start, on the clock "time"; see `theory.simulate`."""
    settings: FlowSettings = cell.settings
    times = log_times(settings.first, settings.last, settings.points)
    return simulate(problem_of(settings), seeds=cell.seeds, noise=settings.noise**0.5, times=times)


def problem_of(settings: FlowSettings) -> Problem:
    """What there is to learn: in coordinates, unless a dimension is asked for."""
    strengths = geometric(settings.features, settings.ratio, settings.base)
    length, heads, projections = settings.length, settings.heads, settings.projections
    if settings.dimension is None:
        return reduced_problem(strengths, length=length, heads=heads, projections=projections)
    return full_problem(strengths, length=length, heads=heads, projections=projections, dimension=settings.dimension)
