"""What is predicted of a plateau that nobody has trained for yet."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from headway.forecast.question import SYMBOLS, Question


class NotMeasured(Exception):  # noqa: N818 - the user reads it as it is
    """There is neither a theory nor a law for this: what is missing, and how to make it."""


@dataclass(frozen=True)
class Forecast:
    """How long a plateau will be."""

    question: Question
    learning_rate: float
    steps: float
    """Until `ends`: half of the runs take longer."""
    low: float
    """Of the interval; NaN where nothing was measured that shows how wide it is."""
    high: float
    coverage: float
    """Of how many runs the plateau should lie in it."""
    ends: str
    """What ends a plateau."""
    source: Literal["theory", "law"]
    basis: str
    """The equation or the law, and what it was held against."""
    cells: int
    """How many combinations of sizes that was."""
    seeds: int
    """Of each of them, at most."""
    folders: tuple[str, ...]
    closed_form: float | None
    """Steps by a formula that needs no solver, where there is one."""
    published: float | None
    """Steps by the published law, where there is one."""
    published_law: str
    warnings: tuple[str, ...]

    @property
    def asked(self) -> str:
        """toy, d = 64, T = 1024, B = 1, p = 0, learning rate 1."""
        sizes = ", ".join(f"{SYMBOLS[name]} = {value:g}" for name, value in self.question.sizes.items())
        samples = "" if self.question.samples is None else f", {self.question.samples} samples"
        gap = ", gap trained" if self.question.trained == "gap" else ""
        chain = self._chain if self.question.blocks else ""
        return f"{self.question.model}, {sizes}{samples}{gap}{chain}, learning rate {self.learning_rate:g}"

    @property
    def _chain(self) -> str:
        """, blocks 1-2 3-4, u = 1e-09, boundary 1."""
        asked = self.question
        blocks = " ".join(f"{min(block)}-{max(block)}" for block in asked.blocks)
        vocab = "" if asked.vocab is None else f", d = {asked.vocab}"
        start = "" if asked.start is None else f", u = {asked.start:g}"
        return f", blocks {blocks}{vocab}{start}, {asked.preset}, boundary {asked.boundary or 1}"

    def as_json(self) -> dict[str, Any]:
        """The same for a machine; null where a number is not known."""

        def known(value: Any) -> Any:
            return None if isinstance(value, float) and not math.isfinite(value) else value

        told = asdict(self)
        return {name: known(value) for name, value in told.items()}
