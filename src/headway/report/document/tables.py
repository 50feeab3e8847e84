"""Tables of a document: when each run went from rung to rung, or a flow from stage to stage, and how low it came."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from headway.analysis import OverSeeds, Stages, over_seeds
from headway.analysis.seed_stages import ladder_stages
from headway.published import PLATEAUS, STAGE_ENDS
from headway.records import Trajectory

FLOW_WORDS = """\
*Boundary i* is the time at which the loss is half-way from ½ Σ_{j≥i} m_j² to ½ Σ_{j>i} m_j². Time is that of the flow,
which has no learning rate."""


class NamedRun(NamedTuple):
    """A run of an experiment's grid."""

    experiment: str
    grid: str
    name: str
    settings: Any
    """Those of its kind."""
    trajectory: Trajectory


def stage_table(runs: Sequence[NamedRun]) -> str:
    """Run by run: seeds, stages, when each stage ended, the excess loss there and at its lowest."""
    rungs = max(run.trajectory["kl_rungs"].shape[2] - 1 for run in runs)
    headings = ["run", "grid", "seeds", "stages"]
    for rung in range(1, rungs):
        headings += [f"minimum of KL to rung {rung}", f"boundary {rung}/{rung + 1}"]
    headings += ["published", "excess loss at the rungs", "lowest", "published"]
    lines = [_row(headings), "|---" * len(headings) + "|"]
    for run in runs:
        stages = ladder_stages(run.trajectory)
        cells = [run.name, run.grid, f"{len(run.trajectory.seeds)}", stages_in_words(stages)]
        for rung in range(1, rungs):
            cells.append(_spread(over_seeds([_at(found, found.leavings, rung) for found in stages])))
            cells.append(_spread(over_seeds([_at(found, found.boundaries, rung) for found in stages])))
        known = (run.experiment, run.name) if run.grid == "as-run" else None
        cells.append(", ".join(map(str, STAGE_ENDS.get(known, ()))))
        cells.append(", ".join(_level(over) for over in _levels(run.trajectory)))
        cells.append(_level(over_seeds(_least(run.trajectory["excess_loss"]))))
        cells.append(", ".join(map(str, PLATEAUS.get(known, ()))))
        lines.append(_row(cells))
    return "\n".join(lines)


def schedule_table(runs: Sequence[NamedRun]) -> str:
    """What became of the learning rate, and of the first stage."""
    lines = [
        "| run | grid | schedule | rate at the end / at the start | boundary 1/2 | lowest excess loss |",
        "|---|---|---|---|---|---|",
    ]
    for run in runs:
        rates = run.trajectory["learning_rate"]
        ends = [_at(found, found.boundaries, 1) for found in ladder_stages(run.trajectory)]
        cells = [
            run.name,
            run.grid,
            run.settings.training.schedule,
            f"{np.median(rates[:, -1] / rates[:, 0]):.2g}",
            _spread(over_seeds(ends)),
            _level(over_seeds(_least(run.trajectory["excess_loss"]))),
        ]
        lines.append(_row(cells))
    return "\n".join(lines)


def is_flow(run: NamedRun) -> bool:
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
        cells = [run.name, run.grid, {1: "once", 2: "twice"}[run.settings.projections], f"{len(ends)}"]
        cells += [_spread(over_seeds(column), ".3g") for column in ends.T]
        cells += [_spread(over_seeds(column), ".3g") for column in (ends[:, 1:] / ends[:, :-1]).T]
        cells += [_level(over_seeds(loss[:, 0])), _level(over_seeds(loss[:, -1]), ".1g")]
        lines.append(_row(cells))
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def stages_in_words(stages: Sequence[Stages]) -> str:
    """Fewest to most rungs over seeds, and those that pass them in another order: "1 to 2 (3 of 10 not in order)"."""
    met = sorted({len(set(found.rungs)) for found in stages})
    astray = sum(list(found.rungs) != sorted(found.rungs) for found in stages)
    counted = f" ({astray} of {len(stages)} not in order)" if astray else ""
    return " to ".join(map(str, {met[0]: 0, met[-1]: 0})) + counted


def _at(stages: Stages, times: tuple[float, ...], rung: int) -> float:
    """The time that belongs to the step from `rung` to the next, or NaN."""
    crossing = (rung, rung + 1)
    return times[stages.crossings.index(crossing)] if crossing in stages.crossings else math.nan


def _least(values: np.ndarray) -> np.ndarray:
    """The smallest of each seed as long as it was trained; NaN of one without any."""
    least = np.min(np.where(np.isfinite(values), values, np.inf), axis=1)
    return np.where(np.isfinite(least), least, np.nan)


def _levels(trajectory: Trajectory) -> list[OverSeeds]:
    """Excess loss at the step at which KL to each rung reaches its minimum, where it rises again later."""
    kl = trajectory["kl_rungs"][:, :, 1:]
    known: np.ndarray = np.all(np.isfinite(kl), axis=2)  # a seed that has learnt stops, and the others go on
    lowest = np.argmin(np.where(known[:, :, None], kl, np.inf), axis=1)
    loss = np.take_along_axis(trajectory["excess_loss"], lowest, axis=1)
    # A lower rung has been passed once KL to it rises again; the truth may be approached to the end.
    met = lowest < known.sum(axis=1)[:, None] - 1
    met[:, -1] = met[:, :-1].all(axis=1)
    return [over_seeds(column) for column in np.where(met, loss, np.nan).T]


def _spread(over: OverSeeds, digits: str = ".0f") -> str:
    """Median and interval, and how many seeds have one."""
    if over.seeds == 0:
        return "-"
    interval = f" [{over.low:{digits}}, {over.high:{digits}}]" if math.isfinite(over.low) else ""  # one seed has none
    missing = f" ({over.seeds} of {over.seeds + over.missing})" if over.missing else ""
    return f"{over.median:{digits}}{interval}{missing}"


def _level(over: OverSeeds, digits: str = ".2f") -> str:
    missing = f" ({over.seeds} of {over.seeds + over.missing})" if over.missing else ""
    return "-" if over.seeds == 0 else f"{over.median:{digits}}{missing}"
