"""How near the formulas for stage times come to the flow: the numbers of docs/theory.md, "How long a stage takes".

python -m headway.theory.stage_numbers
"""

import sys
from collections.abc import Iterator
from typing import Literal

import numpy as np
from jaxtyping import Float

from headway.theory.flow import logits
from headway.theory.problem import State, geometric, reduced_problem
from headway.theory.reduction import merge_positions
from headway.theory.simulate import halfway, logit_loss
from headway.theory.solve import crossings, log_times
from headway.theory.stage_times import first_stage, growth_rate, log_growth
from headway.theory.start import near_uniform, stack

HEADS = 3
STRENGTHS = geometric(3, 1.7)
LENGTHS = (10, 40, 160, 640, 2560)
DAMPINGS = (0.5, 1.0, 2.0, 4.0)
"""H / m_1 of the problems on which the formula is tried."""
SLOPES: tuple[tuple[Literal[1, 2], int, float], ...] = ((1, 10, 1e3), (1, 40, 1e4), (2, 40, 5e3), (2, 40, 1e6))
"""Pi once or twice, positions, and the time by which log Lambda should rise like the root of time."""
NOISES = (1e-10, 1e-16, 1e-20)
FIGURE_10 = 1e-6
"""sigma^2 of the noise, in the paper's own run and in runs that are more even."""
LONG, LAST, SEEN = 40, 1e4, (60.0, 300.0, 1e4)
"""Positions, the last time, and the times that are shown."""
TIMES: dict[Literal[1, 2], str] = {1: "Π once", 2: "Π twice"}


def first_end(strengths: Float[np.ndarray, " feature"], length: int, projections: Literal[1, 2]) -> tuple[float, float]:
    """t_1 without noise, three heads: by the flow and by the formula."""
    problem = reduced_problem(strengths, length=length, heads=HEADS, projections=projections)
    small, even, _ = merge_positions(problem, near_uniform(problem, 0, noise=0.0))
    start = stack([State(even.values, np.log(np.asarray(even.attention)))])
    formula = first_stage(float(strengths[0]), length=length, heads=HEADS, projections=projections)
    found = crossings(logits, logit_loss, small, start, halfway(strengths)[:1], end=10 * formula)
    return float(found[0, 0]), formula


def largest_error(length: int, projections: Literal[1, 2]) -> float:
    """Of |t_1 / formula - 1|, over problems with other H / m_1: m_1 is changed, and the ratio of strengths kept."""
    ends = [first_end(STRENGTHS * (HEADS / share / STRENGTHS[0]), length, projections) for share in DAMPINGS]
    return max(abs(found / formula - 1) for found, formula in ends)


def slope(projections: Literal[1, 2], length: int, last: float) -> tuple[float, float]:
    """(what log Lambda gains per unit of sqrt(t) over the last tenth of log-time up to `last`, growth_rate)."""
    sizes = {"length": length, "heads": HEADS, "projections": projections}
    times = log_times(1.0, last, 100)
    growth, roots = log_growth(STRENGTHS, times, **sizes), np.sqrt(times)
    return float((growth[-1] - growth[-10]) / (roots[-1] - roots[-10])), growth_rate(STRENGTHS, **sizes)


def growths(projections: Literal[1, 2]) -> tuple[np.ndarray, Float[np.ndarray, "begins time"]]:
    """Times, and log Lambda from a difference at position 1 and from one at position 2."""
    times = log_times(1e-3, LAST, 1000)
    grown = [
        log_growth(STRENGTHS, times, length=LONG, heads=HEADS, projections=projections, begins=begins)
        for begins in (0, 1)
    ]
    return times, np.stack(grown)


def tables() -> Iterator[str]:
    """Lines of Markdown."""
    yield f"| T | {' | '.join(map(str, LENGTHS))} |"
    yield "|---" * (1 + len(LENGTHS)) + "|"
    for projections in TIMES:
        worst = [largest_error(length, projections) for length in LENGTHS]
        yield f"| {TIMES[projections]} | {' | '.join(f'{100 * error:.2g} %' for error in worst)} |"
    yield from ("", "| | T | up to t | slope of log Λ against √t | formula |", "|---|---|---|---|---|")
    for projections, length, last in SLOPES:
        found, formula = slope(projections, length, last)
        yield f"| {TIMES[projections]} | {length} | {last:g} | {found:.3f} | {formula:.3f} |"
    columns = " | ".join(f"{noise:.0e}" for noise in NOISES)
    yield from ("", f"| T sigma Λ = 1 for sigma² = | {columns} |", "|---" * (1 + len(NOISES)) + "|")
    grown = {projections: growths(projections) for projections in TIMES}
    for projections, (times, both) in grown.items():
        for position, growth in enumerate(both, start=1):
            rising = np.maximum.accumulate(growth)
            when = [np.interp(-np.log(LONG * noise**0.5), rising, times) for noise in NOISES]
            yield f"| {TIMES[projections]}, from e_{position} | {' | '.join(f'{t:.0f}' for t in when)} |"
    head = f"| log Λ from e_1 less that from e_2, t = | {' | '.join(f'{t:g}' for t in SEEN)} | T sigma Λ at t_1 |"
    yield from ("", head, "|---" * (2 + len(SEEN)) + "|")
    for projections, (times, (first, second)) in grown.items():
        cells = [f"{value:.2f}" for value in np.interp(SEEN, times, first - second)]
        end, _ = first_end(STRENGTHS, LONG, projections)
        unlike = LONG * FIGURE_10**0.5 * float(np.exp(np.interp(end, times, first)))
        yield f"| {TIMES[projections]} | {' | '.join(cells)} | {unlike:.2g} |"


if __name__ == "__main__":
    for line in tables():
        sys.stdout.write(line + "\n")
