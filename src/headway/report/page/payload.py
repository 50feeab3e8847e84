"""Everything that the page's JavaScript reads, as plain words and numbers.

Arrays travel as base64. Curves keep their float32 bits; attention matrices, which are only looked at, are
cut to 255 levels of `step` each, so that what is shown is within step / 2 of what was measured. Figures are
PNG files, byte for byte.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from headway.records import Finding, Trajectory, plain
from headway.report.colours import UNIFORM_COLOUR, full_strength, head_colours, rung_colours
from headway.report.page.views import FigureGroup, Report, RunView
from headway.settings import Settings

MISSING = 255
"""The level that stands for a number that is not there."""
_HIGHEST = 254
MOST_PICTURES = 2_000_000
"""Bytes that the attention matrices of a run may take; of more, evenly spaced times are kept."""

# The step-by-step training loss stays on disk: the page draws what was measured on the test sequences.
CURVES = ("excess_loss", "kl_rungs", "kl_references", "attention_by_lag", "learning_rate")


def pack_curves(values: np.ndarray) -> dict[str, Any]:
    """float32 numbers, bit for bit."""
    little_endian = np.ascontiguousarray(values, dtype="<f4")
    return {"type": "float32", "shape": list(values.shape), "data": _base64(little_endian)}


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
        return np.frombuffer(raw, "<f4").reshape(packed["shape"])
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
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)


def payload(report: Report) -> dict[str, Any]:
    """The report as one JSON value."""
    return {
        "title": report.title,
        "runs": [_run(view) for view in report.runs],
        "findings": [{"grid": grid, **_finding(finding)} for grid, finding in report.findings],
        "figures": [_figures(group) for group in report.figures],
        "commands": list(report.commands),
    }


def _run(view: RunView) -> dict[str, Any]:
    trajectory = view.trajectory
    settings = view.settings
    stages = {stages.seed: stages for stages in view.stages}
    return {
        "label": view.label,
        "seeds": list(trajectory.seeds),
        **_clocks_and_arrays(trajectory),
        "facts": {name: pack_curves(values) for name, values in trajectory.facts.items()},
        "task": _task(settings),
        "settings": plain_json(settings),
        "provenance": plain_json(view.provenance),
        "stages": [plain_json(stages.get(seed)) for seed in trajectory.seeds],
        "intervals": plain_json(view.intervals),
        "level_name": view.level_name,
        "colours": {
            "heads": list(head_colours(settings.model.heads)),
            "rungs": [UNIFORM_COLOUR, *rung_colours(len(settings.task.blocks))],
            "references": list(rung_colours(max(1, len(settings.references)))),
            "full": full_strength(trajectory["attention"]) if "attention" in trajectory else 1.0,
        },
    }


def _clocks_and_arrays(trajectory: Trajectory) -> dict[str, Any]:
    clocks = {"evaluation": trajectory.clocks.get("evaluation", np.empty(0))}
    arrays = {name: pack_curves(trajectory[name]) for name in CURVES if name in trajectory}
    taken = 0
    if "attention" in trajectory and trajectory["attention"].size:
        attention = trajectory["attention"]
        taken = attention.shape[1]
        kept = kept_times(taken, attention.size)
        clocks["snapshot"] = trajectory.times("attention")[kept]
        arrays["attention"] = pack_levels(attention[:, kept])
    return {"clocks": plain_json(clocks), "arrays": arrays, "pictures_taken": taken}


def kept_times(times: int, size: int) -> np.ndarray:
    """Evenly spaced times, first and last included, at which at most `MOST_PICTURES` of `size` bytes fall."""
    room = max(2, times * MOST_PICTURES // size)
    return np.unique(np.linspace(0, times - 1, min(times, room)).round().astype(int))


def _task(settings: Settings) -> dict[str, Any]:
    """What follows from the settings, so that the page need not know the rules."""
    task = settings.task
    count = len(task.blocks)
    return {
        "blocks": plain_json(task.blocks),
        "strengths": [task.base * task.ratio ** (count - 1 - block) for block in range(count)],
        "ratio": task.ratio,
        "weighting": task.weighting,
        "tokens": task.tokens,
        "start": task.start,
        "horizon": task.horizon,
        "references": list(settings.references),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {**plain_json(finding), "verdict": finding.verdict}


def _figures(group: FigureGroup) -> dict[str, Any]:
    figures = [{"name": name, **pack_figure(content)} for name, content in group.figures]
    return {"key": group.key, "title": group.title, "grid": group.grid, "figures": figures}


def pack_figure(png: bytes) -> dict[str, Any]:
    """The file and its size in pixels: the page keeps that room free before the picture is decoded."""
    width, height = struct.unpack(">II", png[16:24])  # the first chunk of every PNG begins with them
    return {"width": width, "height": height, "data": base64.b64encode(png).decode("ascii")}


def _base64(values: np.ndarray) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")
