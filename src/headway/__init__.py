"""Watch attention learn in stages.

import headway

settings = headway.presets.minimal_quick()
record = headway.run(settings, seeds=8)
record.trajectory["excess_loss"]          # (seed, evaluation)
headway.stages(record)[0].boundaries      # when seed 0 went from rung to rung
headway.page(record, "learning.html")
headway.vary(settings, {"task.ratio": [1.3, 2.0]})

A task, an optimiser, a positional encoding or a claim of your own: docs/extend.md.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway import presets
    from headway.analysis.ngrams import ngrams
    from headway.claims.claim import Claim
    from headway.experiments.experiment import Experiment
    from headway.models.positions import Positions
    from headway.notebook import page, predict, run, show, stages, vary
    from headway.settings import EvaluationSettings as Evaluation
    from headway.settings import ModelSettings as Model
    from headway.settings import SettingsError
    from headway.settings import TrainingSettings as Training
    from headway.store import load
    from headway.tasks.chain import Chain
    from headway.tasks.recall import Recall
    from headway.tasks.run import Settings
    from headway.tasks.single_location import SingleLocation
    from headway.tasks.task import Answer, Example

__all__ = [
    "Answer",
    "Chain",
    "Claim",
    "Evaluation",
    "Example",
    "Experiment",
    "Model",
    "Positions",
    "Recall",
    "Settings",
    "SettingsError",
    "SingleLocation",
    "Training",
    "load",
    "ngrams",
    "page",
    "predict",
    "presets",
    "run",
    "show",
    "stages",
    "vary",
]

__version__ = "0.2.0"

_HOME = {
    "Answer": "tasks.task",
    "Chain": "tasks.chain",
    "Claim": "claims.claim",
    "Evaluation": "settings:EvaluationSettings",
    "Example": "tasks.task",
    "Experiment": "experiments.experiment",
    "Model": "settings:ModelSettings",
    "Positions": "models.positions",
    "Recall": "tasks.recall",
    "Settings": "tasks.run",
    "SettingsError": "settings",
    "SingleLocation": "tasks.single_location",
    "Training": "settings:TrainingSettings",
    "load": "store",
    "ngrams": "analysis.ngrams",
} | dict.fromkeys(("page", "predict", "run", "show", "stages", "vary"), "notebook")
"""Name -> the module that has it, under the same name if no other is given."""


def __getattr__(name: str) -> Any:
    """Names are fetched when they are used: the command line must not wait for libraries that it does not need."""
    if name == "presets":
        return importlib.import_module("headway.presets")
    if name in _HOME:
        home, _, there = _HOME[name].partition(":")
        return getattr(importlib.import_module(f"headway.{home}"), there or name)
    raise AttributeError(f"module 'headway' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
