"""Which rung a run approaches, reported while it goes on."""

from __future__ import annotations

import numpy as np

TURNED = 0.03
"""KL to a rung has turned once it is this share of its descent above its lowest value."""


class Rungs:
    """A model approaches rung i while KL to f_{1:i} still falls: the first i >= 1 that it has not turned away from.

    Only afterwards is it known how near a model came to a rung; `analysis.stages_from_ladder` uses that.
    """

    def __init__(self) -> None:
        self._first: np.ndarray | None = None
        self._lowest: np.ndarray | None = None

    def update(self, kl: np.ndarray) -> np.ndarray:
        """kl (member, rung), rung 0 included, at the next evaluation -> the rung of each member."""
        kl = kl[:, 1:]
        self._first = kl if self._first is None else self._first
        self._lowest = kl if self._lowest is None else np.minimum(self._lowest, kl)
        turned = kl > self._lowest + TURNED * (self._first - self._lowest)
        top = kl.shape[1]
        return np.where(turned.all(axis=1), top, np.argmin(turned, axis=1) + 1)
