"""rate* = the one of training.rates whose plateau ends first: chosen by runs of seeds that are not reported.

Each of the rates is tried on the same few seeds (`records.PILOT_SEEDS`), whose records lie beside all others;
`training/pilots.py` has the rule by which one is chosen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from headway.records import Cell
from headway.store import Store
from headway.training.pilots import best_rate


class Chosen(NamedTuple):
    """A cell with the learning rate that it is trained with, and by what that was chosen."""

    cell: Cell
    rates: tuple[float, ...] = ()
    plateaus: np.ndarray | None = None
    """Of the pilots, NaN where they did not end before their rate had lost: (rate, pilot seed)."""

    def facts(self) -> dict[str, np.ndarray]:
        """For every seed alike: the rate that it was trained with, those tried, and when their plateaus ended."""
        if self.plateaus is None:
            return {}
        own = {
            "chosen_rate": np.float64(self.cell.settings.training.learning_rate),
            "tried_rates": np.asarray(self.rates),
            "tried_plateaus": self.plateaus,
        }
        seeds = len(self.cell.seeds)
        return {name: np.repeat(np.asarray(value)[None], seeds, axis=0) for name, value in own.items()}


def choose_rate(cell: Cell, store: Store) -> Chosen:
    """The cell with the rate that its pilots choose; as it is where it has none. They must be there."""
    pilots = cell.pilots()
    if not pilots:
        return Chosen(cell)
    plateaus = np.stack([store.load(pilot).trajectory.facts["plateau"] for pilot in pilots]).astype(float)
    rates = cell.settings.training.rates
    training = replace(cell.settings.training, learning_rate=best_rate(rates, plateaus))
    return Chosen(replace(cell, settings=replace(cell.settings, training=training)), rates, plateaus)
