"""Cells of one program: alike in kind and shape, whatever their seeds and their plain numbers are."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headway import registry
from headway.records import Cell
from headway.settings.keeping import NOTHING, Keep
from headway.store.kinds import revive_cell
from headway.training.pilots import contests

FORMAT = "headway order 1"
"""Of the JSON that carries bundles to other processes."""


@dataclass(frozen=True)
class Bundle:
    """Cells that are handed out, and computed, together."""

    cells: tuple[Cell, ...]
    capacity: int = 0
    """Rows for the largest training set of all that share the program, whether they are in this bundle or not: a
    cell's bits must not depend on which others are done, or done elsewhere."""
    keep: Keep = NOTHING
    """Which models are kept besides the last."""

    @property
    def trained(self) -> bool:
        """Whether its cells are trained together; others are computed in one go."""
        return registry.is_trained(self.cells[0].kind)

    @property
    def members(self) -> int:
        """How many seeds of how many cells: the width of the program."""
        return sum(len(cell.seeds) for cell in self.cells)


def waves(cells: Iterable[Cell], keep: Keep = NOTHING) -> tuple[list[Bundle], list[Bundle]]:
    """What needs nothing, then what is compared with it; each cell once, in the order in which they were asked for."""
    wanted = list(dict.fromkeys(cells))
    needed = [reference for cell in wanted for reference in cell.needs()]
    first = dict.fromkeys([*needed, *(cell for cell in wanted if not cell.needs())])
    return pack(first, keep), pack((cell for cell in wanted if cell.needs()), keep)


def pack(cells: Iterable[Cell], keep: Keep = NOTHING) -> list[Bundle]:
    """One bundle for each program: what is computed in one go first, for it is soon done."""
    alike: dict[Any, list[Cell]] = defaultdict(list)
    for cell in dict.fromkeys(cells):
        alike[program_of(cell)].append(cell)
    bundles = [Bundle(tuple(group), _capacity(group), keep) for group in alike.values()]
    return sorted(bundles, key=lambda bundle: bundle.trained)


def program_of(cell: Cell) -> Any:
    """Equal for cells that share a program: its shape, or a name of its own for what is computed alone."""
    return registry.shape(cell)


def cut(bundle: Bundle, pieces: int) -> list[Bundle]:
    """The same cells in so many bundles, if there are as many, of about the same number of seeds.

    Pilots of one run stay together as long as there are enough others: those that have lost are given up.
    """
    pieces = max(1, min(pieces, len(bundle.cells)))
    together = contests(bundle.cells)
    units = together if pieces <= len(together) else [[place] for place in range(len(bundle.cells))]
    heaps: list[list[Cell]] = [[] for _ in range(pieces)]
    for number, unit in enumerate(units):
        heaps[number * pieces // len(units)].extend(bundle.cells[place] for place in unit)
    return [replace(bundle, cells=tuple(heap)) for heap in heaps]


def for_workers(bundle: Bundle, workers: int) -> int:
    """Into how many pieces it is worth cutting for so many workers: pilots of one run would not know who has lost."""
    return min(workers, len(contests(bundle.cells)))


def encode(bundles: Sequence[Bundle]) -> str:
    """The bundles as JSON, from which `decode` makes them again in another process."""
    told = [
        {"cells": [cell.describe() for cell in bundle.cells], "capacity": bundle.capacity, "keep": bundle.keep.word}
        for bundle in bundles
    ]
    return json.dumps({"format": FORMAT, "bundles": told}, allow_nan=False)


def decode(text: str | bytes) -> list[Bundle]:
    """The inverse of `encode`."""
    content = json.loads(text)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"this is no order of cells: it must be JSON whose format is {FORMAT!r}.")
    return [
        Bundle(tuple(map(revive_cell, each["cells"])), int(each["capacity"]), Keep(str(each.get("keep", ""))))
        for each in content["bundles"]
    ]


def _capacity(cells: Sequence[Cell]) -> int:
    return max(cell.settings.training.samples for cell in cells) if registry.is_trained(cells[0].kind) else 0
