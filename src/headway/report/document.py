"""docs/reproduction.md, written from the records: verdicts, and stage boundaries beside the published ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from headway.analysis import OverSeeds, Stages, over_seeds, stages_from_loss
from headway.analysis.seed_stages import ladder_stages
from headway.presets import PUBLISHED_BOUNDARIES
from headway.records import Finding, Trajectory
from headway.settings import Settings

Run = tuple[str, str, Settings, Trajectory]
"""(kind of model, grid, settings, trajectory)."""

NEAR = 1.5
"""Two readings of one boundary differ by less than this factor."""


def write_document(path: Path, findings: Sequence[tuple[str, Finding]], runs: Sequence[Run], command: str) -> Path:
    """The whole page as Markdown."""
    parts = [
        "# What is reproduced of paper A, and what is not",
        f"Every number on this page is made from the records by `{command}`; do not edit it.",
        "## Claims",
        "A claim holds if it holds in every seed, partly if in at least half of them. Intervals are 95 % intervals of "
        "the median over seeds (BCa bootstrap). `printed` is what the paper says, `as-run` what the authors' code did.",
        *_claims(findings),
        "## Stage boundaries beside the published ones",
        "The authors placed their boundaries by eye, for one seed, in figures of the as-run settings. Ours are found "
        "in every seed: *leaving* is the step at which KL to the rung is lowest, *boundary* the step at which the "
        "model is as far from its best approach to one rung as to the next, *from the loss alone* the step at which "
        "the excess loss has gone half-way from one plateau to the next, where such a step lies within a factor "
        f"{NEAR:g} of the boundary ([measures](measures.md)).",
        _boundaries(runs),
        "## Excess loss at each rung",
        "In nats, at the step at which KL to the rung is lowest; for the last rung that is the smallest distance to "
        "the truth. A rung whose KL still falls at the last step has not been met.",
        _levels(runs),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return path


def _claims(findings: Sequence[tuple[str, Finding]]) -> list[str]:
    blocks = []
    for claim in dict.fromkeys(finding.claim for _, finding in findings):
        rows = [(grid, finding) for grid, finding in findings if finding.claim == claim]
        lines = [
            f"**{claim}.** {rows[0][1].statement}",
            "",
            f"*Definition:* {rows[0][1].definition}",
            "",
            f"| grid | verdict | seeds | {rows[0][1].quantity} | |",
            "|---|---|---|---|---|",
        ]
        for grid, finding in rows:
            seeds = f"{sum(finding.holds)}/{len(finding.holds)}" if finding.holds else ""
            words = [finding.detail] if finding.detail else []
            if finding.parts and finding.verdict in ("partly", "fails"):
                words.append("; ".join(f"{part}: {count}" for part, count in finding.parts.items()))
            lines.append(f"| {grid} | {finding.verdict} | {seeds} | {_measured(finding)} | {' '.join(words)} |")
        blocks.append("\n".join(lines))
    return blocks


def _measured(finding: Finding) -> str:
    """The median over the seeds that have a value, and its interval if it is known."""
    found = over_seeds(finding.values)
    if found.seeds == 0:
        return ""
    interval = "" if finding.interval is None else f" [{finding.interval[0]:.3g}, {finding.interval[1]:.3g}]"
    return f"{found.median:.3g}{interval}"


def _boundaries(runs: Sequence[Run]) -> str:
    lines = [
        "| model | grid | stage that ends | published | leaving | boundary | from the loss alone |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, grid, settings, trajectory in runs:
        found = ladder_stages(trajectory)
        curves = [stages_from_loss(trajectory.times("excess_loss"), loss) for loss in trajectory["excess_loss"]]
        for rung in range(1, len(settings.task.blocks)):
            left = [_at(stages, stages.leavings, rung) for stages in found]
            crossed = [_at(stages, stages.boundaries, rung) for stages in found]
            halves = [_nearest(curve.boundaries, time) for curve, time in zip(curves, crossed, strict=True)]
            published = PUBLISHED_BOUNDARIES.get(kind, ()) if grid == "as-run" else ()
            known = published[rung - 1] if rung <= len(published) else ""
            cells = [_steps(over_seeds(values)) for values in (left, crossed, halves)]
            lines.append(f"| {kind} | {grid} | {rung} | {known} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _at(stages: Stages, times: tuple[float, ...], rung: int) -> float:
    """The time that belongs to the step from `rung` to the next, or NaN."""
    crossing = (rung, rung + 1)
    return times[stages.crossings.index(crossing)] if crossing in stages.crossings else math.nan


def _nearest(times: tuple[float, ...], wanted: float) -> float:
    """The one of `times` that is nearest to `wanted` in log-time, or NaN if none is near.

    Curves have plateaus that no rung stands for, so that counting them would compare different ones.
    """
    near = [time for time in times if wanted / NEAR <= time <= wanted * NEAR]
    return min(near, key=lambda time: abs(math.log(time / wanted)), default=math.nan)


def _levels(runs: Sequence[Run]) -> str:
    rungs = max(len(settings.task.blocks) for _, _, settings, _ in runs)
    headings = [f"f_{{1:{rung}}}" for rung in range(1, rungs + 1)]
    lines = [f"| model | grid | {' | '.join(headings)} |", "|---|---" + "|---" * rungs + "|"]
    for kind, grid, settings, trajectory in runs:
        lowest = np.argmin(trajectory["kl_rungs"][:, :, 1:], axis=1)
        loss = np.take_along_axis(trajectory["excess_loss"], lowest, axis=1)
        last = len(trajectory.times("kl_rungs")) - 1
        # A lower rung has been met once KL to it rises again; the truth may be approached to the end.
        met = lowest < last
        met[:, -1] = met[:, :-1].all(axis=1)
        cells = [_level(over_seeds(column)) for column in np.where(met, loss, np.nan).T]
        lines.append(f"| {kind} | {grid} | {' | '.join(cells + [''] * (rungs - len(settings.task.blocks)))} |")
    return "\n".join(lines)


def _steps(over: OverSeeds) -> str:
    return "-" if over.seeds == 0 else f"{over.median:.0f} [{over.low:.0f}, {over.high:.0f}]{_missing(over)}"


def _level(over: OverSeeds) -> str:
    return "-" if over.seeds == 0 else f"{over.median:.2f} [{over.low:.2f}, {over.high:.2f}]{_missing(over)}"


def _missing(over: OverSeeds) -> str:
    return f" ({over.seeds} of {over.seeds + over.missing} seeds)" if over.missing else ""
