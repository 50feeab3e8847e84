"""Cells that were measured, held back and predicted from the rest: how often the interval holds their plateaus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headway.claims.claim import AnyRun
from headway.claims.recall import KNOWN
from headway.forecast import chain_cells, from_chain, from_strength
from headway.forecast.answer import Forecast, NotMeasured
from headway.forecast.ask import answer, cells
from headway.forecast.from_descent import told_and_measured
from headway.forecast.measured import Measured
from headway.forecast.question import MODELS, SYMBOLS, Question

PARTS = 3
"""At random, the cells are split into so many parts, each of which is held back once."""
FAR = 4.0
"""Far sizes are so many times the largest that is kept, or more, and what lies between is held back, too."""
ANY = {"dimension": 2, "length": 32, "vocab": 32, "pairs": 16}
"""Sizes of a question that asks which records there are: any will do."""


@dataclass(frozen=True)
class HeldOut:
    """How forecasts did on cells that they had not seen."""

    what: str
    """The model, and what was varied."""
    held: str
    """Which cells were held back."""
    inside: int
    """Plateaus, of all seeds, within the interval."""
    of: int
    cells: int
    """In how many cells: what seeds of one cell miss, they miss together."""
    miss: float
    """By which factor a forecast was typically off: the median."""
    width: float
    """High over low of the interval, the median over cells."""


def held_out(model: str, runs: Sequence[AnyRun]) -> list[HeldOut]:
    """Every way to hold cells of this model back; nothing if none was measured."""
    if MODELS[model].source == "descent":
        return _of_theory_alone(runs)
    if MODELS[model].source == "chain":
        return _of_chain(runs)
    if MODELS[model].source == "strength":
        return _of_strength(runs)
    found = []
    for what, question in _readings(model, runs):
        measured = cells(question, runs)
        for held, folds in _splits(measured):
            row = _score(question, measured, folds)
            if row is not None:
                found.append(HeldOut(what, held, *row))
    return found


def _of_theory_alone(runs: Sequence[AnyRun]) -> list[HeldOut]:
    """Forecasts that no record has a part in, of every run's own settings: drop by drop of linear attention."""
    rows: dict[str, list[tuple[Forecast, np.ndarray]]] = {}
    for keys, told, steps, last in told_and_measured(runs):
        # A seed that did not get there by the last step is as predicted if the interval goes on beyond it.
        seen = np.where(np.isinf(steps) & (told.high > last), told.high, steps)
        rows.setdefault(f"{keys}, drop {told.question.drop}", []).append((told, seen))
    found = []
    for what, pairs in sorted(rows.items()):
        inside = sum(int(np.sum((told.low <= steps) & (steps <= told.high))) for told, steps in pairs)
        ended = [abs(np.log(step / told.steps)) for told, steps in pairs for step in steps if np.isfinite(step)]
        widths = [told.high / told.low for told, _ in pairs]
        count = sum(len(steps) for _, steps in pairs)
        miss, width = float(np.exp(np.median(ended))), float(np.median(widths))
        found.append(HeldOut(f"linear, {what}", "all: nothing is fitted", inside, count, len(pairs), miss, width))
    return found


def _of_chain(runs: Sequence[AnyRun]) -> list[HeldOut]:
    """Boundaries of the minimal model, one after the other."""
    rows = []
    for boundary in (1, 2):
        cells = chain_cells.ladder(runs, boundary)
        if len(cells[-1].settings) < 2 * PARTS:
            continue
        for held, folds in chain_cells.splits(cells):
            rows += _row(f"boundary {boundary}", held, from_chain.held_back(cells, folds))
    return rows


def _of_strength(runs: Sequence[AnyRun]) -> list[HeldOut]:
    """Plateaus of moving-window sums with weakened attention, one way to train after the other."""
    return [
        row
        for cells in from_strength.measured(runs)
        for held, folds in from_strength.splits(cells)
        for row in _row(
            f"moving-window, width {cells.trained.model.width}", held, from_strength.held_back(cells, folds)
        )
    ]


