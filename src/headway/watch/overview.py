"""What the page shows of a folder: how many cells are in which state, how long it will take, which runs it shows."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from headway.report.about import context_of
from headway.report.assemble import shortened
from headway.watch.names import label
from headway.watch.run_cache import has_numbers, revision
from headway.watch.snapshot import STATES, Seen, Snapshot
from headway.watch.timing import cell_left, left

MOST_SHOWN = 6
"""Runs that one page holds; the others have pages of their own."""
MOST_ROWS = 200
"""Cells that are listed."""


def listed(sight: Snapshot) -> list[Seen]:
    """Every cell but for pilots, of which nothing is reported."""
    return [seen for seen in sight.cells.values() if seen.cell is None or not seen.cell.is_pilot]


def shown(sight: Snapshot) -> list[Seen]:
    """What is worth watching: what runs, then what changed last; n-gram models, to compare with, behind the others."""

    def rank(seen: Seen) -> tuple[bool, bool, float]:
        reference = context_of(seen.cell.settings) is not None if seen.cell else False
        return seen.state != "running", reference, -seen.changed

    return sorted(filter(has_numbers, listed(sight)), key=rank)[:MOST_SHOWN]


def state(sight: Snapshot, runs: Sequence[Seen], lead: str = "") -> dict[str, Any]:
    """The news: plain words and numbers, with a revision that differs whenever they do; `lead` opens the page."""

    def rank(seen: Seen) -> tuple[int, bool, float, str]:
        return STATES.index(seen.state), not has_numbers(seen), -seen.changed, seen.identity

    cells = sorted(listed(sight), key=rank)
    counts = Counter(seen.state for seen in cells)
    told = {
        "lead": lead,
        "counts": {each: counts[each] for each in STATES},
        "left": dict(left(sight)),
        "cells": [_row(seen) for seen in cells[:MOST_ROWS]],
        "unlisted": max(0, len(cells) - MOST_ROWS),
        "showable": sum(map(has_numbers, cells)),
        "crowded": sight.crowded,
        "runs": [{"identity": seen.identity, "revision": revision(seen)} for seen in runs],
    }
    text = json.dumps(told, sort_keys=True, allow_nan=False)
    return {"revision": hashlib.sha256(text.encode()).hexdigest()[:32], **told}


def _row(seen: Seen) -> dict[str, Any]:
    return {
        "identity": seen.identity,
        "state": seen.state,
        "label": label(seen.cell) if seen.cell is not None else shortened(seen.words),
        "words": seen.words,
        "trouble": seen.trouble,
        "position": seen.position,
        "steps": seen.steps,
        "left": cell_left(seen),
        "showable": has_numbers(seen),
    }
