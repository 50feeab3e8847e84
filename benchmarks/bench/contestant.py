"""Somebody who can train for a few steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

HEADWAY = "headway"


@dataclass(frozen=True)
class Contestant:
    """`advance()` trains every seed for `steps` steps and returns their losses (seed, step) once all is done."""

    name: str
    seeds: int
    steps: int
    advance: Callable[[], np.ndarray]
