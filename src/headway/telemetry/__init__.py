"""Stages in anybody's PyTorch run: a probe that reads attention, scores of heads and a ladder, and writes a record.

    watch = Watch(model, probe=tokens, ladder=headway.ngrams(training_tokens), folder="runs", name="nano")
    for step in range(steps):
        watch.step(step)
        ...
    watch.finish(steps)

    probe.py        what is read: rows of text, and random tokens that repeat
    capture.py      how attention is seen: transformers, F.scaled_dot_product_attention, or what the user names
    reduction.py    a few rows of attention at a time, reduced at once to sums over diagonals
    reading.py      all numbers of one probe
    undisturbed.py  the model as it was, bit for bit
    watch.py        when, and into which record

PyTorch is an extra and is imported when something is measured.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.telemetry.errors import TelemetryError
    from headway.telemetry.schedule import Schedule
    from headway.telemetry.settings import SCORES
    from headway.telemetry.watch import Watch

__all__ = ["SCORES", "Schedule", "TelemetryError", "Watch"]

_HOME = {"SCORES": "settings", "Schedule": "schedule", "TelemetryError": "errors", "Watch": "watch"}


def __getattr__(name: str) -> Any:
    """Names are fetched when they are used: whoever reads a record needs no PyTorch."""
    if name in _HOME:
        return getattr(importlib.import_module(f"headway.telemetry.{_HOME[name]}"), name)
    raise AttributeError(f"module 'headway.telemetry' has no attribute {name!r}; it has {', '.join(__all__)}")
