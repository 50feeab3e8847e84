"""The models as a PyTorch user writes them: modules for a batch, nothing tuned by hand and nothing made slow.

All positions are computed, and the loss takes the last T of the logits, because that is what one writes first. Of
the minimal model's values only the columns that become logits are computed: one line, and a fifth of its time.
Attention in the full model is `F.scaled_dot_product_attention`; the minimal model's merged scores do not fit it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bench.rivals import HEAD, MLP, NORMS, Arrays
from headway.tasks.run import Settings

if TYPE_CHECKING:
    torch: Any = ...  # so that types can be checked where PyTorch is not installed
    functional: Any = ...
    nn: Any = ...
else:
    import torch
    import torch.nn.functional as functional
    from torch import nn

Tensor = Any


class MinimalModel(nn.Module):
    """x = (one-hot token, one-hot position); out = sum_h softmax(x A_h x^T) x V_h, of which the first d are logits."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.tokens, length, heads = settings.task.vocab, settings.task.reads, settings.model.heads
        width = self.tokens + length
        self.scale = math.sqrt(width) if settings.model.scaled_scores else 1.0
        self.score = nn.Parameter(torch.zeros(heads, width, width))
        self.value = nn.Parameter(torch.zeros(heads, width, width))
        self.register_buffer("positions", torch.eye(length))
        self.register_buffer("future", torch.ones(length, length).triu(1).bool())

    def forward(self, tokens: Tensor) -> Tensor:
        one_hot = functional.one_hot(tokens, self.tokens).to(self.score.dtype)
        x = torch.cat([one_hot, self.positions.expand(len(tokens), -1, -1)], dim=-1)
        scores = torch.einsum("bhqf,bkf->bhqk", torch.einsum("bqe,hef->bhqf", x, self.score), x) / self.scale
        pattern = scores.masked_fill(self.future, -math.inf).softmax(dim=-1)
        values = torch.einsum("bke,heo->bhko", x, self.value[..., : self.tokens])
        return torch.einsum("bhqk,bhko->bqo", pattern, values)


class FullModel(nn.Module):
    """Embedding + positions, attention, add & norm, ReLU layer, add & norm, readout."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        model, width = settings.model, settings.model.width
        self.heads = model.heads
        self.embedding = nn.Embedding(settings.task.vocab, width)
        self.positions = nn.Parameter(torch.zeros(settings.task.reads, width))
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        self.attention_norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, model.mlp)
        self.outer = nn.Linear(model.mlp, width)
        self.mlp_norm = nn.LayerNorm(width)
        self.readout = nn.Linear(width, settings.task.vocab, bias=False)
        self.dropout = nn.Dropout(model.dropout)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.dropout(self.embedding(tokens) + self.positions)
        x = self.attention_norm(x + self.dropout(self.attend(x)))
        return self.readout(self.mlp_norm(x + self.dropout(self.outer(functional.relu(self.inner(x))))))

    def attend(self, x: Tensor) -> Tensor:
        batch, time, width = x.shape
        projected = (project(x) for project in (self.query, self.key, self.value))
        query, key, value = (each.view(batch, time, self.heads, -1).transpose(1, 2) for each in projected)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.output(mixed.transpose(1, 2).reshape(batch, time, width))


def minimal_layout(arrays: Arrays) -> dict[str, np.ndarray]:
    """Headway's arrays under the names of `MinimalModel`."""
    return {"score": arrays[f"{HEAD}query"], "value": arrays[f"{HEAD}value"]}


def full_layout(arrays: Arrays) -> dict[str, np.ndarray]:
    """Headway's arrays under the names of `FullModel`: heads joined, and matrices as (out, in)."""

    def joined(name: str) -> np.ndarray:
        return np.moveaxis(arrays[HEAD + name], 1, 2).reshape(-1, arrays[HEAD + name].shape[1])

    output = arrays[f"{HEAD}output"]
    return {
        "embedding.weight": arrays[".embedding"],
        "positions": arrays[".positions"],
        **{f"{name}.weight": joined(name) for name in ("query", "key", "value")},
        "output.weight": output.reshape(-1, output.shape[-1]).T,
        "attention_norm.weight": arrays[f"{NORMS[0]}scale"],
        "attention_norm.bias": arrays[f"{NORMS[0]}shift"],
        "inner.weight": arrays[f"{MLP}inner"].T,
        "inner.bias": arrays[f"{MLP}inner_bias"],
        "outer.weight": arrays[f"{MLP}outer"].T,
        "outer.bias": arrays[f"{MLP}outer_bias"],
        "mlp_norm.weight": arrays[f"{NORMS[1]}scale"],
        "mlp_norm.bias": arrays[f"{NORMS[1]}shift"],
        "readout.weight": arrays[".readout"].T,
    }
