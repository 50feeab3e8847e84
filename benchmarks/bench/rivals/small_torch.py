"""A small transformer of any depth as a PyTorch user writes it; norms before its branches, or none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bench.rivals import Arrays

if TYPE_CHECKING:
    torch: Any = ...  # so that types can be checked where PyTorch is not installed
    functional: Any = ...
    nn: Any = ...
else:
    import torch
    import torch.nn.functional as functional
    from torch import nn


class SmallTransformer(nn.Module):
    """Tokens, or vectors, to logits at every position."""

    def __init__(self, model: Any, shape: Any) -> None:
        super().__init__()
        if model.norm == "post" or model.positions not in ("rotary", "sinusoidal", "none") or not model.residual:
            raise ValueError(f"norm {model.norm}, positions {model.positions}: this rival was not written for them.")
        self.vectors = shape.inputs != shape.outputs
        self.embedding = nn.Linear(shape.inputs, model.width, bias=model.edge_biases)
        self.layers = nn.ModuleList(Layer(model, shape.reads) for _ in range(model.layers))
        self.final_norm = nn.LayerNorm(model.width) if model.norm == "pre" else nn.Identity()
        self.readout = nn.Linear(model.width, shape.outputs, bias=model.edge_biases)
        self.inputs = shape.inputs
        angle = angles(shape.reads, model.width)
        added = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, : model.width].float()
        self.register_buffer("added", added if model.positions == "sinusoidal" else None, persistent=False)

    def forward(self, inputs: Any) -> Any:
        if inputs.is_floating_point():
            x = self.embedding(inputs)
        else:
            x = functional.embedding(inputs, self.embedding.weight.T)
            x = x if self.embedding.bias is None else x + self.embedding.bias
        x = x if self.added is None else x + self.added
        for layer in self.layers:
            x = layer(x)
        return self.readout(self.final_norm(x))


class Layer(nn.Module):
    """x + attention, x + MLP."""

    def __init__(self, model: Any, reads: int) -> None:
        super().__init__()
        width, norm = model.width, (nn.LayerNorm if model.norm == "pre" else lambda _width: nn.Identity())
        self.heads, self.causal = model.heads, model.causal
        self.norm, self.mlp_norm = norm(width), norm(width) if model.mlp else None
        self.project = nn.Linear(width, 3 * width, bias=model.biases)
        self.output = nn.Linear(width, width, bias=model.biases)
        if model.mlp:
            self.inner, self.outer = nn.Linear(width, model.mlp), nn.Linear(model.mlp, width)
        self.gelu, self.has_mlp = model.activation == "gelu", bool(model.mlp)
        angle = angles(reads, width // model.heads)
        turns = torch.stack([angle.cos(), angle.sin()]).float() if model.positions == "rotary" else None
        self.register_buffer("turns", turns, persistent=False)

    def forward(self, x: Any) -> Any:
        x = x + self.attend(self.norm(x))
        if not self.has_mlp:
            return x
        inner = self.inner(self.mlp_norm(x))
        return x + self.outer(functional.gelu(inner, approximate="tanh") if self.gelu else functional.relu(inner))

    def attend(self, x: Any) -> Any:
        batch, time, width = x.shape
        parts = self.project(x).view(batch, time, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        if self.turns is not None:
            query, key = self.turned(query), self.turned(key)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        return self.output(mixed.transpose(1, 2).reshape(batch, time, width))

    def turned(self, x: Any) -> Any:
        cosine, sine = self.turns
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cosine - odd * sine, even * sine + odd * cosine], dim=-1).flatten(-2)


def angles(length: int, width: int) -> Any:
    """p / 10000^(2i/width)."""
    pair = torch.arange((width + 1) // 2, dtype=torch.float64)
    return torch.arange(length, dtype=torch.float64)[:, None] / 10000 ** (2 * pair / width)


def small_layout(weights: Arrays) -> dict[str, np.ndarray]:
    """Headway's arrays by PyTorch's names: matrices the other way round, heads side by side."""
    own = {re.sub(r"\[(\d+)\]", r".\1", name).lstrip("."): np.asarray(values) for name, values in weights.items()}
    found = {"embedding.weight": own["embedding"].T, "readout.weight": own["readout"].T}
    named = {"embedding_bias": "embedding.bias", "readout_bias": "readout.bias"}
    named |= {"final_norm.scale": "final_norm.weight", "final_norm.shift": "final_norm.bias"}
    found |= {theirs: own[ours] for ours, theirs in named.items() if ours in own}
    for number in range(len({name.split(".")[1] for name in own if name.startswith("layers.")})):
        found |= {f"layers.{number}.{name}": values for name, values in _layer(own, f"layers.{number}.").items()}
    return found


def _layer(own: Arrays, prefix: str) -> dict[str, np.ndarray]:
    part = {name.removeprefix(prefix): values for name, values in own.items() if name.startswith(prefix)}
    attention = {name.removeprefix("attention."): values for name, values in part.items()}
    rows = [attention[name].transpose(0, 2, 1).reshape(-1, attention[name].shape[1]) for name in PROJECTED]
    output = attention["output"]
    found = {"project.weight": np.concatenate(rows), "output.weight": output.reshape(-1, output.shape[-1]).T}
    if "biases.query" in attention:
        found["project.bias"] = np.concatenate([attention[f"biases.{name}"].reshape(-1) for name in PROJECTED])
        found["output.bias"] = attention["biases.output"]
    for ours, theirs in {"norms.0": "norm", "norms.1": "mlp_norm"}.items():
        if f"{ours}.scale" in part:
            found |= {f"{theirs}.weight": part[f"{ours}.scale"], f"{theirs}.bias": part[f"{ours}.shift"]}
    for name in ("inner", "outer"):
        if f"mlp.{name}" in part:
            found |= {f"{name}.weight": part[f"mlp.{name}"].T, f"{name}.bias": part[f"mlp.{name}_bias"]}
    return found


PROJECTED = ("query", "key", "value")
