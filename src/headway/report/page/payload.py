"""Everything that the page's JavaScript reads, as plain words and numbers; figures are PNG files, byte for byte."""

from __future__ import annotations

import base64
import gzip
import struct
from typing import Any

import numpy as np

from headway.records import Finding, Trajectory
from headway.report.colours import UNIFORM_COLOUR, full_strength, head_colours, rung_colours
from headway.report.page.flow_payload import flow_run
from headway.report.page.packing import pack_curves, pack_levels, plain_json
from headway.report.page.views import FigureGroup, Report, RunView
from headway.settings import FlowSettings
from headway.tasks.run import Settings

MOST_PICTURES = 2_000_000
"""Bytes that the attention matrices of a run may take; of more, evenly spaced times are kept."""

# The step-by-step training loss stays on disk: the page draws what was measured on the test sequences.
CURVES = ("excess_loss", "kl_rungs", "kl_references", "attention_by_lag", "learning_rate")


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
    settings = view.settings
    stages = {stages.seed: stages for stages in view.stages}
    own = flow_run(view, settings) if isinstance(settings, FlowSettings) else _training(view.trajectory, settings)
    return {
        "kind": settings.KIND,
        "label": view.label,
        "seeds": list(view.trajectory.seeds),
        "settings": plain_json(settings),
        "provenance": plain_json(view.provenance),
        "stages": [plain_json(stages.get(seed)) for seed in view.trajectory.seeds],
        "intervals": plain_json(view.intervals),
        "level_name": view.level_name,
        **own,
    }


def _training(trajectory: Trajectory, settings: Settings) -> dict[str, Any]:
    return {
        **_clocks_and_arrays(trajectory),
        "facts": {name: pack_curves(values) for name, values in trajectory.facts.items()},
        "task": _task(settings),
        "portraits": [],
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
    figures = [
        {"name": name, "svg": pack_text(group.drawings.get(name)), **pack_figure(content)}
        for name, content in group.figures
    ]
    return {"key": group.key, "title": group.title, "grid": group.grid, "figures": figures}


def pack_text(content: bytes | None) -> str | None:
    """Compressed, with no date in it, so that the same drawing is the same text."""
    return None if content is None else base64.b64encode(gzip.compress(content, mtime=0)).decode("ascii")


def pack_figure(png: bytes) -> dict[str, Any]:
    """The file and its size in pixels: the page keeps that room free before the picture is decoded."""
    width, height = struct.unpack(">II", png[16:24])  # the first chunk of every PNG begins with them
    return {"width": width, "height": height, "data": base64.b64encode(png).decode("ascii")}
