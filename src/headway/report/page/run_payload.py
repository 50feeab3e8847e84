"""What the page reads of one run, of whatever task: the arrays that are there, and the words to name them by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.records import About, Trajectory
from headway.report.about import CLOCKS, SCALARS, about_of, context_of, progress_array, silence_of
from headway.report.colours import SEVERAL_COLOUR, UNIFORM_COLOUR, head_colours, rung_colours
from headway.report.page.flow_payload import feature_task, features_of, portrait_of
from headway.report.page.ladder_payload import minima_of
from headway.report.page.packing import pack_curves, plain_json
from headway.report.page.picture_payload import SHOWN_ATTENTION, pictures_of, shown_attention_of
from headway.report.page.stop_payload import STEPS, diverged_at, stopped_at, threshold_of

if TYPE_CHECKING:
    from headway.report.page.views import RunView

MOST_LINES = 24
"""Lines of one measure, such as one a token, that a chart can hold."""
MOST_FACTS = 100_000
"""Numbers of a fact beyond which it stays on disk."""
MOST_TIMES = 2000
"""Points of a curve that a chart can show; of more, evenly spaced ones are kept."""

MOST_BYTES = 6_000_000
"""Bytes of an array of numbers by head, or by head and lag; of more, evenly spaced times are kept."""
FAMILY = "head_scores"
"""Arrays whose names begin so are scores of heads, which share one grid of charts."""
SHOWN = ("shown_rung", "shown_loss")
"""Of a stretch of text, (seed, evaluation, token); the fact `shown_written` has its tokens, as code points."""


def run_payload(view: RunView) -> dict[str, Any]:
    """One run as JSON; arrays that the page has no picture for stay on disk."""
    trajectory = _lightened(_thinned(view.trajectory))
    about = about_of(view.settings, view.provenance, trajectory)
    progress = progress_array(about, trajectory)
    if progress is None:
        raise ValueError(
            f"the run {view.label!r} has no curve to draw: its arrays are {sorted(trajectory.arrays) or 'none'}, and "
            "the page needs a loss, an excess_loss or an accuracy, (seed, time)."
        )
    trajectory, clock = _on_one_clock(trajectory, progress)
    trajectory = _while_known(trajectory, clock, progress)
    levels = _levels(about, view.settings, trajectory, progress)
    names = _rung_names(about, trajectory, view)
    measures = _measures(about, trajectory, progress)
    stages = {stages.seed: stages for stages in view.stages}
    groups = _groups(about, trajectory)
    pictures = pictures_of(trajectory)
    shown = shown_attention_of(trajectory)
    heads = _heads(trajectory, measures)
    references = _references(view.settings, trajectory)
    task = _task(view.settings)
    return {
        "label": view.label,
        "section": view.section,
        "title": about.title + _case(trajectory[progress]),
        "seeds": list(trajectory.seeds),
        "settings": plain_json(view.settings),
        "provenance": plain_json({name: value for name, value in view.provenance.items() if name != "about"}),
        "clock": _clock(clock, view.settings, trajectory),
        "progress": _progress(about, progress),
        "rungs": names,
        "levels": levels,
        "stages_from": _stages_from(trajectory),
        "silence": _silence(trajectory, view.settings, progress),
        "groups": groups,
        "measures": measures,
        "references": references,
        "stages": [plain_json(stages.get(seed)) for seed in trajectory.seeds],
        "minima": minima_of(view.trajectory),
        "intervals": plain_json(view.intervals),
        "level_name": view.level_name,
        "diverged": diverged_at(trajectory, clock, progress),
        "stopped": stopped_at(trajectory, clock),
        "threshold": threshold_of(view.settings, trajectory, clock),
        "clocks": plain_json(_clocks(trajectory, clock, measures) | pictures["clocks"] | shown["clocks"]),
        "arrays": _curves(trajectory, progress, groups, measures, clock) | pictures["arrays"] | shown["arrays"],
        "facts": {
            name: pack_curves(values)
            for name, values in trajectory.facts.items()
            if values.size <= MOST_FACTS and values.dtype.kind in "biuf"
        },
        "pictures_taken": pictures["taken"],
        "coarse": pictures["coarse"],
        "task": task,
        "portraits": [portrait_of(*portrait) for portrait in view.portraits],
        "colours": {
            "heads": list(head_colours(heads)),
            "several": SEVERAL_COLOUR,
            "rungs": [UNIFORM_COLOUR, *rung_colours(max(0, len(names) - 1))],
            "groups": list(rung_colours(max(len(groups), len(task.get("strengths", ()))))),
            "references": list(rung_colours(max(1, len(references)))),
            "lines": list(rung_colours(_most_lines(trajectory, measures))),
            "full": pictures["full"],
        },
    }


def _case(curve: np.ndarray) -> str:
    """Which of several cases in one record is shown."""
    count = int(np.prod(curve.shape[2:]))
    return f" (the first of {count} cases)" if count > 1 else ""


def _thinned(trajectory: Trajectory) -> Trajectory:
    """The same run with at most `MOST_TIMES` ticks a clock, first and last among them."""
    if all(len(ticks) <= MOST_TIMES for ticks in trajectory.clocks.values()):
        return trajectory
    kept = {
        name: np.unique(np.linspace(0, max(0, len(ticks) - 1), min(len(ticks), MOST_TIMES)).round().astype(int))
        for name, ticks in trajectory.clocks.items()
    }
    return Trajectory(
        seeds=trajectory.seeds,
        clocks={name: ticks[kept[name]] for name, ticks in trajectory.clocks.items()},
        arrays={name: values[:, kept[trajectory.clock_of[name]]] for name, values in trajectory.arrays.items()},
        clock_of=trajectory.clock_of,
        facts=trajectory.facts,
    )


def _lightened(trajectory: Trajectory) -> Trajectory:
    """The same run with large arrays of heads at fewer times, on clocks of their own."""
    large = [
        name
        for name, values in trajectory.arrays.items()
        if (name == "attention_by_lag" or name.startswith(f"{FAMILY}/")) and 4 * values.size > MOST_BYTES
    ]
    arrays, clocks, clock_of = dict(trajectory.arrays), dict(trajectory.clocks), dict(trajectory.clock_of)
    for name in large:
        times = arrays[name].shape[1]
        kept = np.linspace(0, times - 1, max(2, times * MOST_BYTES // (4 * arrays[name].size))).round().astype(int)
        kept = np.unique(kept)
        clocks[f"{name} at fewer times"] = trajectory.times(name)[kept]
        arrays[name], clock_of[name] = arrays[name][:, kept], f"{name} at fewer times"
    return replace(trajectory, arrays=arrays, clocks=clocks, clock_of=clock_of) if large else trajectory


def _on_one_clock(trajectory: Trajectory, progress: str) -> tuple[Trajectory, str]:
    """The first chart on the clock of the ladder below it, taken at the nearest ticks, and that clock's name."""
    own = trajectory.clock_of[progress]
    clock = trajectory.clock_of.get("kl_rungs", own)
    if clock == own or not len(trajectory.clocks[own]):
        return trajectory, own
    distance = np.abs(np.subtract.outer(trajectory.clocks[clock], trajectory.clocks[own]))
    arrays = {**trajectory.arrays, progress: trajectory[progress][:, distance.argmin(axis=1)]}
    return replace(trajectory, arrays=arrays, clock_of={**trajectory.clock_of, progress: clock}), clock


