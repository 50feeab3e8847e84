"""A question and folders of records -> an answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.claims.claim import AnyRun
from headway.forecast import from_strength
from headway.forecast.answer import Forecast
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
    return answer(question, cells(question, runs_of(question.model, folders)), tuple(map(str, folders)))


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
