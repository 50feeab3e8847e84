"""Records -> how many steps the plateau of every cell and seed lasted, of one way to train."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headway.analysis.crossings import learnt_at
from headway.claims.claim import AnyRun
from headway.claims.plateau_laws import plateau
from headway.forecast.embeddings import embedding_variance, is_usual, is_wanted
from headway.forecast.question import MODELS, Question

THRESHOLD = 0.1
"""Loss of the toy at which its plateau ends."""
NAMES = {"pytorch": "PyTorch", "silent-pytorch": "silent PyTorch", "xavier": "Xavier"}
"""Initialisations as a sentence writes them; the others as they are set."""


@dataclass(frozen=True)
class Measured:
    """One row for every combination of sizes that was measured."""

    model: str
    sizes: np.ndarray
    """(cell, size), in the order of its kind."""
    steps: np.ndarray
    """(cell, seed): infinite where the plateau never ended, NaN where a cell has fewer seeds than others."""
    rates: np.ndarray
    """The learning rate of every cell: (cell,)."""
    ends: str = ""
    """What ends a plateau."""
    how: str = ""
    """What they have in common."""
    favourites: int = 1
    """Among how many the repetition across samples is shared."""

    def __len__(self) -> int:
        return len(self.sizes)

    def keep(self, rows: np.ndarray) -> Measured:
        """Some of the cells."""
        return replace(self, sizes=self.sizes[rows], steps=self.steps[rows], rates=self.rates[rows])

    @property
    def logs(self) -> np.ndarray:
        """log steps, NaN where a plateau never ended: (cell, seed)."""
        ended = np.isfinite(self.steps) & (self.steps > 0)
        return np.log(np.where(ended, self.steps, np.nan))

    @property
    def seeds(self) -> int:
        """Of a cell, at most."""
        return int(np.max(np.sum(~np.isnan(self.steps), axis=1), initial=0))

    @property
    def left_out(self) -> str:
        """A sentence about plateaus that cannot be counted, if there are any."""
        lost = int(np.sum(~np.isnan(self.steps) & ~np.isfinite(self.logs)))
        whole = int(np.sum(~np.isnan(self.steps)))
        if not lost:
            return ""
        return (
            f"{lost} of {whole} plateaus in the records never ended, or had ended by the first evaluation, and are "
            "left out: near the sizes at which plateaus never ended, they last longer than predicted."
        )

    def column(self, name: str) -> np.ndarray:
        return self.sizes[:, MODELS[self.model].sizes.index(name)]


def is_of(model: str, settings: Any) -> bool:
    """Whether a run with these settings is one of such a model."""
    task = getattr(settings, "task", None)
    return all(hasattr(task, name) for name in MODELS[model].seen_by)


def toy_cells(question: Question, runs: Iterable[AnyRun]) -> Measured:
    """What gradient descent on the toy took; a size that several runs have counts once.

    Without a training set nothing is random, and one seed says it all.
    """
    same = ("gap",) if question.trained == "gap" else ("logits", "matrices")
    found: dict[tuple[float, ...], np.ndarray] = {}
    for settings, trajectory in runs:
        if not is_of(question.model, settings) or settings.task.trained not in same:
            continue
        training = settings.training
        samples = None if training.data == "exact" else training.samples
        if samples != question.samples or training.threshold != THRESHOLD:
            continue
        lasted = plateau((settings, trajectory))
        steps = np.where(np.isnan(lasted), np.inf, lasted)
        found.setdefault((*_sizes(settings.task), training.learning_rate), steps if samples else steps[:1])
    return _table(question.model, found, ends=f"the loss is at most {THRESHOLD:g}")


def transformer_cells(question: Question, runs: Iterable[AnyRun]) -> Measured:
    """What transformers took that were trained alike: at the asked learning rate if any were, else most of them.

    Runs with a kind of repetition are left out where none of it is asked for: a law for few things fits better. Those
    of recall are preferred with the embedding that is asked for, and as in paper B's appendix; if the embedding is
    named, no others count.
    """
    groups: dict[tuple[Any, ...], list[AnyRun]] = {}
    for settings, trajectory in runs:
        if not is_of(question.model, settings) or settings.training.threshold is None:
            continue
        sizes = dict(zip(question.kind.sizes, _sizes(settings.task), strict=True))
        if (sizes["copies"] > 1 and question.copies == 1) or (sizes["repeated"] > 0 and question.repeated == 0):
            continue
        if question.embedding is not None and not is_wanted(question, settings):
            continue
        groups.setdefault(_alike(settings), []).append((settings, trajectory))
    if not groups:
        return _table(question.model, {})

    def rank(group: list[AnyRun]) -> tuple[bool | int, ...]:
        settings = group[0][0]
        of_recall = (is_wanted(question, settings), is_usual(settings)) if question.kind.answers else ()
        return (settings.training.learning_rate == question.learning_rate, *of_recall, len(group))

    alike = max(groups.values(), key=rank)
    measured, others = _of_one_kind(question, alike), sum(map(len, groups.values())) - len(alike)
    left = f"; {others} runs with other training settings are left out" if others else ""
    return replace(measured, how=measured.how + left)


def _of_one_kind(question: Question, runs: Sequence[AnyRun]) -> Measured:
    model = question.model
    thresholds = [settings.training.threshold for settings, _ in runs]
    # The level that every run was trained to: cross-sample repetition stops at a higher loss.
    rising = runs[0][0].about().progress == "accuracy"  # else a loss, which falls
    level = (question.accuracy or min(thresholds)) if rising else max(thresholds)
    found: dict[tuple[float, ...], np.ndarray] = {}
    # Of two records of one size the one that looked more often counts, unless the other has more seeds.
    for settings, trajectory in sorted(runs, key=lambda run: run[0].evaluation.every):
        at = learnt_at(trajectory, level)
        key = (*_sizes(settings.task), settings.training.learning_rate)
        if len(at) > len(found.get(key, ())):
            found[key] = np.where(np.isnan(at), np.inf, at)
    shape, training = runs[0][0].model, runs[0][0].training
    rate = f"Adam {training.learning_rate:g}"
    if training.rates:
        rate = f"Adam with the best of {', '.join(f'{each:g}' for each in training.rates)} for each size"
    start = f"{NAMES.get(shape.initialisation, shape.initialisation)} initialisation"
    if question.kind.answers and embedding_variance(runs[0][0]):
        start += f" with an embedding of variance {embedding_variance(runs[0][0])}"
    how = f"{shape.layers} layers of width {shape.width}, {start}, {rate}, batch {training.batch}"
    ends = f"{100 * level:g} % of the answers are right" if rising else f"the loss is at most {level:g}"
    favourites = getattr(runs[0][0].task, "favourites", 1)
    return replace(_table(model, found, ends=ends), how=how, favourites=favourites)


def _alike(settings: Any) -> tuple[Any, ...]:
    """What must agree, whatever the sizes are."""
    task, training = settings.task, settings.training
    switches = ("position", "mark", "favourites", "matrix", "read_at", "mapping", "keys", "slots")
    others = tuple(getattr(task, name, None) for name in switches)
    model = settings.model
    if hasattr(task, "vocab") and embedding_variance(settings):
        # One law of the variance, such as 1 for all sizes, takes a factor that depends on the vocabulary size.
        model = (replace(model, embedding_scale=1.0), embedding_variance(settings))
    return model, training.learning_rate, training.rates, training.batch, training.precision, *others


def _sizes(task: Any) -> tuple[float, ...]:
    if hasattr(task, "pairs"):
        return task.vocab, task.pairs, task.copies, task.favoured
    return task.dimension, task.length, task.copies, task.repeated


def _table(model: str, found: dict[tuple[float, ...], np.ndarray], ends: str = "") -> Measured:
    """Sizes and a learning rate -> steps (seed,), in order of the sizes."""
    keys = sorted(found)
    most = max((len(each) for each in found.values()), default=0)
    steps = np.full((len(keys), most), np.nan)
    for row, key in zip(steps, keys, strict=True):
        row[: len(found[key])] = found[key]
    numbers = np.array(keys, float).reshape(len(keys), len(MODELS[model].sizes) + 1)
    return Measured(model, numbers[:, :-1], steps, numbers[:, -1], ends)
