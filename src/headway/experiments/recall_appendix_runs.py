"""Runs of recall as paper B's appendix trains it, and what they are called."""

from __future__ import annotations

import math
from typing import Any

from headway.experiments.selection import Where
from headway.tasks.recall import Recall

# Ours: an end soon after half of the answers are right makes all sizes affordable.
_ENDING = Recall.usual().changed(training={"until": 0.5, "tail": 0.2})
BASES = {
    # Ours: two layers and a narrower stream that learns faster.
    "quick": _ENDING.changed(
        model={"layers": 2, "width": 64, "mlp": 256},
        training={"steps": 4000, "test_samples": 1024},
        evaluation={"every": 25, "growth": 0.06},
    ),
    # Ours: TF32.
    "paper": _ENDING.changed(training={"precision": "tf32"}, evaluation={"growth": 0.02}),
}
RATES = {"quick": (1e-3, 2e-3), "paper": (1e-5, 3e-5, 1e-4)}
"""Learning rates of which each size has its own."""
TOKENS = {"quick": (64, 128), "paper": (32, 64, 128, 256)}
PAIRS = {"quick": (2, 4), "paper": (8, 16)}
LARGEST = 2048
"""N_tokens N_pairs, at most. Ours: pilots of 32 pairs had not ended with any rate after 35 000 steps, of at most
50 000, and by the law of smaller sizes 16 pairs of 256 tokens would take nearly 40 000."""
NORMS = {"none": "", "pre": "norm, "}
"""The appendix's table and text contradict each other: both are trained; where it stands is ours."""
UNIT, LARGER = "embedding of variance 1", "embedding of variance 1/N_tokens"
MORE_PAIRS = {"quick": (2, 4), "paper": (8, 16, 32)}
"""With an embedding of variance 1, which learns sooner."""
RATE = {"quick": 2e-3, "paper": 1e-4}
"""Learning rate where something is changed: on the grid paper the one that every pilot chose."""
FEW = {"quick": (), "paper": ((32, 8), (128, 8), (32, 16))}
"""N_tokens and N_pairs at which one more thing is changed at a time."""
CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "no mask": {"model": {"causal": False}},
    "silent readout": {"model": {"initialisation": "silent-pytorch"}},
}
"""What the appendix leaves open, too -> what is changed."""


def embedding_scale(name: str, tokens: int) -> float:
    """What gives an embedding this variance: PyTorch's linear maps, of one-hot tokens, have 1/(3 N_tokens)."""
    return round(math.sqrt(3 * tokens if name == UNIT else 3), 6)


def _runs(grid: str) -> dict[str, Any]:
    """From short plateaus to long ones, for each norm: if time runs out, the least is lost.

    Where one thing is changed, the learning rate is the best one without that change, and all changes but an embedding
    of variance 1 are trained until their plateau ends.
    """
    base = BASES[grid].changed(training={"learning_rate": RATE[grid]})
    chosen = BASES[grid].changed(training={"rates": RATES[grid]})
    sizes = [(n, p) for p in PAIRS[grid] for n in TOKENS[grid] if p < n and n * p <= LARGEST]
    more = [(n, p) for p in MORE_PAIRS[grid] for n in TOKENS[grid] if p < n]
    runs = {
        f"{before}{_name(n, p)}": chosen.changed(task={"vocab": n, "pairs": p}, model={"norm": norm})
        for norm, before in NORMS.items()
        for n, p in sizes
    }
    short = base.changed(training={"until": None})
    for name, start, where in ((UNIT, base, more), (LARGER, short, sizes if grid == "paper" else sizes[:1])):
        for n, p in where:
            model = {"embedding_scale": embedding_scale(name, n)}
            runs[f"{name}, {_name(n, p)}"] = start.changed(task={"vocab": n, "pairs": p}, model=model)
    for name, change in CHANGES.items():
        for n, p in FEW[grid]:
            runs[f"{name}, {_name(n, p)}"] = short.changed(task={"vocab": n, "pairs": p}).changed(**change)
    return runs


def _name(tokens: int, pairs: int) -> str:
    return f"vocabulary size {tokens}, {pairs} pairs"


GRIDS = {grid: _runs(grid) for grid in BASES}


def is_plain(settings: Any, norm: str = "none") -> bool:
    """Nothing but the norm is changed."""
    model = settings.model
    return (model.norm, model.embedding_scale, model.causal, model.initialisation) == (norm, 1, True, "pytorch")


def embedded(name: str) -> Where:
    """Nothing but the scale of the embedding is changed, and as this name says."""
    return lambda settings: settings.model.embedding_scale == embedding_scale(name, settings.task.vocab)
