"""Cells of the flow of paper B's toy: each is solved, and seen on its own time scale.

The clock "escape" counts closed forms of the plateau, sqrt(pi/2) T / (r sqrt(k B)), which every cell has its own of.
What descent on the toy measures, too, has its name and shape:

    loss                 (seed, time)         tested without cross-sample repetition; starts at 1/2
    gain                 (seed, time)         <W, W*> / d = E<W x, W* x>: 1 when all is learned
    gain_repeated        (seed, time)         the same on the repeated vector alone
    attention_relevant   (seed, time, 1, 1)   on all copies together, of the one head of the one layer
    plateau              (seed,), a fact      in time; infinite where it was censored
    closed_form          (seed,), a fact      the unit of the clock
    escape_time          (seed,), a fact      of the linearised loss

Nothing is random: seeds agree.
"""

from collections.abc import Sequence
from dataclasses import replace

import jax
import numpy as np

from headway.records import Cell, Trajectory
from headway.settings import ToyFlowSettings
from headway.theory.emergence import escape, simulate
from headway.theory.emergence.simulate import Times
from headway.theory.emergence.toy import Toy, toy

CLOCK = "escape"
QUANTITIES = ("loss", "attention_relevant", "gain", "gain_repeated")


def shape_of(settings: ToyFlowSettings) -> ToyFlowSettings:
    """Equal for settings that are solved by one program, whatever their sizes are."""
    usual = ToyFlowSettings()
    return replace(settings, **{name: getattr(usual, name) for name in ("dimension", "length", "copies", "repeated")})


def toy_flows(cells: Sequence[Cell]) -> list[Trajectory]:
    """One for each of some cells of one shape."""
    settings: ToyFlowSettings = cells[0].settings
    times = np.linspace(0, settings.shown, settings.points)
    problems = [_problem(cell.settings) for cell in cells]
    curves, plateaus = _solved(settings, problems, times)
    return [
        _trajectory(cell, problem, times, {name: curves[name][:, row] for name in QUANTITIES}, float(plateaus[row]))
        for row, (cell, problem) in enumerate(zip(cells, problems, strict=True))
    ]


def _problem(settings: ToyFlowSettings) -> Toy:
    sizes = settings.dimension, settings.length, settings.copies, settings.repeated
    return toy(*sizes, shared=settings.model == "gap")


def _solved(settings: ToyFlowSettings, problems: list[Toy], times: Times) -> simulate.Seen:
    if settings.model == "linearised":
        return simulate.by_line(problems, times, threshold=settings.threshold)
    solve = simulate.by_late_phase if settings.model == "late" else simulate.by_flow
    return solve(problems, times, threshold=settings.threshold, longest=settings.longest)


def _trajectory(cell: Cell, problem: Toy, times: Times, curves: dict[str, np.ndarray], plateau: float) -> Trajectory:
    seeds = len(cell.seeds)
    arrays = {name: np.stack([curves[name]] * seeds).astype(np.float32) for name in QUANTITIES}
    with jax.enable_x64(True):
        told = {
            "plateau": plateau,
            "closed_form": float(escape.plateau(problem)),
            "escape_time": float(escape.escape_time(problem, 1 - 2 * cell.settings.threshold)),
        }
    return Trajectory(
        seeds=cell.seeds,
        clocks={CLOCK: times},
        arrays={**arrays, "attention_relevant": arrays["attention_relevant"][:, :, None, None]},
        clock_of=dict.fromkeys(QUANTITIES, CLOCK),
        facts={name: np.full(seeds, value) for name, value in told.items()},
    )
