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

Later boundaries have no theory that fits (docs/reproduction.md, R2): log t_i is a law of eta, m_1, the size of a block
and log(1/u).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from headway.analysis.calibration import COVERAGE, Calibration, bends_of, calibrate
from headway.analysis.power_laws import in_words
from headway.analysis.seed_stages import boundary_table
from headway.claims.claim import AnyRun
from headway.forecast.answer import Forecast, NotMeasured
from headway.forecast.question import Question
from headway.presets import MINIMALS

REACHED = 0.8
"""Share of the seeds that must get to a boundary: what most do not reach is known to be late only."""
ENOUGH = 3000
"""Samples from which on more of them make no difference to the first boundary."""


@dataclass(frozen=True)
class Chained:
    """All of a run that a boundary depends on."""

    ratio: float
    base: float
    blocks: int
    size: int
    """Lags of the first block."""
    vocab: int
    positions: int
    """N: that a model reads."""
    rate: float
    scaled: bool
    parting: float = 0.0
    """log(1/u) of scores that start within u; 0 of a start of usual size."""

    @property
    def strength(self) -> float:
        """m_1."""
        return self.base * self.ratio ** (self.blocks - 1)

    @property
    def travels(self) -> tuple[float, float]:
        """Steps that values and scores travel, by theory."""
        width = self.vocab + self.positions
        values = math.sqrt(2 / math.pi) * self.strength / math.sqrt(self.vocab) / self.rate
        return values, math.sqrt(width) * math.log(self.positions) / (4 * self.rate) if self.scaled else 0.0

    @property
    def scales(self) -> tuple[float, float]:
        """log eta and log m_1."""
        return math.log(self.rate), math.log(self.strength)

    @property
    def wide(self) -> float:
        """log(|I(1)| / 2)."""
        return math.log(self.size / 2)

    def terms(self, boundary: int) -> np.ndarray:
        """Of the sum that is t_1; or, of a later boundary, of the logarithm of it."""
        if boundary == 1:
            return np.array([1.0, *self.travels, self.parting])
        logs = math.log(1 / self.rate), math.log(self.strength), math.log(self.size)
        return np.array([1.0, *logs, self.parting])


@dataclass(frozen=True)
class Cells:
    """What was measured of one boundary: runs that differ in nothing that counts are one cell."""

    settings: tuple[Chained, ...]
    logs: np.ndarray
    """log steps, NaN where there is none: (cell, seed)."""
    late: int = 0
    """Cells of which too few seeds got there."""

    def keep(self, rows: np.ndarray) -> Cells:
        return Cells(tuple(each for each, kept in zip(self.settings, rows, strict=True) if kept), self.logs[rows])


def chained(settings: Any) -> Chained | None:
    """What counts of a run; None where it is not the minimal model by Adam on enough samples."""
    model, training = getattr(settings, "model", None), getattr(settings, "training", None)
    if model is None or training is None or not hasattr(settings.task, "ratio"):
        return None
    one_hot = (model.embedding, model.positions) == ("one-hot", "one-hot")
    minimal = one_hot and not (model.residual or model.mlp or model.keys or model.output) and model.layers == 1
    usual = training.optimiser == "adamw" and training.schedule in ("constant", "plateau")
    many = training.data == "fresh" or (training.data == "finite" and training.samples >= ENOUGH)
    task = settings.task
    lags = [lag for block in task.blocks for lag in block]
    whole = sorted(lags) == lags == list(range(1, len(lags) + 1)) and task.context is None
    small = model.initialisation == "uniform"
    if not (minimal and usual and many and whole) or (small and model.scale == 0):
        return None
    return Chained(
        task.ratio,
        task.base,
        len(task.blocks),
        len(task.blocks[0]),
        task.vocab,
        task.horizon + len(lags) - 1,
        training.learning_rate,
        model.scaled_scores,
        math.log(1 / model.scale) if small else 0.0,
    )


def measured(runs: Iterable[AnyRun], boundary: int) -> Cells:
    """Every cell with this boundary in most of its seeds."""
    found: dict[Chained, list[np.ndarray]] = {}
    late = set()
    for settings, trajectory in runs:
        own = chained(settings)
        if own is None or "kl_rungs" not in trajectory or own.blocks <= boundary:
            continue
        steps = boundary_table(trajectory)[:, boundary - 1]
        if np.isfinite(steps).mean() < REACHED:
            late.add(own)
        else:
            found.setdefault(own, []).append(np.log(steps))
    keys = sorted(found, key=lambda each: each.terms(boundary).tolist())
    rows = [np.concatenate(found[key]) for key in keys]
    logs = np.full((len(keys), max(map(len, rows), default=0)), np.nan)
    for row, values in zip(logs, rows, strict=True):
        row[: len(values)] = values
    return Cells(tuple(keys), logs, len(late - set(keys)))


def asked_for(question: Question) -> Chained:
    """The run that a question is about: all else is as the preset has it."""
    preset = MINIMALS[question.preset]()
    lags = sum(map(len, question.blocks))
    return Chained(
        float(question.ratio or 0),
        preset.task.base,
        len(question.blocks),
        len(question.blocks[0]),
        question.vocab or preset.task.vocab,
        preset.task.horizon + lags - 1,
        question.learning_rate or preset.training.learning_rate,
        preset.model.scaled_scores,
        0.0 if question.start is None else math.log(1 / question.start),
    )


