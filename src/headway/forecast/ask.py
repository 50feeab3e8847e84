"""A question and folders of records -> an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from headway.claims.claim import AnyRun
from headway.forecast import from_strength
from headway.forecast.answer import Forecast, NotMeasured
from headway.forecast.embeddings import VARIANCES, wanted
from headway.forecast.from_chain import from_chain
from headway.forecast.from_descent import from_descent
from headway.forecast.from_laws import from_laws
from headway.forecast.from_theory import from_theory
from headway.forecast.measured import Measured, is_of, toy_cells, transformer_cells
from headway.forecast.question import Question
from headway.lookup import readable
from headway.store import Store


def ask(question: Question, folders: Sequence[Path]) -> Forecast:
    """The forecast from what lies in the folders; NotMeasured where they do not hold enough."""
    if question.kind.source == "descent":
        return from_descent(question)
    if question.kind.source == "chain":
        return from_chain(question, runs_of(question.model, folders), tuple(map(str, folders)))
    if question.kind.source == "strength":
        weak = from_strength.measured(runs_of(question.model, folders))
        return from_strength.from_strength(question, weak, tuple(map(str, folders)))
    runs, places = runs_of(question.model, folders), tuple(map(str, folders))
    found = answer(question, cells(question, runs), places)
    other = _with_another_embedding(question, runs) if question.kind.answers else None
    if other is None or found.low <= other.steps <= found.high:
        return found
    embedding = wanted(other.question)
    warning = (
        f"With an initial embedding of variance {VARIANCES[embedding]} (--embedding {embedding}) the law of "
        f"{other.cells} cells predicts {other.steps:,.0f} steps: the interval is for one embedding only."
    )
    return replace(found, warnings=(*found.warnings, warning))


def _with_another_embedding(question: Question, runs: Sequence[AnyRun]) -> Forecast | None:
    """The same question about the embedding that it is not about; None where there are no such runs."""
    question = replace(question, embedding="linear" if wanted(question) == "table" else "table")
    try:
        return answer(question, cells(question, runs))
    except NotMeasured:
        return None


def answer(question: Question, measured: Measured, folders: tuple[str, ...] = ()) -> Forecast:
    """From theory where there is one, else from laws."""
    return (from_theory if question.kind.source == "theory" else from_laws)(question, measured, folders)


def cells(question: Question, runs: Sequence[AnyRun]) -> Measured:
    """What was measured of models and tasks of the asked kind."""
    return (toy_cells if question.kind.source == "theory" else transformer_cells)(question, runs)


def runs_of(model: str, folders: Sequence[Path]) -> list[AnyRun]:
    """The runs of one kind of model in the folders, but for pilots; records that cannot be read are passed over."""
    records = (each for each in readable([Store(folder) for folder in folders]) if not each.cell.is_pilot)
    return [(each.cell.settings, each.trajectory) for each in records if is_of(model, each.cell.settings)]
