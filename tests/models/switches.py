"""Transformers in which every two positions of every two switches meet."""

from dataclasses import replace
from itertools import combinations, product
from typing import Any

import jax

from headway.models.initialisation import transformer
from headway.models.transformer import Transformer
from headway.presets import MINIMAL
from headway.settings import ModelSettings

TOKENS = LENGTH = 4
SWITCHES: dict[str, tuple[Any, ...]] = {
    "norm": ("none", "pre", "post"),
    "residual": (True, False),
    "mlp": (0, 5),
    "keys": (True, False),
    "output": (True, False),
    "scaled_scores": (True, False),
    "readout": (True, False),
    "embedding": ("learned", "one-hot"),
    "positions": ("learned", "one-hot", "sinusoidal", "none"),
    "blocks": (1, 2, 3),
    "heads": (1, 2, 4),
}


def pairs(chosen: dict[str, Any]) -> set[frozenset[tuple[str, Any]]]:
    """Every two of the choices."""
    return {frozenset(pair) for pair in combinations(chosen.items(), 2)}


def chosen_settings() -> list[ModelSettings]:
    """As few settings as a greedy search finds with every pair of choices in one of them, and the minimal model."""
    everything = [dict(zip(SWITCHES, chosen, strict=True)) for chosen in product(*SWITCHES.values())]
    values = [[(switch, value) for value in choices] for switch, choices in SWITCHES.items()]
    few = everything[::7]  # enough to choose from, and a quicker search
    missing = {frozenset(pair) for a, b in combinations(values, 2) for pair in product(a, b)}
    found = []
    while missing:
        best = max(few, key=lambda chosen: len(pairs(chosen) & missing))
        assert pairs(best) & missing
        missing -= pairs(best)
        found.append(ModelSettings(width=8, dropout=0.0, **best))
    return [*found, replace(MINIMAL, heads=2), replace(MINIMAL, heads=2, blocks=2)]


def name(settings: ModelSettings) -> str:
    """The switches of a test, short enough to read."""
    return "-".join(str(getattr(settings, switch)) for switch in SWITCHES)


def stirred(settings: ModelSettings, seed: int = 0) -> Transformer:
    """A model with every number away from its start, so that no zero hides a mistake."""
    model = transformer(settings, TOKENS, LENGTH, jax.random.key(seed))
    leaves, structure = jax.tree.flatten(model)
    keys = jax.random.split(jax.random.key(seed + 1), len(leaves))
    moved = [leaf + 0.5 * jax.random.normal(k, leaf.shape, leaf.dtype) for leaf, k in zip(leaves, keys, strict=True)]
    return jax.tree.unflatten(structure, moved)