def from_chain(question: Question, runs: Sequence[AnyRun], folders: tuple[str, ...] = ()) -> Forecast:
    """The boundary that is asked for, the first if none is."""
    boundary = question.boundary or 1
    return told(question, asked_for(question), measured(runs, boundary), folders)


def told(question: Question, wanted: Chained, cells: Cells, folders: tuple[str, ...] = ()) -> Forecast:
    """From the cells' law."""
    boundary = question.boundary or 1
    found = _fitted(cells, wanted, boundary)
    if found is None:
        places = " and ".join(folders) or "this folder"
        raise NotMeasured(
            f"{len(cells.settings)} combinations of settings in {places} reach boundary {boundary} of the minimal "
            "model: too few for its law. Make some by `headway run hierarchy --grid as-run`, or name the folder that "
            "has them with --from."
        )
    steps, low, high, words = found
    theory = sum(wanted.travels) if boundary == 1 and wanted.parting == 0 else None
    return Forecast(
        question=question,
        learning_rate=wanted.rate,
        steps=steps,
        low=low,
        high=high,
        coverage=COVERAGE,
        ends=f"stage {boundary + 1} begins",
        source="theory" if boundary == 1 else "law",
        basis=words,
        cells=len(cells.settings),
        seeds=int(np.max(np.sum(np.isfinite(cells.logs), axis=1))),
        folders=folders,
        closed_form=theory,
        published=None,
        published_law="",
        warnings=tuple(_warnings(wanted, cells, boundary)),
    )


def _fitted(cells: Cells, wanted: Chained, boundary: int) -> tuple[float, float, float, str] | None:
    """Steps, low, high, and the law in words; a term that is 0, or the same, in all cells is none."""
    if not cells.settings:
        return None
    rows, own = np.array([each.terms(boundary) for each in cells.settings]), wanted.terms(boundary)
    used = np.ptp(rows, axis=0) > 0
    used[0] = True
    if not np.allclose(own[~used], rows[0, ~used]):
        return None
    rows, own = rows[:, used], own[used]
    if boundary == 1:
        sizes = np.array([each.wide for each in cells.settings])
        drift = _drift(cells, wanted)
        return None if drift is None else _sum(rows, cells.logs, own, used, sizes, wanted.wide, drift)
    law = calibrate(rows, cells.logs)
    if law is None:
        return None
    middle, low, high = law.interval(own)
    names = [name for name, there in zip(("rate", "m_1", "|block 1|"), used[1:], strict=False) if there]
    powers = [-law.coefficients[1], *law.coefficients[2:]] if used[1] else list(law.coefficients[1:])
    words = in_words(math.exp(law.coefficients[0]), powers[: len(names)], names)
    words += f" u^{-law.coefficients[-1]:.2f}" if used[-1] else ""
    return math.exp(middle), math.exp(low), math.exp(high), f"{words}, fitted"


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
) -> tuple[float, float, float, str] | None:
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
    return steps, steps * math.exp(-half), steps * math.exp(half), basis


def _warnings(wanted: Chained, cells: Cells, boundary: int) -> Iterator[str]:
    names = {"ratio": "m", "vocab": "d", "size": "|block 1|", "rate": "the learning rate", "blocks": "h"}
    for name, symbol in names.items():
        there = [getattr(each, name) for each in cells.settings]
        own = getattr(wanted, name)
        if not min(there) <= own <= max(there):
            seen = f"{min(there):g} to {max(there):g}" if min(there) < max(there) else f"only {min(there):g}"
            yield f"{symbol} = {own:g} was not measured (the records have {seen}): an extrapolation."
    if cells.late:
        yield (
            f"{cells.late} combinations of settings in the records do not reach boundary {boundary} in time and are "
            "left out: near those settings, the boundary comes later than predicted."
        )


def splits(cells: Cells) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Name -> folds, each the cells to hold back."""
    count = len(cells.settings)
    yield "each cell alone", list(np.eye(count, dtype=bool))
    part = np.random.default_rng(0).permutation(count) % 3
    yield "thirds, at random", [part == number for number in range(3)]
    for name, symbol in (("ratio", "m"), ("size", "|block 1|"), ("parting", "log(1/u)")):
        column = np.array([getattr(each, name) for each in cells.settings])
        if np.ptp(column) > 0:
            yield f"the largest {symbol}, {column.max():.3g}", [column == column.max()]
    rates = np.array([each.rate for each in cells.settings])
    if np.ptp(rates) > 0:
        yield f"the smallest rate, {rates.min():g}", [rates == rates.min()]


def held_back(cells: Cells, boundary: int, folds: Sequence[np.ndarray]) -> list[tuple[Forecast, np.ndarray]]:
    """A forecast of every cell of every fold from the others, and the steps of its seeds."""
    question = replace(ANY, boundary=boundary)
    pairs = []
    for held in folds:
        rest = cells.keep(~held)
        for place in np.flatnonzero(held):
            try:
                found = told(question, cells.settings[place], rest)
            except NotMeasured:
                continue
            logs = cells.logs[place]
            pairs.append((found, np.exp(logs[np.isfinite(logs)])))
    return pairs


ANY = Question("minimal", ratio=1.7, blocks=((1, 2), (3, 4), (5, 6)))