def _while_known(trajectory: Trajectory, clock: str, progress: str) -> Trajectory:
    """The same run without the ticks at its end at which no seed has progress: a clock that is no count of steps may go
    on for longer than any run does.
    """
    known = np.argwhere(np.isfinite(trajectory[progress]))  # (seed, tick, ..) of each number
    end = int(known[:, 1].max()) + 1 if len(known) else 0
    if clock in STEPS or not end:
        return trajectory
    own = [name for name, each in trajectory.clock_of.items() if each == clock]
    arrays = {name: values[:, :end] if name in own else values for name, values in trajectory.arrays.items()}
    return replace(trajectory, arrays=arrays, clocks={**trajectory.clocks, clock: trajectory.clocks[clock][:end]})


def _clock(name: str, settings: Any, trajectory: Trajectory) -> dict[str, Any]:
    """What the slider counts, and how far the run was meant to go."""
    if name not in STEPS:
        word, planned = "time" if name in CLOCKS else name, plain_json(getattr(settings, "last", None))
        axis = CLOCKS.get(name, name)
        return {"word": word, "unit": axis.partition(", ")[2], "whole": False, "axis": axis, "planned": planned}
    training = getattr(settings, "training", settings)
    planned = getattr(training, "steps", None)
    stopped = trajectory.facts.get("stopped_at")
    # Who stops when everything is learned was never meant to go on to the end.
    over = stopped is not None and bool(np.all(np.asarray(stopped) >= 0))
    whole = isinstance(planned, int) and not over
    return {"word": "step", "whole": True, "axis": "optimiser step", "planned": planned if whole else None}


