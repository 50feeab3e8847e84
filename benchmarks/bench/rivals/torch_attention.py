"""Attention as a PyTorch user writes it: one fused projection, heads mixed by `scaled_dot_product_attention`.

Without key matrices all heads' queries meet the stream itself in one product, which that function could only do with
a copy of the stream for every head. Without an output matrix the heads' values are summed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    torch: Any = ...  # so that types can be checked where PyTorch is not installed
    functional: Any = ...
    nn: Any = ...
else:
    import torch
    import torch.nn.functional as functional
    from torch import nn


class Attention(nn.Module):
    """What the heads write into the first `coordinates` of the stream, asked by the last positions."""

    def __init__(self, model: Any, width: int, reads: int, coordinates: int) -> None:
        super().__init__()
        self.heads, self.causal = model.heads, model.causal
        score = model.part(width) if model.keys else width
        inner = model.part(width) if model.output else coordinates
        self.parts = [model.heads * each for each in (score, score if model.keys else 0, inner)]
        self.project = nn.Linear(width, sum(self.parts), bias=model.biases)
        self.output = nn.Linear(model.heads * inner, width, bias=model.biases) if model.output else None
        self.scale = 1 / math.sqrt(score) if model.scaled_scores else 1.0
        self.dropped = model.dropout if model.attention_dropout else 0.0
        angle = angles(reads, score)
        turns = torch.stack([angle.cos(), angle.sin()]).float() if model.positions == "rotary" else None
        self.register_buffer("turns", turns, persistent=False)
        far = torch.arange(reads)[:, None] - torch.arange(reads)
        self.bias = nn.Parameter(torch.zeros(model.heads, reads)) if model.positions == "relative" else None
        self.register_buffer("far", far.clamp(min=0), persistent=False)
        self.register_buffer("future", far < 0, persistent=False)
        slopes = 2.0 ** (-8 * torch.arange(1, model.heads + 1) / model.heads)
        alibi = (-slopes[:, None, None] * far).masked_fill(far < 0, -math.inf) if model.positions == "alibi" else None
        self.register_buffer("alibi", alibi, persistent=False)

    def forward(self, x: Any, asking: int) -> Any:
        """What the last `asking` positions receive; a single one looks at all, so that only its query is computed."""
        alone = asking == 1 and x.shape[1] > 1
        query, key, value = self.asked_by_the_last(x) if alone else self.project(x).split(self.parts, dim=-1)
        shift = self.shift(1 if alone else x.shape[1])
        mix = self.mixed if self.parts[1] else self.merged
        mixed = mix(query, key if self.parts[1] else x, self.by_head(value), shift, self.causal and not alone)
        mixed = mixed[:, :, -asking:]
        return mixed.sum(dim=1) if self.output is None else self.output(mixed.transpose(1, 2).flatten(2))

    def mixed(self, query: Any, key: Any, value: Any, shift: Any, causal: bool) -> Any:
        """Values in shares of softmax(query key^T)."""
        query, key = self.by_head(query), self.by_head(key)
        if self.turns is not None:
            query, key = self.turned(query), self.turned(key)
        return functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=shift,
            dropout_p=self.dropped if self.training else 0.0,
            is_causal=causal and shift is None,
            scale=self.scale,
        )

    def merged(self, query: Any, x: Any, value: Any, shift: Any, causal: bool) -> Any:
        """Values in shares of softmax(query x^T), for queries as wide as the stream."""
        asked = query.shape[1]
        met = query.reshape(len(x), asked * self.heads, -1) @ x.transpose(1, 2)
        scores = met.unflatten(1, (asked, self.heads)).transpose(1, 2) * self.scale
        if shift is not None:
            scores = scores + shift
        elif causal:
            scores = scores.masked_fill(self.future, -math.inf)
        shares = functional.dropout(scores.softmax(dim=-1), self.dropped, self.training)
        return shares @ value

    def asked_by_the_last(self, x: Any) -> Any:
        """Its query; keys and values of all positions."""
        weight, bias, asks = self.project.weight, self.project.bias, self.parts[0]
        own, others = (None, None) if bias is None else (bias[:asks], bias[asks:])
        query = functional.linear(x[:, -1:], weight[:asks], own)
        return query, *functional.linear(x, weight[asks:], others).split(self.parts[1:], dim=-1)

    def by_head(self, x: Any) -> Any:
        """(batch, time, heads * size) -> (batch, head, time, size)."""
        return x.unflatten(-1, (self.heads, x.shape[-1] // self.heads)).transpose(1, 2)

    def shift(self, queries: int) -> Any:
        """What positions add to the scores, the mask among it; None where there is only the mask."""
        if self.bias is not None:
            return self.bias[:, self.far].masked_fill(self.future, -math.inf)[None, :, -queries:]
        return None if self.alibi is None else self.alibi[None, :, -queries:]

    def turned(self, x: Any) -> Any:
        cosine, sine = self.turns[:, -x.shape[2] :]
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cosine - odd * sine, even * sine + odd * cosine], dim=-1).flatten(-2)


def angles(length: int, width: int) -> Any:
    """p / 10000^(2i/width)."""
    pair = torch.arange((width + 1) // 2, dtype=torch.float64)
    return torch.arange(length, dtype=torch.float64)[:, None] / 10000 ** (2 * pair / width)
