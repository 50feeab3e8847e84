"""Training that goes on for as long as a plateau lasts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headway.settings.checks import require, require_number, require_whole, settle


@dataclass(frozen=True)
class AdaptiveTrainingSettings:
    """Adam on fresh samples until the plateau has ended; the defaults are paper B's, and ours where a comment says."""

    learning_rate: float = 1e-4
    batch: int = 32
    steps: int = 20_000  # ours
    """A run that is still on its plateau after so many steps is censored."""
    threshold: float = 0.1
    """A plateau ends when the test loss is at most, or the accuracy of recall at least, this."""
    until: float | None = None
    """The level at which a run has shown what it was trained for; the threshold if not given."""
    tail: float = 0.5  # ours
    """A run goes on for this share of the steps up to there; below 0 it goes on to the last step."""
    every: int = 25  # ours
    """Steps between two evaluations, at first."""
    growth: float = 0.03  # ours
    """Later an evaluation comes when the steps have grown by this share."""
    test_samples: int = 1024  # ours
    precision: Literal["float32", "tf32", "bfloat16"] = "float32"
    """Of the model's products; the last two where the device has them."""

    def __post_init__(self) -> None:
        settle(self, "training.")
        for name in ("batch", "steps", "every", "test_samples"):
            require_whole(f"training.{name}", getattr(self, name), 1)
        require_number("training.learning_rate", self.learning_rate, least=0)
        require_number("training.threshold", self.threshold, above=0)
        if self.until is not None:
            require_number("training.until", self.until, above=0)
        require_number("training.tail", self.tail)
        require_number("training.growth", self.growth, least=0)
        require(
            self.steps % self.every == 0,
            f"training.steps is {self.steps}, but evaluations come at multiples of training.every, {self.every}. "
            f"Use {max(self.every, self.steps - self.steps % self.every)} steps.",
        )

    def evaluations(self) -> list[int]:
        """0, every, 2 every, ..; later only as often as the steps have grown by `growth`; and the end."""
        ticks, step = [0], 0
        while step < self.steps:
            multiples = max(1, int(self.growth * step / self.every))
            step = min(step + multiples * self.every, self.steps)
            ticks.append(step)
        return ticks
