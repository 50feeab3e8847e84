"""Where shorter n-grams are stationary: the simple model's hand-made k-gram points, for a look at their gradients."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

from headway.settings.checks import require, require_number, require_whole, settle
from headway.tasks.sub_n_grams_simple import SimpleSubNGrams

CHUNK = 250
"""Sequences that are drawn together."""


@dataclass(frozen=True)
class KGramPointSettings:
    """The norm of the loss's gradient at the points whose answer is nearly a k-gram's, for contexts of several lengths.

    V = I; head h < k has A[t, t - h] = c; QK = c sum_{h < k} (query block h - 1, key block h) (x) I.
    """

    KIND: ClassVar[str] = "k-gram-points"

    task: SimpleSubNGrams = field(default_factory=lambda: SimpleSubNGrams(symbols=3, grams=3, alpha=1.0))
    """Its length is not used."""
    lengths: tuple[int, ...] = (16, 32, 64, 128)
    """T."""
    score: float = 10.0
    """c."""
    samples: int = 20_000
    """Sequences over which the gradient is averaged."""

    def __post_init__(self) -> None:
        settle(self)
        require_whole("samples", self.samples, 1)
        require(
            self.samples < CHUNK or self.samples % CHUNK == 0,
            f"samples is {self.samples}, but they are drawn {CHUNK} at a time. Use a multiple of that, or fewer.",
        )
        require_number("score", self.score, above=0)
        for length in self.lengths:
            require_whole("a number of lengths", length, self.task.grams)
        require(
            len(self.lengths) > 0 and all(a < b for a, b in pairwise(self.lengths)),
            f"lengths is {self.lengths!r}, but it must be one or more numbers, each larger than the one before.",
        )
