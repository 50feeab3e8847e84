"""Made-up stage times that follow the laws of docs/theory.md exactly; nothing here was solved."""

from __future__ import annotations

import numpy as np

from headway.experiments.stage_times import EXPERIMENT
from headway.records import Trajectory
from headway.settings import StageTimesSettings

RATE = 2.0
"""log Lambda(t) = RATE sqrt(t)."""


def made_stage_times(settings: StageTimesSettings, seeds: tuple[int, ...] = (0, 1, 2)) -> Trajectory:
    """t_1 = c T^(n/2) / m_1, T sigma Lambda(t_2) a little above 1, t_3 = 3 t_2; a little later from seed to seed."""
    strength = settings.base * settings.ratio ** (settings.features - 1)
    first = settings.length ** (settings.projections / 2) / strength
    # Whatever the length, so that t_2 comes after t_1.
    wait = (10 - np.log(40 * settings.noise**0.5)) ** 2 / RATE**2
    late = 1 + 0.01 * np.arange(len(seeds))
    ends = late[:, None] * (first * np.array([1.0, 0, 0]) + (first + wait) * np.array([0, 1.0, 3.0]))
    count = settings.features
    boundaries = np.concatenate([ends, ends[:, -1:] * np.arange(2, 2 + max(0, count - 3))], axis=1)[:, :count]
    facts = {
        "boundaries": boundaries,
        "first_stage": np.full(len(seeds), first),
        "foretold": np.full(len(seeds), first + wait),
        "growth_rate": np.full(len(seeds), RATE),
        "growth": np.full(len(seeds), -0.5 * np.log(settings.noise)),
    }
    if settings.weight_decay:
        facts["boundaries"] = (1 + settings.weight_decay) * boundaries
        facts["boundaries"][:, -1] = np.inf if settings.weight_decay > 0.05 else facts["boundaries"][:, -1]
        facts["last_loss"] = settings.weight_decay * late
    return Trajectory(seeds, {}, {}, {}, facts)


def made_runs(projections: int) -> list[tuple[StageTimesSettings, Trajectory]]:
    """The quick grid, the base first."""
    grid = "quick" if projections == 1 else "printed"
    return [(settings, made_stage_times(settings)) for settings in EXPERIMENT.grids[grid].values()]
