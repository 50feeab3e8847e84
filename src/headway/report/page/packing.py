"""Arrays as text that JSON can hold, and back.

Arrays travel as base64. Curves keep their float32 bits, the first byte of every number, then the second, and so on:
neighbours have their first bytes in common, so that the page compresses to half of what it would be. Attention
matrices, which are only looked at, are cut to 255 levels of `step` each, so that what is shown is within step / 2 of
what was measured.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from headway.settings.plain import plain

MISSING = 255
"""The level that stands for a number that is not there."""
_HIGHEST = 254


def pack_curves(values: np.ndarray) -> dict[str, Any]:
    """float32 numbers, bit for bit."""
    numbers = np.ascontiguousarray(values, dtype="<f4").reshape(-1, 1).view(np.uint8)  # (number, byte)
    return {"type": "float32", "shape": list(values.shape), "data": _base64(np.ascontiguousarray(numbers.T))}


def pack_levels(values: np.ndarray) -> dict[str, Any]:
    """value = level * step with step = largest value / 254; level 255 is a missing number."""
    finite = np.isfinite(values)
    largest = float(values[finite].max()) if finite.any() else 0.0
    step = largest / _HIGHEST if largest > 0 else 1.0
    known = np.where(finite, values, 0.0).clip(0.0)
    levels = np.where(finite, np.rint(known / step), MISSING)
    return {
        "type": "levels",
        "shape": list(values.shape),
        "step": step,
        "data": _base64(levels.astype(np.uint8)),
    }


def unpack(packed: Mapping[str, Any]) -> np.ndarray:
    """What `pack_curves` or `pack_levels` was given, the latter to within step / 2."""
    raw = base64.b64decode(packed["data"])
    if packed["type"] == "float32":
        return np.frombuffer(raw, np.uint8).reshape(4, -1).T.copy().view("<f4").reshape(packed["shape"])
    levels = np.frombuffer(raw, np.uint8).reshape(packed["shape"])
    return np.where(levels == MISSING, np.nan, levels * packed["step"])


def plain_json(value: Any) -> Any:
    """Words, numbers, lists and dictionaries only; NaN and infinity, unknown to JSON, become null."""
    value = plain(value)
    if isinstance(value, Mapping):
        return {str(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain_json(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    # Settings of somebody's own task may be any object; its attributes say what it is.
    own = getattr(value, "__dict__", None)
    return plain_json(own) if own and not callable(value) else str(value)


def _base64(values: np.ndarray) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")
