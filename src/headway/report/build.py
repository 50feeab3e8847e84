"""Records and findings, put together as the page shows them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from headway.analysis import stage_summary
from headway.analysis.intervals import interval_over_seeds
from headway.analysis.seed_stages import ladder_stages
from headway.records import Trajectory
from headway.report.page import RunView, SeedStages
from headway.report.page.flow_payload import portrays
from headway.settings import FlowSettings, PortraitSettings
from headway.tasks.run import Settings


def run_view(label: str, settings: Settings, trajectory: Trajectory, provenance: dict) -> RunView:
    """One run with the stages that its ladder shows."""
    stages = ladder_stages(trajectory)
    crossings = stage_summary(stages).boundaries
    intervals = []
    for rung in range(1, len(settings.task.blocks)):
        over = crossings.get((rung, rung + 1))
        known = over is not None and math.isfinite(over.low)
        intervals.append((over.low, over.high) if over is not None and known else None)
    seed_stages = tuple(
        SeedStages(seed, found.rungs, found.boundaries, found.levels, found.start)
        for seed, found in zip(trajectory.seeds, stages, strict=True)
        if found.rungs
    )
    return RunView(label, settings, trajectory, provenance, seed_stages, tuple(intervals))


def flow_view(
    label: str,
    settings: FlowSettings,
    trajectory: Trajectory,
    provenance: dict,
    portraits: Sequence[tuple[PortraitSettings, Trajectory]] = (),
) -> RunView:
    """A gradient flow with the stages between its boundaries, and those of the portraits that are of its heads.

    Boundary i is where the loss is half-way from plateau i to plateau i + 1; the first one begins the first stage.
    """
    met = np.asarray(trajectory.facts["boundaries"], float)
    stages = []
    for seed, times in zip(trajectory.seeds, met, strict=True):
        reached = [float(time) for time in times[np.isfinite(times)]]
        if reached:
            rungs = tuple(range(1, len(reached) + 1))
            stages.append(SeedStages(seed, rungs, tuple(reached[1:]), start=reached[0]))
    spread = [interval_over_seeds(times) for times in met.T]
    intervals = tuple(ends if math.isfinite(ends[0]) else None for ends in spread)
    own = tuple(portrait for portrait in portraits if portrays(portrait[0], settings))
    return RunView(label, settings, trajectory, provenance, tuple(stages), intervals, portraits=own)


def any_view(
    label: str,
    settings: Settings | FlowSettings,
    trajectory: Trajectory,
    provenance: dict,
    portraits: Sequence[tuple[PortraitSettings, Trajectory]] = (),
) -> RunView:
    """A training or a gradient flow, whichever the settings are of."""
    if isinstance(settings, FlowSettings):
        return flow_view(label, settings, trajectory, provenance, portraits)
    return run_view(label, settings, trajectory, provenance)
