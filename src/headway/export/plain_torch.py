"""A transformer as one plain PyTorch module; its weights lie beside this file.

from NAME import load

model = load()
logits = model(tokens)                                 # (batch, length) -> (batch, length, output)
logits, attention = model(tokens, attention=True)      # and, layer by layer, (batch, head, query, key)

Every position is read and answered; `SETTINGS["predicted"]` says at how many of the last ones it was trained to answer.
"""

import math
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn

SETTINGS = {}  # filled in


def parameter(weights, name):
    """The weights of that name; nothing where the model has none."""
    return nn.Parameter(weights[name]) if name in weights else None


def below(weights, prefix):
    """The weights whose names begin so, by the rest of their names."""
    return {name[len(prefix) :]: tensor for name, tensor in weights.items() if name.startswith(prefix)}


def rows(weights, prefix):
    """How many parts there are: prefix0, prefix1, ..."""
    return len({name[len(prefix) :].partition(".")[0] for name in weights if name.startswith(prefix)})


def angles(length, width):
    """p / 10000^(2i/width) for every position p and every pair i of coordinates."""
    pair = torch.arange((width + 1) // 2, dtype=torch.float64)
    return torch.arange(length, dtype=torch.float64)[:, None] / 10000 ** (2 * pair / width)


def turned(x):
    """Rotary positions: (x_2i, x_2i+1) at position p turned by p / 10000^(2i/size)."""
    angle = angles(x.shape[-2], x.shape[-1])
    cosine, sine = angle.cos().to(x), angle.sin().to(x)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cosine - odd * sine, even * sine + odd * cosine], dim=-1).flatten(-2)


class Norm(nn.Module):
    """(x - mean) / sqrt(variance + 1e-5) * scale + shift."""

    def __init__(self, weights):
        super().__init__()
        self.scale, self.shift = parameter(weights, "scale"), parameter(weights, "shift")

    def forward(self, x):
        return nn.functional.layer_norm(x, x.shape[-1:], self.scale, self.shift, 1e-5)


class MLP(nn.Module):
    """relu(x inner + inner_bias) outer + outer_bias, or with another activation."""

    def __init__(self, weights):
        super().__init__()
        self.inner, self.inner_bias = parameter(weights, "inner"), parameter(weights, "inner_bias")
        self.outer, self.outer_bias = parameter(weights, "outer"), parameter(weights, "outer_bias")

    def forward(self, x):
        inner = x @ self.inner + self.inner_bias
        gelu = SETTINGS["activation"] == "gelu"
        active = nn.functional.gelu(inner, approximate="tanh") if gelu else torch.relu(inner)
        return active @ self.outer + self.outer_bias


class Biases(nn.Module):
    """Added to the heads' queries, keys and values, and to what all of them write."""

    def __init__(self, weights):
        super().__init__()
        self.query, self.key = parameter(weights, "query"), parameter(weights, "key")
        self.value, self.output = parameter(weights, "value"), parameter(weights, "output")


class Attention(nn.Module):
    """The heads. Without `key`, `query` is the merged matrix of both; so is `value` without `output`."""

    def __init__(self, weights):
        super().__init__()
        self.query, self.key = parameter(weights, "query"), parameter(weights, "key")  # (head, width, score)
        self.value, self.output = parameter(weights, "value"), parameter(weights, "output")
        self.bias = parameter(weights, "bias")  # (head, distance), of relative positions
        self.codes = parameter(weights, "codes")  # (head, distance, score), which queries meet beside the keys
        biases = below(weights, "biases.")
        self.biases = Biases(biases) if biases else None

    def pattern(self, x):
        query = torch.einsum("bqe,hes->bhqs", x, self.query)
        key = x[:, None] if self.key is None else torch.einsum("bke,hes->bhks", x, self.key)
        if self.biases is not None:
            query = query + self.biases.query[:, None]
            key = key if self.biases.key is None else key + self.biases.key[:, None]
        if SETTINGS["positions"] == "rotary":
            query, key = turned(query), turned(key)
        place = torch.arange(x.shape[1], device=x.device)
        distance = place[:, None] - place
        scores = query @ key.transpose(-1, -2)
        if self.codes is not None:
            met = torch.einsum("bhqs,hds->bhqd", query, self.codes)
            scores = scores + met.gather(-1, distance.clamp(min=0).expand(*met.shape[:3], -1))
        if SETTINGS["scaled_scores"]:
            scores = scores / math.sqrt(self.query.shape[-1])
        if self.bias is not None:
            scores = scores + self.bias[:, distance.clamp(min=0)]
        if SETTINGS["positions"] == "alibi":
            heads = len(self.query)
            slopes = 2.0 ** (-8 * torch.arange(1, heads + 1, dtype=torch.float64) / heads)
            scores = scores - (slopes[:, None, None] * distance.clamp(min=0)).to(scores)
        linear = SETTINGS["attention"] == "linear"
        hidden = (distance < 0) & SETTINGS["causal"]
        seen = scores.masked_fill(hidden, 0 if linear else -math.inf)
        pattern = seen if linear else seen.softmax(dim=-1)
        if SETTINGS["emphasis"] != 1:
            queries, keys = zip(*SETTINGS["emphasised"], strict=True)
            factors = torch.ones_like(pattern[0, 0])
            factors[list(queries), list(keys)] = SETTINGS["emphasis"]
            pattern = pattern * factors
        return pattern

    def forward(self, x):
        pattern = self.pattern(x)
        inner = torch.einsum("bke,hei->bhki", x, self.value)
        mixed = pattern @ (inner if self.biases is None else inner + self.biases.value[:, None])
        written = mixed if self.output is None else torch.einsum("bhqi,hio->bhqo", mixed, self.output)
        received = written.sum(dim=1)
        return (received if self.biases is None else received + self.biases.output), pattern


