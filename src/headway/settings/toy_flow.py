"""The flow of paper B's toy, and what approximates it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from headway.settings.checks import require, require_number, require_whole, settle


@dataclass(frozen=True)
class ToyFlowSettings:
    """What gradient descent on the toy (`tasks/toy.py`) follows: a flow of three variables from W = 0 and a = 0."""

    KIND: ClassVar[str] = "toy-flow"

    dimension: int = 64
    """d: size of a token."""
    length: int = 256
    """T: how many tokens there are."""
    copies: int = 1
    """B: how many of them are the one that matters."""
    repeated: float = 0.0
    """p: how often the token that matters is one and the same vector, in all samples."""
    model: Literal["logits", "gap", "linearised", "late"] = "logits"
    """What moves: W and the T logits, in the few coordinates that they need; those, with the gap between logits itself
    as the parameter; or an approximation of that, of its start or of its end."""
    threshold: float = 0.1
    """The loss, tested without cross-sample repetition, at which a plateau has ended; it starts at 0.5."""
    longest: float = 10.0
    """A plateau that lasts longer than this many times its closed form is censored."""
    points: int = 101
    """How many points of each curve are kept; none if only the plateau is wanted."""
    shown: float = 2.5
    """The last of them, in closed forms of the plateau."""

    def __post_init__(self) -> None:
        settle(self)
        for name, least in (("dimension", 2), ("length", 2), ("copies", 1)):
            require_whole(name, getattr(self, name), least)
        require_number("repeated", self.repeated, least=0, below=1)
        require(
            self.copies < self.length,
            f"{self.copies} copies leave no other token among {self.length}. Use fewer copies, or a larger length.",
        )
        require_number("threshold", self.threshold, above=0, below=0.5)
        require_number("longest", self.longest, above=0)
        require_number("shown", self.shown, above=0)
        require_whole("points", self.points, 0)
        require(
            self.model != "late" or self.repeated == 0,
            f"the late phase is known without cross-sample repetition, but repeated is {self.repeated!r}. Use 0.",
        )

    @property
    def size(self) -> str:
        """d = 64, T = 256; copies and repetition where there are any."""
        more = (f", B = {self.copies}" if self.copies > 1 else "") + (
            f", p = {self.repeated:g}" if self.repeated else ""
        )
        return f"d = {self.dimension}, T = {self.length}{more}"
