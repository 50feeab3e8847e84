"""One trajectory from consecutive parts of a run, and what such parts must share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headway.records import Trajectory


def join(parts: Sequence[Trajectory]) -> Trajectory:
    """One trajectory from consecutive parts: every array concatenated along its time axis.

    Every clock must go on where the part before stopped, never stand still or run back. A fact
    may come with any part; parts that give the same fact must agree on it.
    """
    if not parts:
        raise ValueError("there are no parts to join. A trajectory needs at least one.")
    first = parts[0]
    last: Mapping[str, Any] = {}
    facts: dict[str, np.ndarray] = {}
    for part in parts:
        require_alike(outline(first), outline(part))
        last = ticks_after(last, part)
        for name, values in part.facts.items():
            if name in facts and not _same(facts[name], values):
                raise ValueError(f"two parts give different values of the fact {name!r}.")
            facts[name] = values
    if len(parts) == 1:
        return first
    return Trajectory(
        seeds=first.seeds,
        clocks={name: np.concatenate([part.clocks[name] for part in parts]) for name in first.clocks},
        arrays={name: np.concatenate([part.arrays[name] for part in parts], axis=1) for name in first.arrays},
        clock_of=first.clock_of,
        facts=facts,
    )


def ticks_after(last: Mapping[str, Any], part: Trajectory) -> dict[str, Any]:
    """The last tick of every clock once `part` has followed the ticks `last`."""
    ends = dict(last)
    for name, ticks in part.clocks.items():
        if not np.all(ticks[1:] > ticks[:-1]):
            raise ValueError(f"the clock {name!r} does not increase within a part: {ticks!r}.")
        if len(ticks) and name in ends and not ticks[0] > ends[name]:
            raise ValueError(
                f"the clock {name!r} had reached {ends[name]} and the next part starts at {ticks[0]}. "
                "Parts must follow each other without an overlap."
            )
        if len(ticks):
            ends[name] = ticks[-1]
    return ends


def outline(part: Trajectory) -> dict[str, Any]:
    """What all parts of a run share, ready for JSON: seeds, clocks, and the arrays' types and shapes."""
    return {
        "seeds": list(part.seeds),
        "clocks": {name: str(ticks.dtype) for name, ticks in part.clocks.items()},
        "arrays": {
            name: [part.clock_of[name], str(values.dtype), list(values.shape[2:])]
            for name, values in part.arrays.items()
        },
    }


def require_alike(wanted: Mapping[str, Any], got: Mapping[str, Any]) -> None:
    """Refuse outlines whose join would promote, broadcast or drop something in silence."""
    for what in ("seeds", "clocks", "arrays"):
        if wanted[what] != got[what]:
            raise ValueError(
                f"the {what} of a run changed between two parts, from {wanted[what]} to {got[what]}. "
                "Only parts of one run can be joined."
            )


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
