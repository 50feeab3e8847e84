"""A table of gradient flows: when their stages ended, and what was left of the loss."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from headway.analysis import OverSeeds, over_seeds
from headway.report.document.tables import NamedRun

WORDS = """\
*Boundary i* is the time at which the loss is half-way from ½ Σ_{j≥i} m_j² to ½ Σ_{j>i} m_j². Time is that of the flow,
which has no learning rate."""


def fits(run: NamedRun) -> bool:
    """Whether a run has a loss, boundaries in it, and a projection: a flow."""
    measured = "loss" in run.trajectory and "boundaries" in run.trajectory.facts
    return measured and hasattr(run.settings, "projections")


def flow_table(runs: Sequence[NamedRun]) -> str:
    """Run by run: how often Pi(s) is applied, seeds, when each stage ended, how they compare, the loss at the end."""
    features = max(run.settings.features for run in runs)
    headings = ["run", "grid", "Π(s)", "seeds", *(f"boundary {stage}" for stage in range(1, features + 1))]
    headings += [f"{stage} / {stage - 1}" for stage in range(2, features + 1)]
    headings += ["loss at the start", "and at the end"]
    lines = [_row(headings), "|---" * len(headings) + "|"]
    for run in runs:
        ends = np.full((len(run.trajectory.seeds), features), np.nan)
        ends[:, : run.settings.features] = run.trajectory.facts["boundaries"]
        ends[~np.isfinite(ends)] = np.nan
        loss = run.trajectory["loss"]
        cells = [run.name, run.grid, {1: "once", 2: "squared"}[run.settings.projections], f"{len(ends)}"]
        cells += [_number(over_seeds(column)) for column in ends.T]
        cells += [_number(over_seeds(column)) for column in (ends[:, 1:] / ends[:, :-1]).T]
        cells += [_median(loss[:, 0], ".2f"), _median(loss[:, -1], ".1g")]
        lines.append(_row(cells))
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _median(values: np.ndarray, digits: str) -> str:
    over = over_seeds(values)
    return f"{over.median:{digits}}" if over.seeds else "-"


def _number(over: OverSeeds) -> str:
    """Median and interval in three digits, and how many seeds have one."""
    if over.seeds == 0:
        return "-"
    interval = f" [{over.low:.3g}, {over.high:.3g}]" if math.isfinite(over.low) else ""
    missing = f" ({over.seeds} of {over.seeds + over.missing})" if over.missing else ""
    return f"{over.median:.3g}{interval}{missing}"
