"""A record as the page shows it: the run with its stages, found from whatever of it shows them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headway.analysis import Stages, stage_summary, stages_after_settling, stages_from_ladder
from headway.analysis.intervals import interval_over_seeds
from headway.records import Trajectory
from headway.report.about import silence_of
from headway.report.page import RunView, SeedStages
from headway.report.page.flow_payload import portrays

LOSSES = ("excess_loss", "loss")
"""Curves in which plateaus are looked for, where nothing else shows the stages."""

Interval = tuple[float, float] | None


def run_view(
    label: str,
    settings: Any,
    trajectory: Trajectory,
    provenance: Mapping[str, Any],
    portraits: Sequence[tuple[Any, Trajectory]] = (),
    section: str = "",
) -> RunView:
    """Any run: stages from the ladder, from boundaries that were measured, or from the loss, whatever there is.

    Of the portraits it keeps those that are of its heads.
    """
    stages, intervals = _stages(trajectory, silence_of(settings))
    own = tuple(portrait for portrait in portraits if portrays(portrait[0], settings))
    level = "lowest KL to the rung of each stage" if "kl_rungs" in trajectory else "loss there"
    return RunView(label, settings, trajectory, dict(provenance), stages, intervals, level, own, section)


def _stages(trajectory: Trajectory, silence: float) -> tuple[tuple[SeedStages, ...], tuple[Interval, ...]]:
    if "kl_rungs" in trajectory and trajectory["kl_rungs"].ndim == 3:
        times, rungs = trajectory.times("kl_rungs"), trajectory["kl_rungs"].shape[2]
        found = [stages_from_ladder(times, kl) for kl in trajectory["kl_rungs"]] if rungs > 1 else []
        return _of_seeds(trajectory, found), _between(found, range(1, rungs - 1))
    if "boundaries" in trajectory.facts:
        return _between_boundaries(trajectory)
    name = next((name for name in LOSSES if name in trajectory and trajectory[name].ndim == 2), None)
    if name is None:
        return (), ()
    level = silence if name == "loss" else math.inf
    found = [stages_after_settling(trajectory.times(name), loss, level) for loss in trajectory[name]]
    most = max((each.count for each in found), default=0)
    first = interval_over_seeds([each.start for each in found])
    known = first if math.isfinite(first[0]) else None
    return _of_seeds(trajectory, found), (known, *_between(found, range(1, most)))


def _of_seeds(trajectory: Trajectory, found: Sequence[Stages]) -> tuple[SeedStages, ...]:
    return tuple(
        SeedStages(seed, each.rungs, each.boundaries, each.levels, each.start)
        for seed, each in zip(trajectory.seeds, found, strict=bool(found))
        if each.rungs
    )


def _between(found: Sequence[Stages], rungs: range) -> tuple[Interval, ...]:
    """Of the step from each of these rungs to the next: the interval of its median."""
    crossings = stage_summary(list(found)).boundaries
    over = [crossings.get((rung, rung + 1)) for rung in rungs]
    return tuple((each.low, each.high) if each is not None and math.isfinite(each.low) else None for each in over)


def _between_boundaries(trajectory: Trajectory) -> tuple[tuple[SeedStages, ...], tuple[Interval, ...]]:
    """Boundary i is where the loss is half-way from plateau i to the next; the first one begins the first stage."""
    met = np.asarray(trajectory.facts["boundaries"], float)
    stages = []
    for seed, times in zip(trajectory.seeds, met, strict=True):
        reached = [float(time) for time in times[np.isfinite(times)]]
        if reached:
            rungs = tuple(range(1, len(reached) + 1))
            stages.append(SeedStages(seed, rungs, tuple(reached[1:]), start=reached[0]))
    spread = [interval_over_seeds(times) for times in met.T]
    return tuple(stages), tuple(ends if math.isfinite(ends[0]) else None for ends in spread)
