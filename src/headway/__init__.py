"""Watch attention learn in stages.

import headway

settings = headway.presets.minimal_quick()
record = headway.run(settings, seeds=4)
record.trajectory["excess_loss"]          # (seed, evaluation)
headway.stages(record)[0].boundaries      # when seed 0 went from rung to rung
headway.page(record, "learning.html")
headway.show(record)                      # inside a notebook
headway.vary(settings, {"task.ratio": [1.3, 2.0]})
headway.predict("toy", dimension=64, length=1024).steps
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway import presets
    from headway.notebook import page, predict, run, show, stages, vary
    from headway.settings import (
        EvaluationSettings,
        ModelSettings,
        Settings,
        SettingsError,
        TaskSettings,
        TrainingSettings,
    )
    from headway.store import load

__all__ = [
    "EvaluationSettings",
    "ModelSettings",
    "Settings",
    "SettingsError",
    "TaskSettings",
    "TrainingSettings",
    "load",
    "page",
    "predict",
    "presets",
    "run",
    "show",
    "stages",
    "vary",
]

__version__ = "0.1.0"

_HOME = {"load": "store"} | dict.fromkeys(("page", "predict", "run", "show", "stages", "vary"), "notebook")


def __getattr__(name: str) -> Any:
    """Names are fetched when they are used: the command line must not wait for libraries that it does not need."""
    if name == "presets":
        return importlib.import_module("headway.presets")
    if name in __all__:
        return getattr(importlib.import_module(f"headway.{_HOME.get(name, 'settings')}"), name)
    raise AttributeError(f"module 'headway' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
