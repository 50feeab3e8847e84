"""What settings were called before: old names are understood in records, and named in errors."""

from __future__ import annotations

RENAMED = {
    "task": {"tokens": "vocab"},
    "model": {"blocks": "layers"},
    "evaluation": {"subsets": "comparisons"},
}
"""Group -> old name -> new name."""
MOVED = {
    "context": "task.context",
    "references": "task.references",
    "training.every": "evaluation.every",
    "training.growth": "evaluation.growth",
}


def renamed_to(name: str) -> str | None:
    """What a setting is called now: task.tokens -> task.vocab; None if that name is not an old one."""
    group, _, own = name.rpartition(".")
    new = RENAMED.get(group, {}).get(own)
    return MOVED.get(name) if new is None else f"{group}.{new}"