def _row(what: str, held: str, pairs: list[tuple[Forecast, np.ndarray]]) -> list[HeldOut]:
    """How forecasts did beside the steps of all seeds; nothing of no forecast."""
    if not pairs:
        return []
    inside = sum(int(np.sum((told.low <= steps) & (steps <= told.high))) for told, steps in pairs)
    misses = np.concatenate([np.abs(np.log(steps / told.steps)) for told, steps in pairs])
    width = float(np.median([told.high / told.low for told, _ in pairs]))
    return [HeldOut(what, held, inside, len(misses), len(pairs), float(np.exp(np.median(misses))), width)]


def _readings(model: str, runs: Sequence[AnyRun]) -> Iterator[tuple[str, Question]]:
    """Which laws there are: of the toy by what is trained, of transformers by which repetition they know."""
    asked: dict[str, Any] = {name: size for name, size in ANY.items() if name in MODELS[model].sizes}
    asked["model"] = model
    question = Question(**asked)
    if question.kind.source == "theory":
        yield f"{model}, T logits", question
        yield f"{model}, gap", replace(question, trained="gap")
        for count in sorted({settings.training.samples for settings, _ in runs if settings.training.data != "exact"}):
            yield f"{model}, {count} samples", replace(question, samples=count)
        return
    yield model, question
    if question.kind.answers:
        yield f"{model}, half right", replace(question, accuracy=KNOWN)
        for end, accuracy in (("", None), (", half right", KNOWN)):
            yield f"{model}, table{end}", replace(question, embedding="table", accuracy=accuracy)
    for name, number in (("copies", 2.0), ("repeated", 0.1)):
        with_it = replace(question, **{name: number})
        measured = cells(with_it, runs)
        if len(measured) and np.ptp(measured.column(name)) > 0:
            yield f"{model}, with {SYMBOLS[name]}", with_it


def _splits(measured: Measured) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Name -> folds, each the cells to hold back: (cell,) of bool."""
    count = len(measured)
    if count < 2 * PARTS:
        return
    yield "each cell alone", list(np.eye(count, dtype=bool))
    part = np.random.default_rng(0).permutation(count) % PARTS
    yield "thirds, at random", [part == number for number in range(PARTS)]
    for name in MODELS[measured.model].sizes:
        column = measured.column(name)
        if np.ptp(column) > 0:
            yield f"the largest {SYMBOLS[name]}, {column.max():g}", [column == column.max()]
            near = column <= column.max() / FAR
            if len(np.unique(column[near])) > 1:
                yield f"{SYMBOLS[name]} over {column[near].max():g}", [~near]


def _score(
    question: Question, measured: Measured, folds: list[np.ndarray]
) -> tuple[int, int, int, float, float] | None:
    inside, misses, widths = 0, [], []
    for held in folds:
        rest = measured.keep(~held)
        for place in np.flatnonzero(held):
            lasted = np.exp(measured.logs[place][np.isfinite(measured.logs[place])])
            try:
                told = answer(_about(question, measured, int(place)), rest)
            except NotMeasured:
                continue
            inside += int(np.sum((told.low <= lasted) & (lasted <= told.high)))
            misses += list(np.abs(np.log(lasted / told.steps)))
            widths.append(told.high / told.low)
    if not misses:
        return None
    return inside, len(misses), len(widths), float(np.exp(np.median(misses))), float(np.median(widths))


def _about(question: Question, measured: Measured, place: int) -> Question:
    """The question whose answer a cell is."""
    sizes = dict(zip(MODELS[measured.model].sizes, measured.sizes[place].tolist(), strict=True))
    whole = {name: int(value) for name, value in sizes.items() if name not in ("copies", "repeated")}
    return replace(question, **{**sizes, **whole}, learning_rate=float(measured.rates[place]))
