"""t_1 = f (t_0 + a sqrt(2/pi) m_1 / (sqrt(d) eta) + b sqrt(E) log(N) / (4 eta) + c log(1/u)): the minimal model.

Adam moves every number by about its rate eta a step, whatever the gradient is. The values of the first block have to
travel as far as the entries of m_1 Q_1, whose mean size is sqrt(2/pi) m_1 / sqrt(d) for d tokens. Scores that are
divided by sqrt(E) are sums of four numbers, two of the query times two of the key, and have to outweigh N positions:
log(N) sqrt(E) / 4. Scores that are not divided are there while the values still move, and cost nothing. From scores of
size u, heads that start alike have to part: so many steps for each factor of e. By theory a = b = 1; all four numbers
are fitted to records, cell by cell in relative error, with a factor f = 1 / (1 - g log(|I(1)|/2)) for the size of the
first block, of which theory says nothing. The interval is that of the regression, with its leverage; and what cells
miss may drift like powers of eta and m_1, so that the leverage of those is added: it widens with their logarithms. It
may also bend: squares and products of the logarithms, as far as what the cells miss shows any, are added as well.

Later stages have no theory that fits (docs/reproduction.md, R2). How long a stage lasts, t_i - t_(i-1), is a power law
of eta, m and the size of a block. u is not in it: heads have parted by then. It has the ratio m and not the strength
m_1, because more blocks of one ratio make all of them stronger, and their stages no longer. A sum of stages is in order
by itself, and a later boundary is never more certain than an earlier one.

Where no records have so many blocks, t_i = t_(i-1) t_2 / t_1 continues the ladder, with the error of a straight line
through log t_1 and log t_2. Any number of blocks that the records do not have widens the interval, too.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from headway.analysis.calibration import COVERAGE, Calibration, bends_of, calibrate
from headway.analysis.power_laws import in_words
from headway.claims.claim import AnyRun
from headway.forecast.answer import Forecast, NotMeasured
from headway.forecast.chain_cells import Cells, Chained, Ladder, asked_for, ladder
from headway.forecast.question import Question

BY_BLOCKS = 0.75
"""Standard deviation of log steps for each factor of e between the number of blocks and the nearest in the records:
what runs of 2, 4 and 5 blocks miss, predicted from those of 3 (tests/forecast/test_number_of_blocks.py)."""
NORMAL = 1.96
"""Standard deviations within which a normal variable stays with the probability COVERAGE."""


class Predicted(NamedTuple):
    """When a boundary comes."""

    steps: float
    half: float
    """Of the interval, in log steps."""
    words: str
    continued: bool = False
    """From earlier boundaries, because no law was measured."""


def from_chain(question: Question, runs: Sequence[AnyRun], folders: tuple[str, ...] = ()) -> Forecast:
    """The boundary that is asked for, the first if none is."""
    return told(question, asked_for(question), ladder(runs, question.boundary or 1), folders)


def told(question: Question, wanted: Chained, cells: Ladder, folders: tuple[str, ...] = ()) -> Forecast:
    """From the cells' laws."""
    boundary = question.boundary or 1
    found = _boundaries(cells[:boundary], wanted)
    if len(found) < boundary:
        places, missing = " and ".join(folders) or "this folder", len(found) + 1
        raise NotMeasured(
            f"{len(cells[missing - 1].settings)} combinations of settings in {places} reach boundary {missing} of the "
            "minimal model: too few for its law. Make some by `headway run hierarchy --grid as-run`, or name the "
            "folder that has them with --from."
        )
    last = found[-1]
    # A boundary that continues the ladder has no cells of its own: those of the law before it count.
    own = cells[sum(not each.continued for each in found) - 1]
    blocks = {each.blocks for each in own.settings}
    further = NORMAL * BY_BLOCKS * min(abs(math.log(wanted.blocks / each)) for each in blocks)
    half = math.hypot(last.half, further)
    return Forecast(
        question=question,
        learning_rate=wanted.rate,
        steps=last.steps,
        low=last.steps * math.exp(-half),
        high=last.steps * math.exp(half),
        coverage=COVERAGE,
        ends=f"stage {boundary + 1} begins",
        source="theory" if boundary == 1 else "law",
        basis=last.words,
        cells=len(own.settings),
        seeds=int(np.max(np.sum(np.isfinite(own.logs), axis=1))),
        folders=folders,
        closed_form=sum(wanted.travels) if boundary == 1 and wanted.parting == 0 else None,
        published=None,
        published_law="",
        warnings=tuple(_warnings(wanted, own, boundary, last.continued)),
    )


