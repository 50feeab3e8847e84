"""Paper B's toy at many sizes, one run each: descended, or its flow solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, TypeVar

from headway.experiments.selection import Where
from headway.settings import ToyFlowSettings
from headway.tasks.toy import Toy, looks

SIZES = ("dimension", "length", "copies", "repeated")
Sized = TypeVar("Sized", Toy, ToyFlowSettings)


def every_size(settings: Sized, **sizes: Sequence[float]) -> list[Sized]:
    """The same at every combination of these sizes, the last of (d, T, B, p) running fastest."""
    names = [name for name in SIZES if name in sizes]
    return [
        replace(settings, **dict(zip(names, numbers, strict=True)))
        for numbers in product(*(sizes[name] for name in names))
    ]


def named(what: str, runs: Sequence[Any]) -> dict[str, Any]:
    """gap, d = 16, T = 256, B = 2 -> its settings."""
    return {f"{what}, {toy_of(settings).size}": settings for settings in runs}


def toy_of(settings: Any) -> Any:
    """What has the sizes: the task of a descent, or a flow, which is nothing but one."""
    return getattr(settings, "task", settings)


def descended(*, seen: bool | None = None, sampled: bool | None = None, **wanted: Any) -> Where:
    """Descents of the toy with these settings of the task, of which curves are `seen` or not, on samples or not."""

    def where(settings: Any) -> bool:
        task = getattr(settings, "task", None)
        if not hasattr(task, "trained") or any(getattr(task, name) != value for name, value in wanted.items()):
            return False
        found = settings.evaluation.every == looks(True).every, settings.training.data != "exact"
        return all(ask in (None, there) for ask, there in zip((seen, sampled), found, strict=True))

    return where


def solved(**wanted: Any) -> Where:
    """Flows of the toy with these settings."""
    return lambda settings: (
        hasattr(settings, "shown") and all(getattr(settings, name) == value for name, value in wanted.items())
    )
