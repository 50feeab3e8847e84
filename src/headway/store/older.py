"""Settings as older versions wrote them -> as they are written now: renamed, moved and added ones.

A record keeps the name and the words that it was written with; what it means is read through this rule. Applied to
settings of today it changes nothing.
"""

from __future__ import annotations

import math
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


_EXACT_TRAINING = _PLATEAU_TRAINING | {
    "optimiser": "sgd",
    "momentum": 0.0,
    "data": "exact",
    "batch": 3000,
    "test_samples": 3000,
    "precision": "float64",
}
"""The same of descent on an expectation."""
_USUAL_LOOKS = {"points": 120, "also": [], "snapshots": 24}


def upgraded_kind(kind: str, settings: Any) -> str:
    """What a kind of run is called today: the toy was descended, or its flow solved, under one name."""
    return "toy-flow" if kind == "toy" and isinstance(settings, dict) and settings.get("dynamics") == "flow" else kind


def upgraded(settings: Mapping[str, Any], kind: str = "") -> Mapping[str, Any]:
    """The description of the same settings in the names of today; what is no old description comes back as it is."""
    if kind in _RULES and "task" not in settings:
        return _RULES[kind](settings)
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
    evaluation = _USUAL_LOOKS | {"losses": "mean", **looks}
    return {"training": _PLATEAU_TRAINING | own, "evaluation": evaluation}


def _of_toy_flow(old: Mapping[str, Any]) -> Mapping[str, Any]:
    """A flow has neither steps nor samples."""
    return {name: value for name, value in old.items() if name not in ("dynamics", "samples", "learning_rate", "tail")}


def _of_toy(old: Mapping[str, Any]) -> Mapping[str, Any]:
    """The toy was descended in one go, by settings of its own: curves of so many points, or none, and a plateau.

    What is not stored any more is when curves were looked at, which their clock says, and after how many closed forms
    of its plateau a run in coordinates would have been given up: none was.
    """
    sizes = {name: old[name] for name in ("dimension", "length", "copies", "repeated")}
    trained, samples = old["model"], old["samples"]
    longest = 25 * math.ceil(old["longest"] * _plateau_of_toy(trained, **sizes) / old["learning_rate"] / 25)
    training = {
        "learning_rate": old["learning_rate"],
        "threshold": old["threshold"],
        "tail": old["tail"] - 1,
        "steps": longest if trained == "matrices" else max(1_000_000, longest),
    }
    of_set = {"data": "finite", "precision": "float32", "batch": samples, "samples": samples} if samples else {}
    every, growth = (1, 0.02) if old["points"] else (25, 0.25)
    return {
        "task": {**sizes, "trained": trained},
        "model": None,
        "training": _EXACT_TRAINING | training | of_set,
        "evaluation": _USUAL_LOOKS | {"every": every, "growth": growth, "losses": "mean"},
    }


def _plateau_of_toy(trained: str, dimension: int, length: int, copies: int, repeated: float) -> float:
    """sqrt(pi/2) T / (r sqrt(k B))."""
    across = (1 - repeated) / dimension
    signal = math.sqrt((repeated + across) ** 2 + (dimension - 1) * across**2)
    pull = copies if trained == "gap" else length / (length - copies)
    return math.sqrt(math.pi / 2) * length / (signal * math.sqrt(pull * copies))


def _of_regression(old: Mapping[str, Any]) -> Mapping[str, Any]:
    """The regression was trained by settings of its own: gd on the expectation in double precision, else on samples."""
    names = ("features", "heads", "length", "ratio", "base", "noise", "dimension", "label_noise")
    exact = old["optimiser"] == "gd"
    training = {name: old[name] for name in ("learning_rate", "weight_decay", "batch", "steps")} | {
        "optimiser": "adamw" if old["optimiser"] == "adamw" else "sgd",
        "data": "exact" if exact else "fresh",
        "precision": "float64" if exact else "float32",
    }
    return {
        "task": {name: old[name] for name in names},
        "model": None,
        "training": _EXACT_TRAINING | training,
        "evaluation": _USUAL_LOOKS | {"points": old["points"], "losses": "mean"},
    }


_RULES = {"toy": _of_toy, "toy-flow": _of_toy_flow, "regression": _of_regression}
"""Kinds that had settings of their own, without groups."""
