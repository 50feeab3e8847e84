"""A made-up run that is saved piece by piece, as a training saves itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.report.made_run import FOUR, made_settings, made_trajectory

from headway.records import Cell, Trajectory
from headway.store import Work

CELL = Cell(made_settings(), FOUR)
OTHER = Cell(replace(CELL.settings, training=replace(CELL.settings.training, learning_rate=0.05)), FOUR)
WHOLE = made_trajectory(CELL.settings)


def piece(after: int, until: int, whole: Trajectory = WHOLE) -> Trajectory:
    """What was measured later than step `after`, up to step `until`."""
    kept = {name: (ticks > after) & (ticks <= until) for name, ticks in whole.clocks.items()}
    return replace(
        whole,
        clocks={name: ticks[kept[name]] for name, ticks in whole.clocks.items()},
        arrays={name: values[:, kept[whole.clock_of[name]]] for name, values in whole.arrays.items()},
        facts={},
    )


def save(work: Work, after: int, until: int, seconds: float) -> None:
    """A checkpoint, with the time that it took to get there; the first goes on from `after=-1`."""
    work.save(piece(after, until), {"weights": np.zeros(3), "seconds": np.array([seconds])}, until)