def _progress(about: About, name: str) -> dict[str, Any]:
    """The first chart: which array, what it is called, and in which unit."""
    if name == "loss":
        return {"array": name, "word": about.loss, "unit": about.unit, "rises": False}
    word = SCALARS.get(name, dict(about.measures).get(name, name.replace("_", " ")))
    unit = about.unit if "loss" in name else ""
    return {"array": name, "word": word, "unit": unit, "rises": "accuracy" in name}


def _levels(about: About, settings: Any, trajectory: Trajectory, progress: str) -> Sequence[float | None]:
    """Where each rung lies in the first chart, the median over seeds: none where that is not known."""
    fact = trajectory.facts.get(f"rung_{progress.removesuffix('_loss')}")
    excess, entropy = (trajectory.facts.get(name) for name in ("rung_excess", "entropy"))
    if fact is None and progress == "loss" and excess is not None and entropy is not None:
        fact = excess + np.asarray(entropy)[:, None]
    if fact is not None and fact.ndim == 2:
        return plain_json(np.median(np.asarray(fact, float), axis=0))
    if progress == "loss" and "boundaries" in trajectory.facts and features_of(settings):
        return list(getattr(settings, "task", settings).plateaus)
    return []


def _stages_from(trajectory: Trajectory) -> str:
    """What the stages were found by: KL to the rungs of a ladder, known levels of the loss, or its plateaus."""
    if "kl_rungs" in trajectory:
        return "ladder"
    return "levels" if "boundaries" in trajectory.facts else "loss"


def _silence(trajectory: Trajectory, settings: Any, progress: str) -> float | None:
    """The loss of a model that has learnt nothing, where the stages are those of the loss after it."""
    level = silence_of(settings)
    return level if progress == "loss" and _stages_from(trajectory) == "loss" and math.isfinite(level) else None


def _rung_names(about: About, trajectory: Trajectory, view: RunView) -> list[str]:
    """What the stages are called, from knowing nothing on."""
    by = _stages_from(trajectory)
    if by == "loss":
        most = max((rung for stages in view.stages for rung in stages.rungs), default=0)
        return ["the start", *(f"plateau {number}" for number in range(1, most + 1))]
    count = trajectory["kl_rungs"].shape[2] if by == "ladder" else trajectory.facts["boundaries"].shape[1] + 1
    if len(about.rungs) == count:
        return list(about.rungs)
    return [f"rung {rung}" for rung in range(count)]


def _groups(about: About, trajectory: Trajectory) -> list[dict[str, Any]]:
    """Places whose attention is summed up, where there is attention to sum up."""
    own = "attention" in trajectory and trajectory["attention"].ndim == 4
    if not own and not _by_lag(trajectory):
        return []
    return [{"name": name, "lags": list(lags)} for name, lags in about.groups]


def _by_lag(trajectory: Trajectory) -> bool:
    return "attention_by_lag" in trajectory and trajectory["attention_by_lag"].ndim == 5


def _measures(about: About, trajectory: Trajectory, progress: str) -> list[dict[str, Any]]:
    """Further numbers over time: one a head, one a run, or a few lines."""
    named = dict(about.measures)
    candidates = {**{name: words for name, words in SCALARS.items() if name not in named}, **named}
    found = []
    for name, words in candidates.items():
        if name not in trajectory or (name == progress and trajectory[name].ndim == 2):
            continue
        values = trajectory[name]
        axes = {2: "run", 3: "lines", 4: "heads"}.get(values.ndim)
        if name == progress or axes is None or not values.size or (axes == "lines" and values.shape[2] > MOST_LINES):
            continue
        if name not in named and (axes != "run" or not _varies(values)):
            continue
        family = {"family": FAMILY} if name.startswith(f"{FAMILY}/") and axes == "heads" else {}
        found.append({"array": name, "words": words, "axes": axes, "clock": trajectory.clock_of[name], **family})
    return found


