"""Paper A's models beyond the minimal and the full one: what is measured, taken from the experiments as they ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from headway.tasks.run import Settings


@dataclass(frozen=True)
class Form:
    """A run of an experiment, or the n-gram model of so many tokens that it is compared with."""

    title: str
    experiment: str
    run: str
    context: int | None = None


FORMS: Mapping[str, Form] = {
    "without-norm": Form("full without norm", "ablations", "without norm"),
    "without-residual": Form("full without residual", "ablations", "without residual"),
    "without-mlp": Form("full without MLP", "ablations", "without MLP"),
    "without-key": Form("full without key matrix", "ablations", "without key"),
    "without-output": Form("full without output matrix", "ablations", "without output"),
    "without-embedding": Form("full without embedding", "ablations", "without embedding"),
    "without-readout": Form("full without readout", "ablations", "without readout"),
    "one-hot-positions": Form("full, one-hot positions", "ablations", "one-hot positions"),
    "two-layers": Form("full, 2 layers", "two-layers", "full, two layers"),
    "minimal-two-layers": Form("minimal, 2 layers", "two-layers", "minimal, two layers"),
    "four-layers": Form("width 96, 4 layers", "depth", "4 layers"),
    "rotary": Form("width 96, rotary positions", "positions", "rotary positions"),
    "relative": Form("width 96, relative positions", "positions", "relative positions"),
    "alibi": Form("width 96, ALiBi", "positions", "ALiBi positions"),
    "sinusoidal": Form("width 96, sinusoidal positions", "positions", "sinusoidal positions"),
    "minimal-four-heads": Form("minimal, 4 heads", "overlapping", "overlapping blocks, four heads"),
    "dropout-always": Form("full, dropout at every step", "differences", "full, dropout at every step"),
    "full-4-gram": Form("full, 4-gram", "ladder", "full", 4),
    "full-12-gram": Form("full, 12-gram", "ladder", "full", 12),
    "minimal-6-gram": Form("minimal, 6-gram", "overlapping", "overlapping blocks, three heads", 6),
}
"""Case -> what it is."""

QUICK_FORMS = ("without-norm", "minimal-6-gram")
"""Enough to see that all works."""


def form_settings(name: str, quick: bool) -> Settings:
    """The run's settings as it ran, without comparisons, which no step knows of; quickly, in tiny shapes."""
    from headway.experiments import find  # late: a rival alone in a process measures its own imports

    form = FORMS[name]
    found = find(form.experiment).grids["as-run"][form.run]
    if form.context is not None:
        (found,) = (each for each in found.references if each.task.context == form.context)
    plain = found.changed(task={"references": ()}, evaluation={"comparisons": False})
    return _tiny(plain) if quick else plain


def _tiny(settings: Settings) -> Settings:
    """The same switches; windows of 2 to 4 of the 4 tokens before the first prediction."""
    context = settings.task.context
    task = {
        "vocab": 8,
        "horizon": 5,
        "blocks": ((1,), (2,), (3, 4)),
        "context": None if context is None else 1 + context // 4,
    }
    head_width = None if settings.model.head_width is None else 8 + 8
    return settings.changed(
        task=task,
        model={"width": 12, "mlp": 8 if settings.model.mlp else 0, "head_width": head_width},
        training={"batch": 16, "samples": 48, "test_samples": 16},
    )


def period(settings: Settings) -> int:
    """Steps after which dropout comes back: what is timed is a multiple of it."""
    training = settings.training
    first_only = settings.model.dropout and training.dropout == "first-of-epoch"
    return training.steps_per_epoch if first_only else 1


def asking(settings: Settings) -> int:
    """How many of the positions that are read predict: the last of a window, or all that the task predicts."""
    return settings.task.horizon if settings.task.context is None else 1


def batches_of(settings: Settings, sequences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets of whole batches, (batch, row, token); an n-gram model has a row for each prediction."""
    task, batch = settings.task, settings.training.batch
    rows = sequences[: len(sequences) // batch * batch]
    if task.context is not None:
        places = task.start - task.context + np.arange(task.horizon)[:, None] + np.arange(task.context + 1)
        rows = rows[:, places]
    rows = rows.reshape(len(rows) // batch, -1, rows.shape[-1])
    return rows[..., :-1], rows[..., -asking(settings) :]
