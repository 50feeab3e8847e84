"""What a model reads and answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headway.tasks.task import has_tokens, shape_of
from headway.training.sizes import rows_of


@dataclass(frozen=True)
class Reads:
    """What a model reads and answers."""

    inputs: int
    """Vocabulary size, or how many numbers a position holds."""
    outputs: int
    positions: int
    predicted: int
    """At how many of the last positions its task asks for an answer."""
    tokens: bool

    def in_words(self) -> str:
        if self.tokens:
            return f"(..., {self.positions}) tokens, each 0 .. {self.inputs - 1}"
        return f"(..., {self.positions}, {self.inputs}) numbers"


def reads_of_task(task: Any) -> Reads:
    """What models of a task read."""
    shape, rows = shape_of(task), rows_of(task)
    windows = rows is not None and shape.reads != rows.length
    return Reads(shape.inputs, shape.outputs, shape.reads, 1 if windows else shape.predicted, has_tokens(task))