class Layer(nn.Module):
    """Attention and, if there is one, an MLP, each in its branch."""

    def __init__(self, weights):
        super().__init__()
        self.attention = Attention(below(weights, "attention."))
        mlp = below(weights, "mlp.")
        self.mlp = MLP(mlp) if mlp else None
        self.norms = nn.ModuleList(Norm(below(weights, f"norms.{i}.")) for i in range(rows(weights, "norms.")))

    def branch(self, x, number, compute):
        out = compute(self.norms[number](x) if SETTINGS["norm"] == "pre" else x)
        out = x + out if SETTINGS["residual"] else out
        return self.norms[number](out) if SETTINGS["norm"] == "post" else out

    def forward(self, x):
        patterns = []

        def attend(x):
            received, pattern = self.attention(x)
            patterns.append(pattern)
            return received

        x = self.branch(x, 0, attend)
        return (x if self.mlp is None else self.branch(x, 1, self.mlp)), patterns[0]


class Transformer(nn.Module):
    """Tokens, or vectors, to logits."""

    def __init__(self, weights):
        super().__init__()
        self.embedding, self.positions = parameter(weights, "embedding"), parameter(weights, "positions")
        self.layers = nn.ModuleList(Layer(below(weights, f"layers.{i}.")) for i in range(rows(weights, "layers.")))
        final = below(weights, "final_norm.")
        self.final_norm = Norm(final) if final else None
        self.readout = parameter(weights, "readout")
        self.embedding_bias = parameter(weights, "embedding_bias")
        self.readout_bias = parameter(weights, "readout_bias")

    def embed(self, inputs):
        if inputs.is_floating_point():  # vectors
            x = inputs if self.embedding is None else inputs @ self.embedding
        elif self.embedding is None:
            x = nn.functional.one_hot(inputs, SETTINGS["inputs"]).to(self.layers[0].attention.value)
        else:
            x = self.embedding[inputs]
        x = x if self.embedding_bias is None else x + self.embedding_bias
        if self.positions is not None:
            x = x + self.positions
        if SETTINGS["positions"] == "sinusoidal":
            angle = angles(*x.shape[1:])
            x = x + torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, : x.shape[2]].to(x)
        if SETTINGS["positions"] == "one-hot":
            x = torch.cat([x, torch.eye(x.shape[1]).to(x).expand(len(x), -1, -1)], dim=-1)
        return x

    def forward(self, inputs, attention=False):
        x, patterns = self.embed(inputs), []
        for layer in self.layers:
            x, pattern = layer(x)
            patterns.append(pattern)
        x = x if self.final_norm is None else self.final_norm(x)
        logits = x[..., : SETTINGS["inputs"]] if self.readout is None else x @ self.readout
        logits = logits if self.readout_bias is None else logits + self.readout_bias
        return (logits, patterns) if attention else logits


def load(path=None):
    """The trained model; its weights lie beside this file if no other is named."""
    return Transformer(load_file(path or Path(__file__).with_suffix(".safetensors"))).eval()
