"""Models with random weights, of every switch: what an export must be able to say."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np

from headway.models.initialisation import transformer
from headway.presets import MINIMAL
from headway.settings import ModelSettings
from headway.tasks.recall import Recall
from headway.tasks.run import Settings
from headway.tasks.single_location import SingleLocation
from headway.trained import Reads, TrainedModel

VOCAB, LENGTH, PREDICTED = 7, 9, 4
RELEVANT = ((8, 2), (5, 5))
PLAIN = ModelSettings(heads=2, layers=2, width=8, mlp=12, norm="none", dropout=0.0)
CASES = {
    "minimal": replace(MINIMAL, heads=2),
    "full": replace(PLAIN, norm="post", layers=1),
    "pre": replace(PLAIN, norm="pre"),
    "recall": replace(PLAIN, positions="sinusoidal"),
    "rotary": replace(PLAIN, positions="rotary", norm="pre"),
    "relative": replace(PLAIN, positions="relative"),
    "alibi": replace(PLAIN, positions="alibi", heads=4),
    "one-hot": replace(PLAIN, embedding="one-hot", positions="one-hot", readout=False, heads=2),
    "unscaled": replace(PLAIN, scaled_scores=False),
    "no-positions": replace(PLAIN, positions="none"),
    "attention-only": replace(PLAIN, mlp=0),
    "no-residual": replace(PLAIN, residual=False),
    "merged-scores": replace(PLAIN, keys=False),
    "full-width-heads": replace(PLAIN, output=False),
    "relative-keys": replace(PLAIN, positions="relative-keys"),
    "biases": replace(PLAIN, biases=True, activation="gelu", norm="pre", head_width=6),
    "merged-biases": replace(PLAIN, biases=True, keys=False, output=False),
    "linear": replace(PLAIN, attention="linear"),
    "unmasked": replace(PLAIN, causal=False, positions="sinusoidal", edge_biases=True, biases=True),
    "emphasis": replace(PLAIN, emphasis=3.0),
    "vectors": replace(PLAIN, positions="sinusoidal"),
}


def made_model(case: str, settings: ModelSettings | None = None) -> tuple[TrainedModel, np.ndarray]:
    """A model with random weights, large enough that attention is not uniform, and three inputs for it."""
    settings = CASES[case] if settings is None else settings
    vectors = case == "vectors"
    reads = Reads(5 if vectors else VOCAB, 3 if vectors else VOCAB, LENGTH, PREDICTED, not vectors)
    module = transformer(settings, reads.inputs, reads.positions, jax.random.key(0), None, reads.outputs, RELEVANT)
    leaves, structure = jax.tree.flatten(module)
    size = 0.15 if settings.attention == "linear" else 0.35  # logits of about 1, of which 1e-5 is a fair share
    keys = jax.random.split(jax.random.key(1), len(leaves))
    drawn = [
        size * jax.random.normal(key, leaf.shape) + (leaf if leaf.ndim == 1 else 0)
        for key, leaf in zip(keys, leaves, strict=True)
    ]
    module = jax.tree.unflatten(structure, drawn)
    generator = np.random.default_rng(0)
    inputs = (
        generator.normal(size=(3, LENGTH, 5)).astype(np.float32)
        if vectors
        else generator.integers(0, VOCAB, (3, LENGTH))
    )
    run = Settings(SingleLocation() if vectors else Recall())
    assert jax.tree.all(jax.tree.map(lambda leaf: jnp.isfinite(leaf).all(), module))
    return TrainedModel(Path("runs/made-0123456789abcdef"), 0, 10, module, reads, run), inputs


def imported(path: Path) -> ModuleType:
    """The written file as a module; nothing else of it is known."""
    spec = importlib.util.spec_from_file_location(f"exported_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
