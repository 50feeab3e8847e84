"""A made-up portrait: the plane's formulas, and straight lines to the curve in the place of orbits."""

from __future__ import annotations

import numpy as np

from headway.records import Trajectory
from headway.settings import PortraitSettings

SETTINGS = PortraitSettings(points=6, last=100.0)


def made_portrait(settings: PortraitSettings = SETTINGS, seeds: tuple[int, ...] = (0, 1)) -> Trajectory:
    """All that a portrait is stored with; orbits go straight from x = -m / 2 .. 2 m, y = 0.3 to x y = m."""
    m = settings.base * settings.ratio ** (settings.features - 1 - settings.known)
    times = np.concatenate([[0.0], np.geomspace(settings.first, settings.last, settings.points)])
    starts = np.stack([np.linspace(-0.5, 2, 5) * m, np.full(5, 0.3)], axis=-1)
    ends = np.stack([m / np.linspace(0.5, 0.9, 5), np.linspace(0.5, 0.9, 5)], axis=-1)
    orbits = starts + (times / times[-1])[:, None, None] * (ends - starts)
    places = np.stack(np.meshgrid(np.linspace(-0.9, 2.4, 7) * m, np.linspace(0.1, 0.9, 5)), axis=-1)
    y = np.linspace(1 / settings.reach, 1, 9)
    rest = np.stack([m / y, y], axis=-1)
    facts = {
        "places": places,
        "field": closed_form(places, m, settings.projections),
        "rest": rest,
        "border": rest * [2, 1],
    }
    if settings.projections == 1:
        x = np.linspace(-m, 0, 9)
        facts["lost"] = np.stack([x, 1 - np.exp(-(x**2) / 2)], axis=-1)

    def every(values: np.ndarray) -> np.ndarray:
        return np.stack([values] * len(seeds)).astype(np.float32)

    still = {name: every(values) for name, values in facts.items()}
    return Trajectory(seeds, {"time": times}, {"orbits": every(orbits)}, {"orbits": "time"}, still)


def closed_form(points: np.ndarray, m: float, projections: int) -> np.ndarray:
    """dx/dt = y (m - x y), dy/dt = x (m - x y) times 2 y^2 (1 - y)^2, or times y (1 - y)."""
    x, y = points[..., 0], points[..., 1]
    pull = y * (1 - y) if projections == 1 else 2 * (y * (1 - y)) ** 2
    return np.stack([y, pull * x], axis=-1) * (m - x * y)[..., None]
