"""Small models for the tests: written as nanoGPT is, with nn.MultiheadAttention, with a softmax of their own."""

import sys

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

VOCAB, LENGTH = 17, 24


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """An attention function of the user's own."""
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)


def attend_in_c(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """One that no mode can look into, as if it were a kernel of its own."""
    with torch._C.DisableTorchFunction():
        return attend(query, key, value)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, how: str, dropout: float) -> None:
        super().__init__()
        self.heads, self.how, self.dropout = heads, how, dropout
        self.three, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.weights = nn.Dropout(dropout)

    def forward(self, stream: torch.Tensor) -> torch.Tensor:
        batch, length, width = stream.shape
        parts = self.three(stream).split(width, 2)
        query, key, value = (each.view(batch, length, self.heads, -1).transpose(1, 2) for each in parts)
        if self.how == "sdpa":
            dropout = self.dropout if self.training else 0.0
            mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True, dropout_p=dropout)
        elif self.how == "own":
            mixed = sys.modules[__name__].attend_in_c(query, key, value)
        else:
            past = torch.ones(length, length, dtype=torch.bool).tril()
            scores = (query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5).masked_fill(~past, float("-inf"))
            mixed = self.weights(F.softmax(scores, dim=-1)) @ value
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Several(nn.Module):
    """nn.MultiheadAttention."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.MultiheadAttention(width, heads, dropout=dropout, batch_first=True)

    def forward(self, stream: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(stream.shape[1])
        return self.inner(stream, stream, stream, attn_mask=mask, is_causal=True, need_weights=False)[0]


class Nano(nn.Module):
    def __init__(
        self, how: str = "sdpa", dropout: float = 0.0, layers: int = 2, width: int = 16, heads: int = 2
    ) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCAB, width), nn.Embedding(128, width)
        several = how == "multihead"
        self.layers = nn.ModuleList(
            Several(width, heads, dropout) if several else Attention(width, heads, how, dropout) for _ in range(layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.drop, self.head = nn.Dropout(dropout), nn.Linear(width, VOCAB, bias=False)

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor | None = None):
        stream = self.drop(self.tokens(tokens) + self.positions.weight[: tokens.shape[1]])
        for layer, norm in zip(self.layers, self.norms, strict=True):
            stream = stream + self.drop(layer(norm(stream)))
        logits = self.head(stream)
        return logits if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def made(how: str = "sdpa", dropout: float = 0.0) -> Nano:
    torch.manual_seed(0)
    return Nano(how, dropout)


def rows(count: int = 3, length: int = LENGTH, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, VOCAB, (count, length))


def attention_of(model: Nano, tokens: np.ndarray) -> np.ndarray:
    """(layer, batch, head, query, key), written out plainly in float64."""
    model = model.double().eval()
    found = []
    with torch.no_grad():
        stream = model.tokens(torch.from_numpy(tokens)) + model.positions.weight[: tokens.shape[1]]
        for layer, norm in zip(model.layers, model.norms, strict=True):
            inner = norm(stream)
            if isinstance(layer, Several):
                three = F.linear(inner, layer.inner.in_proj_weight, layer.inner.in_proj_bias)
            else:
                three = layer.three(inner)
            heads = layer.inner.num_heads if isinstance(layer, Several) else layer.heads
            query, key, _ = (
                each.view(*each.shape[:2], heads, -1).transpose(1, 2) for each in three.split(inner.shape[-1], 2)
            )
            scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
            past = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
            found.append(scores.masked_fill(~past, float("-inf")).softmax(-1).numpy())
            stream = stream + layer(inner)
    model.float()
    return np.stack(found)
