"""Paper B's toy at many sizes, one run each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from headway.settings import ToySettings

SIZES = ("dimension", "length", "copies", "repeated")


def every_size(settings: ToySettings, **sizes: Sequence[float]) -> list[ToySettings]:
    """The same at every combination of these sizes, the last of (d, T, B, p) running fastest."""
    names = [name for name in SIZES if name in sizes]
    return [
        replace(settings, **dict(zip(names, numbers, strict=True)))
        for numbers in product(*(sizes[name] for name in names))
    ]


def named(what: str, runs: Sequence[ToySettings]) -> dict[str, ToySettings]:
    """gap, d = 16, T = 256, B = 2 -> its settings."""
    return {f"{what}, {settings.size}": settings for settings in runs}