def _boundaries(cells: Ladder, wanted: Chained) -> list[Predicted]:
    """One after the other, as far as they can be predicted."""
    found: list[Predicted] = []
    for boundary, measured in enumerate(cells, 1):
        if boundary == 1:
            own = _first(measured, wanted)
        else:
            own = _after(found[-1], measured, wanted, boundary) or (_continued(found) if boundary > 2 else None)
        if own is None:
            break
        found.append(own)
    return found


def _after(before: Predicted, cells: Cells, wanted: Chained, boundary: int) -> Predicted | None:
    """t_i = t_(i-1) + a law of the stage; errors of the two are independent."""
    chosen = _changing(cells, wanted, boundary)
    if chosen is None or before.continued:
        return None
    rows, own, used = chosen
    law = calibrate(rows, cells.stage)
    if law is None:
        return None
    middle, low, high = law.interval(own)
    stage = math.exp(middle)
    steps = before.steps + stage
    half = math.hypot(before.steps * before.half, stage * (high - low) / 2) / steps
    powers = dict(zip(np.flatnonzero(used), law.coefficients, strict=True))
    named = {1: ("rate", -1), 2: ("m", 1), 3: ("|block 1|", 1)}
    factors = [(name, sign * powers[place]) for place, (name, sign) in named.items() if place in powers]
    words = in_words(math.exp(powers[0]), [power for _, power in factors], [name for name, _ in factors])
    return Predicted(
        steps,
        max(half, before.half),
        f"{before.steps:,.0f} steps to boundary {boundary - 1} + {words}, fitted",
    )


def _continued(found: list[Predicted]) -> Predicted:
    """log t_i = log t_2 + (i - 2) (log t_2 - log t_1), with the errors of both."""
    first, second, more = found[0], found[1], len(found) - 1
    steps = found[-1].steps * second.steps / first.steps
    half = math.hypot((more + 1) * second.half, more * first.half)
    words = f"{found[-1].steps:,.0f} x {second.steps / first.steps:.2f}, the ratio of boundaries 2 and 1"
    return Predicted(steps, half, words, continued=True)


