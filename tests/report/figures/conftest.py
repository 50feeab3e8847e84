"""A run whose every number is known: three heads climb a staircase of three blocks."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.report.made_run import FOUR, made_settings, made_trajectory

from headway.records import Trajectory
from headway.tasks.chain import Blocks, Chain
from headway.tasks.run import Settings

ARRIVALS = np.array([5, 20, 200])
"""Steps at which rungs 1, 2 and 3 are reached."""


@dataclass(frozen=True)
class Staircase:
    """Three stages by formula; the seeds differ by a factor, and seed 7 has its heads in another order."""

    blocks: Blocks = ((1, 2), (3,), (4, 5))
    horizon: int = 6
    start: int = 5
    steps: np.ndarray = field(default_factory=lambda: np.array([0, 1, 5, 10, 20, 50, 100, 200, 400, 800]))
    snapshots: np.ndarray = field(default_factory=lambda: np.array([0, 10, 50, 200, 800]))
    seeds: tuple[int, ...] = (3, 4, 7)

    @property
    def length(self) -> int:
        return self.start + self.horizon - 1

    @property
    def settings(self) -> Settings:
        return Settings(task=Chain(blocks=self.blocks, horizon=self.horizon))

    def run(self, **changes: np.ndarray) -> Trajectory:
        """The run, with some arrays or facts replaced; one that it does not have is measured at every evaluation."""
        rung = np.sum(self.steps[:, None] >= ARRIVALS, axis=1)
        levels = np.array([3.0, 1.0, 0.4, 0.0])
        factor = np.array([1.0, 1.1, 1.3])[:, None]
        distance = np.abs(rung[:, None] - np.arange(4)) + 0.1
        orders = [[0, 1, 2], [0, 1, 2], [2, 0, 1]]
        by_lag = np.stack([[self._by_lag(block) for block in _homes(step)] for step in self.steps])
        matrices = np.stack([[self._matrix(block) for block in _homes(step)] for step in self.snapshots])
        arrays = {
            "excess_loss": factor * levels[rung],
            "kl_rungs": factor[..., None] * distance,
            "kl_references": 2 * factor[..., None] * distance[:, 1:],
            "attention_by_lag": np.stack([by_lag[:, order] for order in orders])[:, :, None],
            "attention": np.stack([matrices[:, order] for order in orders])[:, :, None],
        }
        facts = {"rung_excess": np.tile(levels, (3, 1)), "diverged_at": np.array([-1, -1, -1])}
        facts.update({name: value for name, value in changes.items() if name in facts})
        arrays.update({name: value for name, value in changes.items() if name not in facts})
        return Trajectory(
            seeds=self.seeds,
            clocks={"evaluation": self.steps, "snapshot": self.snapshots},
            arrays={name: values.astype(np.float32) for name, values in arrays.items()},
            clock_of={name: "snapshot" if name == "attention" else "evaluation" for name in arrays},
            facts=facts,
        )

    def _by_lag(self, block: int) -> np.ndarray:
        """The weights of a head that looks evenly at one block, or at everything (-1)."""
        lags = self.blocks[block] if block >= 0 else range(1, self.length + 1)
        weights = np.zeros(self.length)
        weights[[lag - 1 for lag in lags]] = 1 / len(lags)
        return weights

    def _matrix(self, block: int) -> np.ndarray:
        """(query, key) of the same head; everything is what the query can see."""
        rows = np.zeros((self.horizon, self.length))
        for query in range(self.horizon):
            seen = self.start + query
            lags = self.blocks[block] if block >= 0 else range(1, seen + 1)
            rows[query, [seen - lag for lag in lags]] = 1 / len(lags)
        return rows


def _homes(step: int) -> list[int]:
    """All heads take block 1 first; then head 2 leaves for block 2 and, later, head 3 for block 3."""
    rung = int(np.sum(step >= ARRIVALS))
    return [head if head < rung else min(rung, 1) - 1 for head in range(3)]


@pytest.fixture(scope="module")
def staircase() -> Staircase:
    return Staircase()


@pytest.fixture(scope="module")
def odd_runs() -> dict[str, tuple[Settings, Trajectory]]:
    """Eight runs that did not go as one would like, by what is odd about them."""
    settings = made_settings(references=(2, 4, 6))
    single = made_settings(blocks=((1, 2),))
    made = made_trajectory(settings)
    ends = {"evaluation": [0, -1], "snapshot": [0, -1]}
    return {
        "one seed": (settings, made_trajectory(settings, seeds=(7,))),
        "a seed diverged": (settings, made_trajectory(settings, diverged={1: 40})),
        "every seed diverged": (settings, made_trajectory(settings, diverged={0: 1, 1: 2, 2: 3, 3: 40})),
        "diverged at once": (settings, made_trajectory(settings, diverged=dict.fromkeys(FOUR, 0))),
        "nothing is a number": (settings, dataclasses.replace(made, arrays=_each(made, lambda old: old * np.nan))),
        "no matrices": (settings, _only(made, {"snapshot": []})),
        "start and end only": (settings, _only(made, ends)),
        "one block": (single, made_trajectory(single)),
    }


def _each(trajectory: Trajectory, change: Callable[[np.ndarray], np.ndarray]) -> dict[str, np.ndarray]:
    return {name: change(values) for name, values in trajectory.arrays.items()}


def _only(trajectory: Trajectory, rows: dict[str, list[int]]) -> Trajectory:
    """The trajectory at some of the times of some clocks."""
    arrays = {
        name: values[:, rows.get(trajectory.clock_of[name], slice(None))] for name, values in trajectory.arrays.items()
    }
    clocks = {name: ticks[rows.get(name, slice(None))] for name, ticks in trajectory.clocks.items()}
    return dataclasses.replace(trajectory, arrays=arrays, clocks=clocks)
