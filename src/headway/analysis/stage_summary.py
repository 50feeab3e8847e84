"""Stages over seeds: how many, and when one gives way to the next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headway.analysis.intervals import OverSeeds, over_seeds
from headway.analysis.stages import Stages


@dataclass(frozen=True)
class StageSummary:
    """The stages that a group of seeds went through."""

    counts: tuple[int, ...]
    """Number of stages, seed by seed."""
    median_count: float
    boundaries: dict[tuple[int, int], OverSeeds]
    """(stage before, stage after) -> when, over the seeds that have this boundary; earliest median first."""


def stage_summary(stages: Sequence[Stages], confidence: float = 0.95) -> StageSummary:
    """Median number of stages, and for every boundary that some seed has its median time and interval.

    Boundaries are matched by the stages on both sides, so a seed that goes from rung 1 straight to 3
    counts for (1, 3) and not for (1, 2). `missing` counts the seeds without that boundary. They are left
    out, not replaced by the end of training, so a median over few seeds is a median of the early ones:
    read both numbers. A seed that crosses the same boundary twice counts with the first time.
    """
    times: dict[tuple[int, int], list[float]] = {}
    for seed, found in enumerate(stages):
        for crossing, time in zip(found.crossings, found.boundaries, strict=True):
            row = times.setdefault(crossing, [math.nan] * len(stages))
            if math.isnan(row[seed]):
                row[seed] = time
    summaries = {crossing: over_seeds(row, confidence) for crossing, row in times.items()}
    counts = tuple(found.count for found in stages)
    return StageSummary(
        counts=counts,
        median_count=float(np.median(counts)) if counts else math.nan,
        boundaries=dict(sorted(summaries.items(), key=lambda item: item[1].median)),
    )
