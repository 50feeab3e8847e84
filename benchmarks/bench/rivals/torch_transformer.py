"""One transformer with switches as a PyTorch user writes it: of any depth, with any of its parts removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from benchmarks.bench.rivals.torch_attention import Attention, angles

if TYPE_CHECKING:
    torch: Any = ...  # so that types can be checked where PyTorch is not installed
    functional: Any = ...
    nn: Any = ...
else:
    import torch
    import torch.nn.functional as functional
    from torch import nn

POSITIONS = ("learned", "one-hot", "sinusoidal", "rotary", "relative", "alibi", "none")


class TorchTransformer(nn.Module):
    """Tokens, or vectors, to logits at the last `asking` positions; at all of them if not given."""

    def __init__(self, model: Any, shape: Any, asking: int | None = None) -> None:
        super().__init__()
        if model.positions not in POSITIONS or model.attention != "softmax" or model.emphasis != 1:
            raise ValueError(
                f"positions {model.positions}, attention {model.attention}, emphasis {model.emphasis}: this rival was "
                f"not written for them. It has the positions {', '.join(POSITIONS)} and plain softmax attention."
            )
        width = model.stream(shape.inputs, shape.reads)
        self.vocab, self.asking = shape.inputs, shape.reads if asking is None else asking
        one_hot = model.positions == "one-hot"
        self.embedding = None
        if model.embedding == "learned":
            self.embedding = nn.Linear(shape.inputs, width - one_hot * shape.reads, bias=model.edge_biases)
        self.positions = nn.Parameter(torch.zeros(shape.reads, width)) if model.positions == "learned" else None
        angle = angles(shape.reads, width)
        added = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :width].float()
        self.register_buffer("added", added if model.positions == "sinusoidal" else None, persistent=False)
        self.register_buffer("appended", torch.eye(shape.reads) if one_hot else None, persistent=False)
        self.dropout = dropout(model)
        ends = [width] * (model.layers - 1) + [shape.inputs if ends_with_heads(model) else width]
        self.layers = nn.ModuleList(Layer(model, width, shape.reads, each) for each in ends)
        self.final_norm = nn.LayerNorm(width) if model.norm == "pre" else nn.Identity()
        self.readout = nn.Linear(width, shape.outputs, bias=model.edge_biases) if model.readout else None

    def forward(self, inputs: Any) -> Any:
        x = self.dropout(self.placed(self.embedded(inputs)))
        *before, last = self.layers
        for layer in before:
            x = layer(x, x.shape[1])
        x = self.final_norm(last(x, self.asking))
        return x[..., : self.vocab] if self.readout is None else self.readout(x)

    def embedded(self, inputs: Any) -> Any:
        if self.embedding is None:
            return functional.one_hot(inputs.long(), self.vocab).float()
        if inputs.is_floating_point():
            return self.embedding(inputs)
        x = functional.embedding(inputs, self.embedding.weight.T)
        return x if self.embedding.bias is None else x + self.embedding.bias

    def placed(self, x: Any) -> Any:
        if self.appended is not None:
            return torch.cat([x, self.appended.expand(len(x), -1, -1)], dim=-1)
        added = self.positions if self.added is None else self.added
        return x if added is None else x + added


class Layer(nn.Module):
    """Attention and, if there is one, an MLP, each with norm, dropout and residual as switched."""

    def __init__(self, model: Any, width: int, reads: int, coordinates: int) -> None:
        super().__init__()
        norm = nn.Identity if model.norm == "none" else nn.LayerNorm
        self.before, self.residual = model.norm == "pre", model.residual
        self.attention, self.norm = Attention(model, width, reads, coordinates), norm(width)
        self.inner = nn.Linear(width, model.mlp) if model.mlp else None
        if model.mlp:
            self.outer, self.mlp_norm = nn.Linear(model.mlp, width), norm(width)
        self.gelu, self.dropout = model.activation == "gelu", dropout(model)

    def forward(self, x: Any, asking: int) -> Any:
        x = self.branch(x, self.norm, lambda each: self.attention(each, asking), asking)
        return x if self.inner is None else self.branch(x, self.mlp_norm, self.mlp, asking)

    def branch(self, x: Any, norm: Any, compute: Callable[[Any], Any], asking: int) -> Any:
        out = self.dropout(compute(norm(x) if self.before else x))
        out = x[:, -asking:] + out if self.residual else out
        return out if self.before else norm(out)

    def mlp(self, x: Any) -> Any:
        inner = self.inner(x)
        return self.outer(functional.gelu(inner, approximate="tanh") if self.gelu else functional.relu(inner))


def dropout(model: Any) -> Any:
    return nn.Dropout(model.dropout) if model.dropout else nn.Identity()


def ends_with_heads(model: Any) -> bool:
    """Whether the logits are what the last heads wrote, so that no other coordinate of it is computed."""
    return model.norm == "none" and not (model.residual or model.mlp or model.readout)
