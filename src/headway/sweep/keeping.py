"""The models that a cell keeps while it trains, by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from headway import registry
from headway.records import Cell
from headway.settings import SettingsError
from headway.settings.keeping import Keep
from headway.store import Resumed, Work
from headway.store.record import SEEDS
from headway.tasks.task import functions_of

Models = Mapping[str, np.ndarray]


class KeptModels:
    """Which steps' models of one cell are kept by now; those that a checkpoint has saved need not stay in memory.

    With "stages" a model is kept while no later one has been nearer to some rung: at most one for every seed and rung.
    """

    def __init__(self, keep: Keep, work: Work, resumed: Resumed) -> None:
        self._keep, self._seeds = keep, np.asarray(work.cell.seeds, np.int64)
        settings = work.cell.settings
        self._wanted = keep.steps(settings.evaluation.steps(settings.training.steps))
        # Where seeds stop by themselves there is no one last step.
        self._last = settings.training.steps if settings.training.threshold is None else None
        self._models: dict[int, Models | None] = dict.fromkeys(resumed.kept)
        self._lowest: np.ndarray | None = None
        self._at: np.ndarray | None = None
        if keep.by_rung and resumed.kept:
            self._go_on(work, resumed)

    def _go_on(self, work: Work, resumed: Resumed) -> None:
        """The models that were saved, and how near to the rungs each of them was."""
        measured = {
            int(step): part["kl_rungs"][:, place]
            for part in resumed.parts
            for place, step in enumerate(part.times("kl_rungs"))
        }
        for step in resumed.kept:
            models = work.kept_models(step)
            self._models[step] = models
            held = np.isin(self._seeds, models[SEEDS])[:, None]
            if step in measured:
                self._compare(step, np.where(held, measured[step], np.nan))

    def look(self, step: int, kl_rungs: np.ndarray | None, weights: Callable[[], Models]) -> None:
        """An evaluation: keep its models if they are wanted; `kl_rungs` are (seed, rung)."""
        better = self._keep.by_rung and kl_rungs is not None and self._compare(step, kl_rungs)
        if (better or step in self._wanted) and step not in self._models:
            self._models[step] = {SEEDS: self._seeds, **weights()}
        if better:
            needed = self._needed()
            self._models = {each: models for each, models in self._models.items() if each in needed}

    def _compare(self, step: int, kl_rungs: np.ndarray) -> bool:
        kl = np.asarray(kl_rungs)[:, 1:]  # a fresh model is kept anyway
        if self._lowest is None or self._at is None:
            self._lowest, self._at = np.full(kl.shape, np.inf), np.full(kl.shape, -1)
        nearer = kl < self._lowest
        self._lowest, self._at = np.where(nearer, kl, self._lowest), np.where(nearer, step, self._at)
        return bool(nearer.any())

    def _needed(self) -> set[int]:
        return self._wanted | (set() if self._at is None else {int(step) for step in np.unique(self._at)})

    def models(self) -> dict[int, Models | None]:
        """What to save; None for what is as it was saved."""
        return {step: self._own(step, models) for step, models in sorted(self._models.items())}

    def earlier(self) -> dict[int, Models | None]:
        """What to put into the record: the last models are there anyway."""
        return {step: models for step, models in self.models().items() if step != self._last}

    def saved(self) -> None:
        """Everything is on the disk now."""
        if not self._keep.by_rung:
            self._models = dict.fromkeys(self._models)

    def _own(self, step: int, models: Models | None) -> Models | None:
        """The rows of those seeds that need this step."""
        if models is None or step in self._wanted or self._at is None:
            return models
        rows = np.isin(models[SEEDS], self._seeds[(self._at == step).any(axis=1)])
        return {name: values[rows] for name, values in models.items()}


def kept_in_words(keeps: Sequence[Keep], weights: Sequence[Models], states: Sequence[Models]) -> str:
    """How much is kept of cells that train together, all seeds of those that keep anything."""
    words = ", ".join(dict.fromkeys(keep.word for keep in keeps if keep))
    model, state = (
        sum(values.nbytes for keep, each in zip(keeps, part, strict=True) if keep for values in each.values()) / 1e6
        for part in (weights, states)
    )
    return (
        f"keeping models ({words}), {model:.3g} MB a step, and at the end {state:.3g} MB from which training can go on"
    )


def require_keepable(keep: Keep, cells: Iterable[Cell]) -> None:
    """Refuse to keep models by stages of a task that has no ladder."""
    for cell in cells:
        if keep.by_rung and registry.is_trained(cell.kind) and functions_of(cell.settings.task).ladder is None:
            raise SettingsError(
                f"the task {cell.kind!r} has no ladder, so its stages are not known. Keep models at a number of "
                "log-spaced steps instead, such as --keep-weights 12."
            )
