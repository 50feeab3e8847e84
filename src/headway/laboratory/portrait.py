"""s' = (1 - y) e_1 + y e_{n+1}, V' = x V_{n+1}*: a plane that the flow of the next head never leaves.

What s' does not attend to stays unattended, as ds'_p/dt is a multiple of s'_p; and dV'/dt is a combination of
V' and of the features n + 1, .. that s' attends to. In the plane, with m = m_{n+1} and Pi applied twice or once,

    dx/dt = y (m - x y)      dy/dt = 2 y^2 (1 - y)^2 x (m - x y)   or   y (1 - y) x (m - x y)

so it rests where x y = m and where y = 0, and phi > 0 where 0 < x y < 2 m. Both fields have a quantity that no orbit
changes, x^2 - log(y / (1 - y)) - 1 / (1 - y) or x^2 + 2 log(1 - y). The second lets orbits end at y = 0.
"""

import jax
import numpy as np
from jaxtyping import Float

from headway.records import Cell, Trajectory
from headway.settings import PortraitSettings
from headway.theory import Problem, State, geometric, log_times, next_head, reduced_problem, solve
from headway.theory.problem import Numbers

ARROWS = (19, 11)
"""Columns and rows of the field that is kept."""
CURVE = 60
"""Points of a curve that is kept."""


def portrait(cell: Cell) -> Trajectory:
    """Orbits from random places, on the clock "time", and what the picture shows besides, the same for every seed.

        orbits      (seed, time, orbit, 2)       x and y
        places      (seed, row, column, 2)       a fact: where
        field       (seed, row, column, 2)       a fact: dx/dt and dy/dt there
        rest        (seed, point, 2)             a fact: where x y = m and nothing moves
        border      (seed, point, 2)             a fact: x y = 2 m, beyond which phi < 0
        lost        (seed, point, 2)             a fact: left of it and below orbits end at y = 0; with Pi once only

    They are kept in single precision, as they are only looked at.
    """
    settings: PortraitSettings = cell.settings
    problem, known = problem_of(settings), settings.known
    times = log_times(settings.first, settings.last, settings.points)
    starts = np.stack([starts_of(settings, seed) for seed in cell.seeds])
    flat = on_plane(problem, known, starts.reshape(-1, 2))
    path = solve(next_head(known), problem, flat, times, tolerance=1e-8)
    orbits = np.moveaxis(to_plane(path, known).reshape(len(cell.seeds), -1, len(times), 2), 1, 2)
    facts = {name: np.stack([values] * len(cell.seeds)) for name, values in _still(settings, problem).items()}
    return Trajectory(
        seeds=cell.seeds,
        clocks={"time": times},
        arrays={"orbits": orbits.astype(np.float32)},
        clock_of={"orbits": "time"},
        facts={name: values.astype(np.float32) for name, values in facts.items()},
    )


def problem_of(settings: PortraitSettings) -> Problem:
    """As many positions as features: the others are not attended to in the plane."""
    strengths = geometric(settings.features, settings.ratio, settings.base)
    return reduced_problem(strengths, length=settings.features, projections=settings.projections)


def on_plane(problem: Problem, known: int, points: Float[np.ndarray, "point 2"]) -> State:
    """V' = x V_{n+1}* and s' = (1 - y) e_1 + y e_{n+1}."""
    x, y = points[:, :1], points[:, 1:]
    unit = np.eye(problem.length)
    return State(x * np.asarray(problem.features)[known], (1 - y) * unit[0] + y * unit[known])


def to_plane(state: State, known: int) -> Float[np.ndarray, "... 2"]:
    """x = <V', V_{n+1}*> in coordinates, y = s'_{n+1}."""
    return np.stack([np.asarray(state.values)[..., known], np.asarray(state.attention)[..., known]], axis=-1)


def field_at(problem: Problem, known: int, points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, "point 2"]:
    """dx/dt and dy/dt."""

    def velocity(values: Numbers, attention: Numbers) -> State:
        return next_head(known)(problem, State(values, attention))

    with jax.enable_x64(True):
        state = on_plane(problem, known, points)
        return to_plane(jax.vmap(velocity)(state.values, state.attention), known)


def starts_of(settings: PortraitSettings, seed: int) -> Float[np.ndarray, "orbit 2"]:
    """One random place in each of columns x rows parts of the picture."""
    draws = np.random.default_rng([seed, 0x9]).uniform(size=(settings.rows, settings.columns, 2))
    corner = np.stack(np.meshgrid(np.arange(settings.columns), np.arange(settings.rows)), axis=-1)
    share = (corner + draws) / [settings.columns, settings.rows]
    left, right = window(settings)
    return (share * [right - left, 1] + [left, 0]).reshape(-1, 2)


def window(settings: PortraitSettings) -> tuple[float, float]:
    """-m .. reach m: what the picture shows along x; along y it shows 0 .. 1."""
    strength = float(geometric(settings.features, settings.ratio, settings.base)[settings.known])
    return -strength, settings.reach * strength


def _still(settings: PortraitSettings, problem: Problem) -> dict[str, np.ndarray]:
    """All that does not move: the field, and the curves that follow from the formulas above."""
    left, right = window(settings)
    columns, rows = ARROWS
    centres = [(np.arange(count) + 0.5) / count for count in ARROWS]
    places = np.stack(np.meshgrid(left + (right - left) * centres[0], centres[1]), axis=-1)
    field = field_at(problem, settings.known, places.reshape(-1, 2)).reshape(rows, columns, 2)
    strength = float(np.asarray(problem.strengths)[settings.known])
    curves = {name: _hyperbola(product, right) for name, product in (("rest", strength), ("border", 2 * strength))}
    if settings.projections == 1:
        x = np.linspace(left, 0, CURVE)
        curves["lost"] = np.stack([x, -np.expm1(-(x**2) / 2)], axis=-1)
    return {"places": places, "field": field, **curves}


def _hyperbola(product: float, right: float) -> Float[np.ndarray, "point 2"]:
    """x y = product, from where it enters the picture at the right to where y = 1."""
    y = np.linspace(product / right, 1, CURVE)
    return np.stack([product / y, y], axis=-1)
