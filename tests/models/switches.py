"""Transformers in which every two positions of every two switches meet."""

from dataclasses import replace
from functools import cache
from itertools import combinations, product
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

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
    "layers": (1, 2, 3),
    "heads": (1, 2),
}

AT_THE_SCORES = [
    ModelSettings(width=8, dropout=0.0, **chosen)
    for chosen in (
        {"positions": "rotary", "heads": 2, "layers": 2, "norm": "pre", "mlp": 5},
        {"positions": "rotary", "heads": 2, "embedding": "one-hot", "output": False, "norm": "none", "mlp": 0},
        {"positions": "relative", "heads": 2, "layers": 2, "keys": False, "residual": False, "mlp": 5},
        {"positions": "relative", "heads": 1, "embedding": "one-hot", "scaled_scores": False, "mlp": 0},
        {"positions": "relative-keys", "heads": 2, "layers": 2, "norm": "pre", "mlp": 0},
        {"positions": "relative-keys", "heads": 2, "keys": False, "scaled_scores": False, "mlp": 5},
        {"positions": "alibi", "heads": 2, "layers": 2, "mlp": 0, "readout": False},
        {"positions": "alibi", "heads": 2, "keys": False, "output": False, "norm": "none", "mlp": 5},
    )
]
"""Positions that act where scores are made, in a few surroundings: they know nothing of most switches."""


def pairs(chosen: dict[str, Any]) -> set[frozenset[tuple[str, Any]]]:
    """Every two of the choices."""
    return {frozenset(pair) for pair in combinations(chosen.items(), 2)}


@cache
def chosen_settings() -> list[ModelSettings]:
    """As few settings as a greedy search finds with every pair of choices in one of them, and those named here."""
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
    return [*found, replace(MINIMAL, heads=2), replace(MINIMAL, heads=2, layers=2), *AT_THE_SCORES]


def name(settings: ModelSettings) -> str:
    """The switches of a test, short enough to read."""
    return "-".join(str(getattr(settings, switch)) for switch in SWITCHES)


@cache
def _shapes(settings: ModelSettings, vocab: int, length: int) -> Transformer:
    """Tracing a start takes longer than all else about a stirred model, and tests ask for the same ones again."""
    return jax.eval_shape(lambda key: transformer(settings, vocab, length, key), jax.random.key(0))


def stirred(settings: ModelSettings, seed: int = 0, vocab: int = TOKENS, length: int = LENGTH) -> Transformer:
    """A model with random numbers everywhere, so that no zero and no one of the start hides a mistake."""
    shapes = _shapes(settings, vocab, length)
    rng = np.random.default_rng(seed)
    model = jax.tree.map(lambda leaf: jnp.asarray(rng.normal(scale=0.5, size=leaf.shape)), shapes)
    if settings.norm == "none":
        return model
    # Around one as in life, or the signal would fade from layer to layer.
    return eqx.tree_at(lambda m: [n.scale for each in m.layers for n in each.norms], model, replace_fn=lambda x: x + 1)
