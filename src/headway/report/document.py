"""docs/reproduction.md, written from the records: verdicts, and stage boundaries beside the published ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from headway.analysis import OverSeeds, Stages, over_seeds, stages_from_loss
from headway.presets import PUBLISHED_BOUNDARIES
from headway.records import Finding, Trajectory
from headway.report.stages import ladder_stages
from headway.settings import Settings

Run = tuple[str, str, Settings, Trajectory]
"""(kind of model, grid, settings, trajectory)."""


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
        "the excess loss has gone half-way from one plateau to the next, counted from the last plateau back, in the "
        "seeds that show enough of them ([measures](measures.md)).",
        _boundaries(runs),
        "## Plateaus of the excess loss",
        "Found from the excess-loss curve alone, in nats, counted from the last one back.",
        _plateaus(runs),
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
            measured = ""
            if finding.values:
                low, high = finding.interval or (math.nan, math.nan)
                measured = f"{np.median(finding.values):.3g} [{low:.3g}, {high:.3g}]"
            lines.append(f"| {grid} | {finding.verdict} | {seeds} | {measured} | {' '.join(words)} |")
        blocks.append("\n".join(lines))
    return blocks


def _boundaries(runs: Sequence[Run]) -> str:
    lines = [
        "| model | grid | stage that ends | published | leaving | boundary | from the loss alone |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, grid, settings, trajectory in runs:
        found, curves = ladder_stages(trajectory), _last_stages(settings, trajectory)
        for rung in range(1, len(settings.task.blocks)):
            left = [_at(stages, stages.leavings, rung) for stages in found]
            crossed = [_at(stages, stages.boundaries, rung) for stages in found]
            halves = [
                math.nan if stages is None else stages.boundaries[rung - len(settings.task.blocks)] for stages in curves
            ]
            published = PUBLISHED_BOUNDARIES.get(kind, ()) if grid == "as-run" else ()
            cells = [_steps(over_seeds(values)) for values in (left, crossed, halves)]
            lines.append(
                f"| {kind} | {grid} | {rung} | {published[rung - 1] if published else ''} | {' | '.join(cells)} |"
            )
    return "\n".join(lines)


def _at(stages: Stages, times: tuple[float, ...], rung: int) -> float:
    """The time that belongs to the step from `rung` to the next, or NaN."""
    crossing = (rung, rung + 1)
    return times[stages.crossings.index(crossing)] if crossing in stages.crossings else math.nan


def _last_stages(settings: Settings, trajectory: Trajectory) -> list[Stages | None]:
    """Stages from the loss alone, for the seeds that show at least as many plateaus as there are blocks.

    The full model has a plateau more, before the heads look anywhere: so the last ones are the ones to compare.
    """
    times = trajectory.times("excess_loss")
    curves = [stages_from_loss(times, loss) for loss in trajectory["excess_loss"]]
    return [stages if stages.count >= len(settings.task.blocks) else None for stages in curves]


def _plateaus(runs: Sequence[Run]) -> str:
    lines = ["| model | grid | plateaus (median) | third last | second last | last |", "|---|---|---|---|---|---|"]
    for kind, grid, _, trajectory in runs:
        times = trajectory.times("excess_loss")
        curves = [stages_from_loss(times, loss) for loss in trajectory["excess_loss"]]
        levels = [[stages.levels[-k] if stages.count >= k else math.nan for stages in curves] for k in (3, 2, 1)]
        count = np.median([stages.count for stages in curves])
        lines.append(f"| {kind} | {grid} | {count:g} | {' | '.join(_level(over_seeds(row)) for row in levels)} |")
    return "\n".join(lines)


def _steps(over: OverSeeds) -> str:
    return "-" if over.seeds == 0 else f"{over.median:.0f} [{over.low:.0f}, {over.high:.0f}]{_missing(over)}"


def _level(over: OverSeeds) -> str:
    return "-" if over.seeds == 0 else f"{over.median:.2f} [{over.low:.2f}, {over.high:.2f}]{_missing(over)}"


def _missing(over: OverSeeds) -> str:
    return f" ({over.seeds} of {over.seeds + over.missing} seeds)" if over.missing else ""