def _changing(cells: Cells, wanted: Chained, boundary: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Terms of the cells and of what is wanted, and which they are; one that is the same in all cells is none.

    None where a term that never changed is asked for with another value.
    """
    if not cells.settings:
        return None
    rows, own = np.array([each.terms(boundary) for each in cells.settings]), wanted.terms(boundary)
    used = np.ptp(rows, axis=0) > 0
    used[0] = True
    return (rows[:, used], own[used], used) if np.allclose(own[~used], rows[0, ~used]) else None


def _first(cells: Cells, wanted: Chained) -> Predicted | None:
    chosen = _changing(cells, wanted, 1)
    drift = None if chosen is None else _drift(cells, wanted)
    if chosen is None or drift is None:
        return None
    rows, own, used = chosen
    sizes = np.array([each.wide for each in cells.settings])
    return _sum(rows, cells.logs, own, used, sizes, wanted.wide, drift)


class _Drift(NamedTuple):
    """How what cells miss may change with x = (1, log eta, log m_1), less what was the same in all cells."""

    cells: np.ndarray
    wanted: np.ndarray

    @property
    def leverage(self) -> float:
        """x (X^T X)^-1 x."""
        return float(self.wanted @ np.linalg.inv(self.cells.T @ self.cells) @ self.wanted)

    def bent(self, missed: np.ndarray) -> float:
        """Variance by squares and products of log eta and log m_1, as far as what each cell misses shows any."""
        return bends_of(self.cells, missed).variance(self.wanted)


def _drift(cells: Cells, wanted: Chained) -> _Drift | None:
    """None where the rate or m_1 was never changed and is asked to."""
    rows = np.array([each.scales for each in cells.settings])
    changing = np.ptp(rows, axis=0) > 1e-12
    own = np.array(wanted.scales)
    if not np.allclose(own[~changing], rows[0, ~changing]):
        return None
    design = np.column_stack([np.ones(len(rows)), rows[:, changing]])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    return _Drift(design, np.append(1.0, own[changing]))


def _sum(
    rows: np.ndarray,
    logs: np.ndarray,
    own: np.ndarray,
    used: np.ndarray,
    sizes: np.ndarray,
    size: float,
    drift: _Drift,
) -> Predicted | None:
    """1 = sum of terms / t + g log(|I(1)|/2), by least squares: every cell is divided by its own mean."""
    means = np.exp(np.nanmean(logs, axis=1))[:, None]
    differ = bool(np.ptp(sizes) > 0)
    if not differ and not math.isclose(sizes[0], size, abs_tol=1e-12):
        return None
    design = np.column_stack([rows / means, sizes]) if differ else rows / means
    relative = np.exp(logs) / means
    law: Calibration | None = calibrate(design, relative)
    if law is None:
        return None
    numbers, growth = (law.coefficients[:-1], law.coefficients[-1]) if differ else (law.coefficients, 0.0)
    steps = float(own @ numbers) / (1 - growth * size)
    if not 0 < steps < math.inf:
        return None
    row = np.append(own / steps, size) if differ else own / steps
    bent = drift.bent(np.nanmean(relative, axis=1) - design @ law.coefficients)
    _, low, high = law.interval(row, further=drift.leverage, bent=bent)
    half = (high - low) / 2
    names = ("steps", "x steps of the values", "x steps of the scores", "steps per factor of e in u")
    told = zip(numbers, [name for name, there in zip(names, used, strict=True) if there], strict=True)
    words = " + ".join(f"{number:.2f} {name}" for number, name in told)
    basis = f"parameters that move at Adam's learning rate: {words}"
    return Predicted(steps, half, basis)


def _warnings(wanted: Chained, cells: Cells, boundary: int, continued: bool) -> Iterator[str]:
    names = {"ratio": "m", "vocab": "d", "size": "|block 1|", "rate": "the learning rate", "blocks": "h"}
    for name, symbol in names.items():
        there = [getattr(each, name) for each in cells.settings]
        own = getattr(wanted, name)
        if not min(there) <= own <= max(there):
            seen = f"{min(there):g} to {max(there):g}" if min(there) < max(there) else f"only {min(there):g}"
            yield f"{symbol} = {own:g} was not measured (the records have {seen}): an extrapolation."
    if continued:
        yield (
            f"Too few records reach boundary {boundary}: it continues the earlier ones. A law of its own needs runs of "
            f"{boundary + 1} or more blocks with several m and learning rates."
        )
    if cells.late:
        yield (
            f"{cells.late} combinations of settings in the records do not reach boundary "
            f"{min(boundary, 2) if continued else boundary} in time and are left out: near those settings, the "
            "boundary comes later than predicted."
        )


def held_back(cells: Ladder, folds: Sequence[Collection[Chained]]) -> list[tuple[Forecast, np.ndarray]]:
    """A forecast of the last boundary of every cell of every fold from the others, and the steps of its seeds."""
    question = replace(ANY, boundary=len(cells))
    rows = dict(zip(cells[-1].settings, cells[-1].logs, strict=True))
    pairs = []
    for held in folds:
        rest = tuple(each.without(held) for each in cells)
        for own in held:
            if own not in rows:
                continue
            try:
                found = told(question, own, rest)
            except NotMeasured:
                continue
            pairs.append((found, np.exp(rows[own][np.isfinite(rows[own])])))
    return pairs


ANY = Question("minimal", ratio=1.7, blocks=((1, 2), (3, 4), (5, 6)))