def _varies(values: np.ndarray) -> bool:
    known = values[np.isfinite(values)]
    return bool(known.size) and bool(known.min() < known.max())


def _most_lines(trajectory: Trajectory, measures: Sequence[dict[str, Any]]) -> int:
    return max((trajectory[each["array"]].shape[2] for each in measures if each["axes"] == "lines"), default=1)


def _heads(trajectory: Trajectory, measures: Sequence[dict[str, Any]]) -> int:
    if "attention" in trajectory:
        shape = trajectory["attention"].shape
        return shape[2] if len(shape) == 4 else shape[3] if len(shape) == 6 else 0
    if _by_lag(trajectory):
        return trajectory["attention_by_lag"].shape[3]
    if SHOWN_ATTENTION in trajectory:
        return trajectory[SHOWN_ATTENTION].shape[3]
    return max((trajectory[each["array"]].shape[3] for each in measures if each["axes"] == "heads"), default=0)


def _references(settings: Any, trajectory: Trajectory) -> list[str]:
    """Names of the trained models that the run is compared with."""
    if "kl_references" not in trajectory:
        return []
    count = trajectory["kl_references"].shape[2]
    # Lengths of windows, or the runs that have them.
    contexts = [context_of(each) if not isinstance(each, int) else each for each in getattr(settings, "references", ())]
    return (
        [f"context {each}" for each in contexts] if len(contexts) == count else [f"model {k + 1}" for k in range(count)]
    )


def _clocks(trajectory: Trajectory, clock: str, measures: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The ticks of the first chart, under the name "evaluation", and those of what is measured at other times."""
    others = {f"{each['array']} ": trajectory.clocks[each["clock"]] for each in measures if each["clock"] != clock}
    if _by_lag(trajectory) and trajectory.clock_of["attention_by_lag"] != clock:
        others["attention_by_lag "] = trajectory.times("attention_by_lag")
    return {"evaluation": trajectory.clocks[clock], **others}


def _curves(
    trajectory: Trajectory,
    progress: str,
    groups: Sequence[dict[str, Any]],
    measures: Sequence[dict[str, Any]],
    clock: str,
) -> dict[str, Any]:
    first = trajectory[progress]
    # Several cases in one record: the first of them is shown.
    curves = {progress: first[(..., *[0] * (first.ndim - 2))]}
    for name in ("kl_rungs", "kl_references", *SHOWN):
        if name in trajectory and trajectory.clock_of[name] == clock:
            curves[name] = trajectory[name]
    if _by_lag(trajectory):
        curves["attention_by_lag"] = trajectory["attention_by_lag"]
    if "attention" in trajectory and trajectory["attention"].ndim == 4:
        # Whatever else a record keeps, features sit at the first positions; attention on the others is what is left.
        curves["attention"] = trajectory["attention"][..., : len(groups)]
        if "values" in trajectory and trajectory["values"].ndim == 4:
            curves["values"] = trajectory["values"]
    curves |= {each["array"]: trajectory[each["array"]] for each in measures}
    return {name: pack_curves(values) for name, values in curves.items()}


def _task(settings: Any) -> dict[str, Any]:
    """What the drawing of the task needs, where the settings are of one that has a drawing."""
    if features_of(settings):
        return feature_task(settings)
    task: Any = getattr(settings, "task", None)
    wanted = ("blocks", "base", "ratio", "start", "horizon")
    if not all(hasattr(task, name) for name in wanted):
        return {}
    count = len(task.blocks)
    return {
        "blocks": plain_json(task.blocks),
        "strengths": [task.base * task.ratio ** (count - 1 - block) for block in range(count)],
        "ratio": task.ratio,
        "start": task.start,
        "horizon": task.horizon,
    }
