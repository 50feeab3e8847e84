"""Which rung a run approaches, reported while it goes on."""

from __future__ import annotations

import numpy as np

TURNED = 0.03
"""KL to a rung has turned once it is this share of its descent above its lowest value."""


class Rungs:
    """A model approaches rung i while KL to f_{1:i} still falls: the first i >= 1 that it has not turned away from.

    The descent to a rung counts from the minimum of KL to the rung below, as in `analysis.stages_from_ladder`: the last
    of many steps is a small part of the whole descent. How near a model comes to a rung is known only afterwards, and
    only then are short visits left out.
    """

    def __init__(self) -> None:
        self._lowest: np.ndarray | None = None
        self._above: np.ndarray | None = None
        """KL to each rung i >= 1 when KL to rung i - 1 was lowest: (member, rung)."""

    def update(self, kl: np.ndarray) -> np.ndarray:
        """kl (member, rung), rung 0 included, at the next evaluation -> the rung of each member."""
        if self._lowest is None or self._above is None:
            self._lowest, self._above = kl, kl[:, 1:]
        nearer = kl[:, :-1] < self._lowest[:, :-1]
        self._above = np.where(nearer, kl[:, 1:], self._above)
        self._lowest = np.minimum(self._lowest, kl)
        lowest = self._lowest[:, 1:]
        turned = kl[:, 1:] > lowest + TURNED * (self._above - lowest)
        return np.where(turned.all(axis=1), turned.shape[1], np.argmin(turned, axis=1) + 1)
