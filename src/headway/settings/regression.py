"""Attention trained on a regression: what the gradient flow is the theory of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from headway.settings.checks import require, require_number, require_whole
from headway.settings.features import FeatureSettings


@dataclass(frozen=True)
class RegressionSettings(FeatureSettings):
    """y = sum_k V_k X softmax(q_k), fitted to y* = sum_k m_k V_k* x_k + noise (paper A, section 3.1).

    A seed has the same start as the flow's.
    """

    KIND: ClassVar[str] = "regression"

    dimension: int = 8
    """d: size of the vectors; the flow, and training by the population's gradient, do not depend on it."""
    label_noise: float = 0.01
    """Variance of the noise in each coordinate of y*."""
    optimiser: Literal["gd", "sgd", "adamw"] = "gd"
    """gd: the gradient of the population's loss, exactly; sgd and adamw: that of fresh samples at every step."""
    learning_rate: float = 0.01
    weight_decay: float = 0.0
    """Of AdamW alone: with it the others would descend on another loss."""
    batch: int = 256
    """Samples at every step; gd needs none."""
    steps: int = 30_000
    points: int = 120
    """How many steps are kept, evenly spaced on a logarithmic axis, besides step 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("dimension", "batch", "steps"):
            require_whole(name, getattr(self, name), 1)
        require_whole("points", self.points, 2)
        require(
            self.features <= self.dimension**2,
            f"{self.features} orthogonal features do not fit into {self.dimension} x {self.dimension} matrices. "
            "Use a larger dimension.",
        )
        require_number("label_noise", self.label_noise, least=0)
        require_number("learning_rate", self.learning_rate, above=0)
        require_number("weight_decay", self.weight_decay, least=0)
        require(
            self.optimiser == "adamw" or self.weight_decay == 0,
            f"weight_decay is {self.weight_decay!r} with the optimiser {self.optimiser!r}, which has none here. "
            'Use weight_decay 0, or the optimiser "adamw".',
        )
