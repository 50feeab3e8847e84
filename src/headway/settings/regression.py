"""Attention trained on a regression: what the gradient flow is the theory of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from headway.settings.checks import require, require_number, require_whole, settle


@dataclass(frozen=True)
class RegressionSettings:
    """y = sum_k V_k X softmax(q_k), fitted to y* = sum_k m_k V_k* x_k + noise (paper A, section 3.1).

    What it shares with `FlowSettings` has the same name there, and a seed has the same start.
    """

    KIND: ClassVar[str] = "regression"

    features: int = 3
    """h: how many features there are, one at a position each."""
    heads: int | None = None
    """H: as many heads as features if not given."""
    length: int = 40
    """T: how many positions there are."""
    ratio: float = 1.7
    """m: each feature is this many times as strong as the next."""
    base: float = 1.0
    """Strength of the weakest feature."""
    noise: float = 1e-6
    """Variance of what is added to the uniform attention that every head starts with; values start at zero."""
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
        settle(self)
        for name in ("features", "length", "dimension", "batch", "steps"):
            require_whole(name, getattr(self, name), 1)
        require_whole("points", self.points, 2)
        if self.heads is not None:
            require_whole("heads", self.heads, 1)
        require(
            self.features <= self.length,
            f"{self.features} features do not fit on {self.length} positions. Use length >= {self.features}.",
        )
        require(
            self.features <= self.dimension**2,
            f"{self.features} orthogonal features do not fit into {self.dimension} x {self.dimension} matrices. "
            "Use a larger dimension.",
        )
        require_number("ratio", self.ratio, above=1)
        require_number("base", self.base, above=0)
        require_number("noise", self.noise, least=0)
        require_number("label_noise", self.label_noise, least=0)
        require_number("learning_rate", self.learning_rate, above=0)
        require_number("weight_decay", self.weight_decay, least=0)
        require(
            self.optimiser == "adamw" or self.weight_decay == 0,
            f"weight_decay is {self.weight_decay!r} with the optimiser {self.optimiser!r}, which has none here. "
            'Use weight_decay 0, or the optimiser "adamw".',
        )
