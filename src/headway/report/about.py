"""What a run is called and what was measured along it, in words: the one place that knows.

A record says it itself (`provenance["about"]`), or its settings do (`settings.about()`). Of older records it follows
from the settings' own numbers and from the arrays that are there, never from the name of a kind.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headway.records import About, Trajectory
from headway.settings.plain import plain, revive

PROGRESS = ("excess_loss", "loss", "accuracy", "train_loss")
"""Arrays by which one sees how far a run has come, the most informative first."""

CLOCKS = {
    "step": "optimiser step",
    "evaluation": "optimiser step",
    "snapshot": "optimiser step",
    "time": "time of the flow",
    "escape": "time, in predicted plateaus",
}
"""Clocks that are times, with the title of their axis; what is measured against something else is no run to watch."""

SCALARS = {
    "loss": "loss",
    "excess_loss": "excess loss",
    "accuracy": "accuracy",
    "train_loss": "training loss",
    "loss_alone": "loss of one position alone",
    "loss_repeated": "loss where the sample repeats",
    "accuracy_repeated": "accuracy where the sample repeats",
    "gradient_norm": "norm of the gradient",
    "learning_rate": "learning rate",
    "focus": "attention on the token that matters",
    "gain": "gain",
    "value": "value",
}
"""Numbers of a whole model, (seed, time), that any run may have."""

HEADS = {
    "attention_relevant": "attention on the relevant positions",
    "attention_previous": "attention on the token before",
}
"""Numbers of a head, (seed, time, layer, head), that older records have without saying what they are."""

_FORMER_BACK = re.compile(r"attention on the token (?:\d+ )?before")
"""What older records call `attention_back_1`, .., without saying over which positions it was taken."""

_FORMER_MEASURES = {
    r"attention of layer 1, (\d+) before": r"attention of layer 1 to the token \1 back",
    r"attention to what followed the current token, on repeated random tokens": (
        "attention, on repeated random tokens, to what followed the current token"
    ),
}
"""What older records call numbers of their heads, in words that were misread in a sentence."""

_FORMER_CHAIN = re.compile(r"A Markov chain of (\d+) tokens with (\d+ blocks of lags)")
"""The title that older records give: it was read as the length of the sequence."""


def about_of(settings: Any, provenance: Mapping[str, Any], trajectory: Trajectory | None = None) -> About:
    """What the record says of itself, else what its settings say, else what follows from what is there."""
    given = provenance.get("about")
    if isinstance(given, Mapping):
        said = revive(About, {**plain(About("")), **given})
        measures = tuple((name, _over_positions(name, _as_now(words))) for name, words in said.measures)
        title = _FORMER_CHAIN.sub(r"A Markov chain with vocabulary size \1 and \2", said.title)
        return replace(said, title=title, measures=measures)
    own = getattr(settings, "about", None)
    said = own() if callable(own) else None
    return said if isinstance(said, About) else _from_what_is_there(settings, trajectory)


def _as_now(words: str) -> str:
    for former, now in _FORMER_MEASURES.items():
        words = re.sub(former, now, words)
    return words


def _over_positions(name: str, words: str) -> str:
    former = name.startswith("attention_back_") and _FORMER_BACK.fullmatch(words)
    return f"{words} (mean over positions)" if former else words


def context_of(settings: Any) -> int | None:
    """How many tokens a model reads that is there to be compared with; None for one that reads everything."""
    return getattr(getattr(settings, "task", None), "context", None) or getattr(settings, "context", None)


def silence_of(settings: Any) -> float:
    """The loss of a model that has learnt nothing; infinite where its task does not say."""
    level = getattr(getattr(settings, "task", None), "silence", None)
    return float(level) if isinstance(level, float | int) else math.inf


def drawable(clock_of: Mapping[str, str]) -> bool:
    """Whether a run with these arrays, each on its clock, has a curve over time to draw."""
    return any(clock_of.get(name) in CLOCKS for name in PROGRESS)


def progress_array(about: About, trajectory: Trajectory) -> str | None:
    """The array that the first chart shows: the one that `about` names, or the most informative one that is there."""
    wanted = (about.progress, *PROGRESS)
    return next((name for name in wanted if name in trajectory and trajectory[name].ndim >= 2), None)


def _from_what_is_there(settings: Any, trajectory: Trajectory | None) -> About:
    task = getattr(settings, "task", None)
    blocks, vocab = getattr(task, "blocks", None), getattr(task, "vocab", None)
    features = getattr(settings, "features", None)
    measures = () if trajectory is None else _measures(trajectory)
    if blocks:
        return About(
            title=f"A Markov chain with {f'vocabulary size {vocab} and ' if vocab else ''}"
            f"{_counted(len(blocks), 'block')} of lags",
            rungs=("uniform", *(f"f_{{1:{rung}}}" for rung in range(1, len(blocks) + 1))),
            progress="excess_loss",
            groups=tuple((f"block {k}", tuple(lags)) for k, lags in enumerate(blocks, start=1)),
            measures=measures,
        )
    if isinstance(features, int):
        heads = getattr(settings, "heads", None) or features
        return About(
            title=f"{_counted(heads, 'head')} of attention {'learns' if heads == 1 else 'learn'} "
            f"{_counted(features, 'feature')}",
            rungs=tuple(_counted(count, "feature") for count in range(features + 1)),
            unit="",
            groups=tuple((f"position {k}", (k,)) for k in range(1, features + 1)),
            measures=measures,
        )
    name = str(getattr(settings, "KIND", "") or type(settings).__name__.removesuffix("Settings"))
    words = name.replace("-", " ").replace("_", " ").strip().lower() or "run"
    progress = next((name for name in PROGRESS if trajectory is not None and name in trajectory), "loss")
    return About(title=words.capitalize(), unit="", progress=progress, measures=measures)


def _measures(trajectory: Trajectory) -> tuple[tuple[str, str], ...]:
    """Arrays of one number a head whose names begin as those of attention do."""
    names = (name for name, values in trajectory.arrays.items() if name in HEADS or _of_a_head(name, values.ndim))
    return tuple((name, HEADS.get(name, name.replace("_", " "))) for name in names)


def _of_a_head(name: str, axes: int) -> bool:
    return name.startswith("attention_") and axes == 4


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
