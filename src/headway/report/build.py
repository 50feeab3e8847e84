"""Records and findings, put together as the page shows them."""

from __future__ import annotations

import math

from headway.analysis import stage_summary
from headway.analysis.seed_stages import ladder_stages
from headway.records import Trajectory
from headway.report.page import RunView, SeedStages
from headway.settings import Settings


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
