"""Small runs as they were computed before there was one training stack for any task: their settings and numbers.

`golden/runs.json` holds the settings in the words of then, `golden/runs.npz` what was measured of three seeds each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from headway.records import Cell
from headway.store.kinds import revive_cell
from headway.training.group import Group
from headway.training.problem import shape

FOLDER = Path(__file__).parent / "golden"
EARLY = 40
"""Steps up to which rounding has not grown yet in any of the runs."""


@cache
def cells() -> dict[str, Cell]:
    """Name of a run -> the cell that its old description means now."""
    told = json.loads((FOLDER / "runs.json").read_text())
    return {name: revive_cell(description) for name, description in told.items()}


@cache
def numbers() -> dict[str, dict[str, np.ndarray]]:
    """Name of a run -> name of an array -> (seed, time, ...), `fact NAME` -> (seed, ...), and its clock."""
    found: dict[str, dict[str, np.ndarray]] = {}
    with np.load(FOLDER / "runs.npz") as held:
        for key in held.files:
            run, name = key.split("/")
            found.setdefault(run, {})[name] = held[key]
    return found


def trained_again(names: tuple[str, ...], last: int | None) -> dict[str, dict[str, np.ndarray]]:
    """Those runs in one program, up to the evaluation at or before `last`, or to their ends."""
    own = [cells()[name] for name in names]
    assert len({shape(cell.settings) for cell in own}) == 1
    group = Group(own, references=[[_weights(cell) for cell in each.references()] for each in own])
    ticks = []
    for tick in group.ticks(0, None):
        if last is not None and tick.step > last:
            break
        ticks.append(tick)
    while ticks[-1].measured is None:
        ticks.pop()
    facts = group.facts()
    parts = [group.part(ticks, index) for index in range(len(own))]
    return {
        name: {
            **part.arrays,
            "clock evaluation": part.clocks["evaluation"],
            **{f"fact {each}": value for each, value in facts[index].items()},
        }
        for index, (name, part) in enumerate(zip(names, parts, strict=True))
    }


def _weights(cell: Cell) -> Mapping[str, np.ndarray]:
    """Of a run that others compare themselves with."""
    group = Group([cell])
    list(group.ticks(0, None))
    return group.weights()[0]
