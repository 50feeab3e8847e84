"""Runs found by their settings, whatever they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headway.claims.claim import AnyRun, Results

Where = Callable[[Any], bool]
"""Of settings; as `Claim.about`, which runs a claim is about."""


def having(**wanted: Any) -> Where:
    """Settings of which these have these values: having(model="gap", points=0)."""
    return lambda settings: all(getattr(settings, name) == value for name, value in wanted.items())


def made(results: Results, where: Where) -> list[AnyRun]:
    """The runs with such settings that were made."""
    return [run for run in results.values() if where(run[0])]
