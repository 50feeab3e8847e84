"""Headway's arrays by the names of `TorchTransformer`: matrices the other way round, heads side by side."""

from __future__ import annotations

import re

import numpy as np

from benchmarks.bench.rivals import Arrays

PROJECTED = ("query", "key", "value")
NAMED = {
    "positions": "positions",
    "embedding_bias": "embedding.bias",
    "readout_bias": "readout.bias",
    "final_norm.scale": "final_norm.weight",
    "final_norm.shift": "final_norm.bias",
}


def torch_layout(weights: Arrays, coordinates: int | None = None) -> dict[str, np.ndarray]:
    """Weights or gradients; of the last layer's values only the first `coordinates` columns, if given."""
    own = {re.sub(r"\[(\d+)\]", r".\1", name).lstrip("."): np.asarray(values) for name, values in weights.items()}
    found = {theirs: own[ours] for ours, theirs in NAMED.items() if ours in own}
    found |= {f"{name}.weight": own[name].T for name in ("embedding", "readout") if name in own}
    last = max(int(name.split(".")[1]) for name in own if name.startswith("layers."))
    for number in range(last + 1):
        prefix = f"layers.{number}."
        part = {name.removeprefix(prefix): values for name, values in own.items() if name.startswith(prefix)}
        if number == last and coordinates is not None:
            part["attention.value"] = part["attention.value"][:, :, :coordinates]
        found |= {prefix + name: values for name, values in _layer(part).items()}
    return found


def _layer(part: Arrays) -> dict[str, np.ndarray]:
    attention = {name.removeprefix("attention."): values for name, values in part.items()}
    rows = [attention[name].transpose(0, 2, 1) for name in PROJECTED if name in attention]
    found = {"attention.project.weight": np.concatenate([each.reshape(-1, each.shape[-1]) for each in rows])}
    if "output" in attention:
        output = attention["output"]
        found["attention.output.weight"] = output.reshape(-1, output.shape[-1]).T
    if "bias" in attention:
        found["attention.bias"] = attention["bias"]
    if "biases.query" in attention:
        biases = [attention[f"biases.{name}"].reshape(-1) for name in PROJECTED]
        found["attention.project.bias"] = np.concatenate(biases)
        found["attention.output.bias"] = attention["biases.output"]
    for ours, theirs in {"norms.0": "norm", "norms.1": "mlp_norm"}.items():
        if f"{ours}.scale" in part:
            found |= {f"{theirs}.weight": part[f"{ours}.scale"], f"{theirs}.bias": part[f"{ours}.shift"]}
    for name in ("inner", "outer"):
        if f"mlp.{name}" in part:
            found |= {f"{name}.weight": part[f"mlp.{name}"].T, f"{name}.bias": part[f"mlp.{name}_bias"]}
    return found
