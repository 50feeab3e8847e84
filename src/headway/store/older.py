"""Settings as older versions wrote them -> as they are written now: renamed, moved and added ones.

A record keeps the name and the words that it was written with; what it means is read through this rule. Applied to
settings of today it changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headway.settings.renamed import RENAMED

_PLATEAU_TRAINING = {
    "optimiser": "adamw",
    "momentum": 0.9,
    "weight_decay": 0.0,
    "clip": 0.0,
    "schedule": "constant",
    "patience": 10,
    "factor": 0.5,
    "data": "fresh",
    "samples": 9000,
    "dropout": "always",
}
"""What trainings until the end of a plateau had without saying so."""


def upgraded(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The description of the same settings in the names of today; what is no old description comes back as it is."""
    groups = {name: value for name, value in settings.items() if isinstance(value, dict)}
    if "task" not in groups:
        return settings
    rest = {name: value for name, value in settings.items() if name not in groups}
    new: dict[str, Any] = {name: _renamed(value, RENAMED.get(name, {})) for name, value in groups.items()}
    # Windows and comparisons were settings of their own.
    moved = {name: rest.pop(name) for name in ("context", "references") if name in rest}
    new["task"] = new["task"] | moved
    if "sharpness" in rest:  # A solution made by hand had the chain alone.
        new["task"] = {"context": None, "references": []} | new["task"]
    if "training" in new and "evaluation" not in new:
        new |= _of_plateau(new["training"])
    return {**new, **rest}


def _renamed(group: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in group.items()}


def _of_plateau(training: Mapping[str, Any]) -> dict[str, Any]:
    """Training that went on until a plateau had ended had in one group how it trained and when it was measured."""
    own = {name: value for name, value in training.items() if name not in ("every", "growth")}
    looks = {name: training[name] for name in ("every", "growth") if name in training}
    evaluation = {"points": 120, "also": [], "snapshots": 24, "losses": "mean", **looks}
    return {"training": _PLATEAU_TRAINING | own, "evaluation": evaluation}
