"""The smallest real run: a transformer of two heads on a chain of five tokens, twenty samples, twelve steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from headway.presets import MINIMAL
from headway.records import Cell, Trajectory
from headway.settings import EvaluationSettings, TrainingSettings
from headway.tasks.chain import Chain
from headway.tasks.run import Settings
from headway.training.group import Group

TINY = Settings(
    task=Chain(vocab=5, blocks=((1,), (2,)), horizon=4),
    model=replace(MINIMAL, heads=2),
    training=TrainingSettings(learning_rate=0.05, schedule="constant", batch=8, samples=20, steps=12, test_samples=16),
    evaluation=EvaluationSettings(points=4, also=(7,), snapshots=3),
)
EVALUATIONS = [0, 1, 2, 5, 7, 12]


def changed(settings: Settings, **parts: dict[str, Any]) -> Settings:
    """changed(TINY, training={"batch": 4}): the settings with some numbers of some parts replaced."""
    return replace(settings, **{name: replace(getattr(settings, name), **part) for name, part in parts.items()})


class Outcome(NamedTuple):
    """What a cell comes to."""

    trajectory: Trajectory
    weights: dict[str, np.ndarray]

    def bits(self, seed: int) -> dict[str, bytes]:
        """Every bit that one seed led to."""
        row = self.trajectory.seeds.index(seed)
        parts = (self.trajectory.arrays, self.trajectory.facts, self.weights)
        return {name: values[row].tobytes() for part in parts for name, values in part.items()}


def outcomes(group: Group) -> list[Outcome]:
    """Train a group to its end."""
    ticks = list(group.ticks(0, None))
    ends = zip(group.facts(), group.weights(), strict=True)
    return [
        Outcome(replace(group.part(ticks, index), facts=facts), weights) for index, (facts, weights) in enumerate(ends)
    ]


def with_checkpoints(group: Group) -> tuple[list[Tick], list[list[dict[str, np.ndarray]]]]:
    """Every tick of a run, with what would be saved there."""
    ticks, saved = [], []
    for tick in group.ticks(0, None):
        ticks.append(tick)
        saved.append(group.checkpoints())
    return ticks, saved


def bits(arrays: Mapping[str, np.ndarray]) -> dict[str, bytes]:
    """Every bit of named arrays."""
    return {name: values.tobytes() for name, values in arrays.items()}


def trained(cells: Sequence[Cell], **options: Any) -> list[Outcome]:
    return outcomes(Group(cells, **options))
