"""Changed settings in the words of the command line: "blocks 1-2 3-4 5-6, heads 2, no keys"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any


def block_text(block: Sequence[int]) -> str:
    """Lags as they are typed, neighbours as a range: (1, 2, 3, 7) -> "1-3,7"."""
    runs: list[list[int]] = []
    for lag in block:
        if runs and lag == runs[-1][-1] + 1:
            runs[-1].append(lag)
        else:
            runs.append([lag])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def typed(name: str, value: Any) -> str:
    """One setting as it is typed, without its dashes: "blocks 1-2 3-4", "learning-rate 0.1", "no keys"."""
    words = name.replace("_", "-")
    if value is None or value is False:
        return f"no {words}"
    if value is True:
        return words
    if isinstance(value, list | tuple):
        return f"{words} {' '.join(_item(name, each) for each in value) or 'none'}"
    return f"{words} {value}"


def _item(name: str, value: Any) -> str:
    if not isinstance(value, list | tuple):
        return str(value)
    return block_text(value) if name.endswith("blocks") else ",".join(map(str, value))


def typed_settings(changes: Mapping[str, Any]) -> list[str]:
    """Every change in words; a name keeps its group, as in "model.dropout", where the last part alone is not clear."""
    last = Counter(name.rpartition(".")[2] for name in changes)
    short = {name: name.rpartition(".")[2] if last[name.rpartition(".")[2]] == 1 else name for name in changes}
    return [typed(short[name], value) for name, value in changes.items()]


def within(first: Sequence[str], changes: Sequence[str], most: int) -> str:
    """Words with commas between them, each whole or not at all: changes beyond `most` letters are counted instead."""
    for kept in range(len(changes), -1, -1):
        left = len(changes) - kept
        more = [f"{left} more change{'' if left == 1 else 's'}" if kept else _counted(left)] if left else []
        words = ", ".join([*first, *changes[:kept], *more])
        if len(words) <= most or kept == 0:
            return words
    return ", ".join(first)


def _counted(count: int) -> str:
    return f"{count} setting{'' if count == 1 else 's'} changed"
