"""What the page reads of features at positions: their strengths, the loss at which each is learned, and portraits."""

from __future__ import annotations

from typing import Any

from headway.records import Trajectory
from headway.report.page.packing import pack_curves, plain_json

PLANE = ("places", "field", "rest", "border", "lost")
"""What a portrait shows that no seed changes."""
SHARED = ("features", "ratio", "base", "projections")
"""Settings that a flow and a portrait of its heads have in common."""


def features_of(settings: Any) -> int:
    """How many features the settings are about; 0 for any other task."""
    own = _own(settings)
    found = getattr(own, "features", 0)
    named = all(hasattr(own, name) for name in ("ratio", "base", "length"))
    return found if isinstance(found, int) and named else 0


def _own(settings: Any) -> Any:
    """What has the features: the task of a training, or a flow."""
    return getattr(settings, "task", settings)


def feature_task(settings: Any) -> dict[str, Any]:
    """What the drawing of the positions needs."""
    own, training = _own(settings), getattr(settings, "training", None)
    optimiser = getattr(training, "optimiser", None)
    return {
        "strengths": list(own.strengths),
        "length": own.length,
        "ratio": own.ratio,
        "projections": getattr(own, "projections", None),
        "optimiser": None if optimiser is None else str(optimiser),
    }


def portrait_of(settings: Any, trajectory: Trajectory) -> dict[str, Any]:
    """The first seed's orbits: the others' differ only in where they begin."""
    strength = settings.strengths[settings.known]
    return {
        "known": settings.known,
        "strength": strength,
        "window": [-strength, settings.reach * strength],
        "projections": settings.projections,
        "times": plain_json(trajectory.times("orbits")),
        "arrays": {
            "orbits": pack_curves(trajectory["orbits"][0]),
            **{name: pack_curves(trajectory.facts[name][0]) for name in PLANE if name in trajectory.facts},
        },
    }


def is_portrait(settings: Any, arrays: Any) -> bool:
    """Whether a record is a plane in which heads move, to be shown with their flow."""
    return "orbits" in arrays and all(hasattr(settings, name) for name in (*SHARED, "known", "reach"))


def portrays(portrait: Any, flow: Any) -> bool:
    """Whether the heads of that flow move, one after another, as in the portrait."""
    return all(hasattr(flow, name) and getattr(portrait, name) == getattr(flow, name) for name in SHARED)
