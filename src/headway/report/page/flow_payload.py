"""What the page's JavaScript reads of a gradient flow: curves on one clock, plateaus, and portraits of its heads."""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.records import Trajectory
from headway.report.colours import UNIFORM_COLOUR, head_colours, rung_colours
from headway.report.page.packing import pack_curves, plain_json
from headway.report.page.views import RunView
from headway.settings import FlowSettings, PortraitSettings

PLANE = ("places", "field", "rest", "border", "lost")
"""What a portrait shows that no seed changes."""


def flow_run(view: RunView, settings: FlowSettings) -> dict[str, Any]:
    """The parts of a flow that differ from those of a training."""
    trajectory, features = view.trajectory, settings.features
    times = trajectory.times("loss")
    # Whatever else a record keeps, features sit at the first positions; attention on the others is what is left.
    curves = {
        "loss": trajectory["loss"],
        "attention": trajectory["attention"][..., :features],
        "values": trajectory["values"],
    }
    heads = trajectory["attention"].shape[2]
    return {
        "clocks": plain_json({"evaluation": times}),
        "arrays": {name: pack_curves(values) for name, values in curves.items()},
        "facts": {},
        "pictures_taken": 0,
        "task": _task(settings),
        "portraits": [portrait_of(*portrait) for portrait in view.portraits],
        "colours": {
            "heads": list(head_colours(heads)),
            "rungs": [UNIFORM_COLOUR, *rung_colours(features)],
            "references": [],
            "full": 1.0,
        },
    }


def _task(settings: FlowSettings) -> dict[str, Any]:
    strengths = strengths_of(settings)
    squares = np.append(strengths**2, 0.0)
    return {
        "blocks": [[position] for position in range(1, settings.features + 1)],
        "strengths": strengths.tolist(),
        "plateaus": (squares[::-1].cumsum()[::-1] / 2).tolist(),
        "length": settings.length,
        "ratio": settings.ratio,
        "projections": settings.projections,
        "references": [],
    }


def strengths_of(settings: FlowSettings | PortraitSettings) -> np.ndarray:
    """m_k = ratio^(h - k) base."""
    return settings.base * float(settings.ratio) ** np.arange(settings.features - 1, -1, -1)


def portrait_of(settings: PortraitSettings, trajectory: Trajectory) -> dict[str, Any]:
    """The first seed's orbits: the others' differ only in where they begin."""
    strength = float(strengths_of(settings)[settings.known])
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


def portrays(portrait: PortraitSettings, flow: FlowSettings) -> bool:
    """Whether the heads of that flow move, one after another, as in the portrait."""
    same = ("features", "ratio", "base", "projections")
    return all(getattr(portrait, name) == getattr(flow, name) for name in same)
