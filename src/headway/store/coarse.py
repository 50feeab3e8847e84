"""Shares between 0 and 1 in fewer bits: float16, or 254 steps of a byte for what is only drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

WIDE, NARROW = ("float16", "float32", "float64"), ("float16", "steps")
STEPS = 254
NOT_A_NUMBER = 255
"""The byte of a share that a diverged seed does not have."""


def narrow(values: np.ndarray, to: str) -> tuple[np.ndarray, dict[str, str]]:
    """The values as "float16" or in "steps" of 1/254, and what `widen` needs to know."""
    how = {"from": values.dtype.name, "to": to}
    if to == "steps":
        known = np.isfinite(values)
        steps = np.rint(np.where(known, values, 0) * STEPS)
        return np.where(known, steps, NOT_A_NUMBER).astype(np.uint8), how
    return values.astype(to), how


def is_known(how: Any) -> bool:
    """Whether `widen` may follow it: other names of types ask for any amount of memory."""
    return isinstance(how, dict) and how.get("from") in WIDE and how.get("to") in NARROW


def widen(values: np.ndarray, how: Mapping[str, str]) -> np.ndarray:
    """The values in their former type, as near as the fewer bits allow."""
    if how["to"] == "steps":
        return np.where(values == NOT_A_NUMBER, np.nan, values / STEPS).astype(how["from"])
    return values.astype(how["from"])
