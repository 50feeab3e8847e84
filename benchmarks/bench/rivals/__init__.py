"""What a user would write instead: the same models, the same optimiser, none of Headway's code.

A rival is a function of the settings, the weights to start from and the sequences to learn. The PyTorch ones
need PyTorch and nothing of JAX, so that a process can hold one of them alone.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.bench.contestant import Contestant
from headway.settings.extras import to_install
from headway.tasks.run import Settings

Arrays = Mapping[str, np.ndarray]
"""Weights or gradients by name; Headway's names are the paths in its model."""
HEAD, MLP = ".layers[0].attention.", ".layers[0].mlp."
NORMS = (".layers[0].norms[0].", ".layers[0].norms[1].")

TITLES = {
    "torch": "PyTorch",
    "torch-compile": "torch.compile",
    "jax": "plain JAX",
    "torch-graphs": "torch.compile, CUDA graphs",
}


@dataclass(frozen=True)
class Rival:
    """A contestant that can also be asked what it computes."""

    contestant: Contestant
    gradient: Callable[[np.ndarray], tuple[float, dict[str, np.ndarray]]]
    """Sequences -> loss and gradients of the weights as they are, in this rival's own layout, without dropout."""
    layout: Callable[[Arrays], dict[str, np.ndarray]]
    """Headway's arrays in this rival's layout."""


def absence(name: str, gpu: bool) -> str | None:
    """Why a rival cannot take part here, and what to do about it; None if it can."""
    if name == "jax":
        return None
    if importlib.util.find_spec("torch") is None:
        return f"{TITLES[name]} is left out: PyTorch is not installed. {to_install('torch')}"
    if name == "torch-graphs" and not gpu:
        return f"{TITLES[name]} is left out: there is no GPU."
    if name.startswith("torch-") and not any(map(shutil.which, (os.environ.get("CXX", "c++"), "g++", "clang++"))):
        return f"{TITLES[name]} is left out: it needs a C++ compiler. On Debian: apt-get install g++."
    if gpu:
        from benchmarks.bench.rivals.torch_training import has_gpu

        if not has_gpu():
            return (
                f"{TITLES[name]} is left out: JAX has a GPU here but this PyTorch has none, "
                "and a CPU against a GPU says nothing. Install a PyTorch with CUDA, or set JAX_PLATFORMS=cpu."
            )
    return None


def make(name: str, settings: Settings, weights: Arrays, sequences: np.ndarray, steps: int, gpu: bool) -> Rival:
    """The rival of that name at `weights`, which trains on `sequences`, `steps` at a time."""
    if name == "jax":
        from benchmarks.bench.rivals.plain_jax import plain_jax

        return plain_jax(settings, weights, sequences, steps)
    from benchmarks.bench.rivals.torch_training import torch_rival

    return torch_rival(settings, weights, sequences, steps, compiled=name == "torch-compile", gpu=gpu)
