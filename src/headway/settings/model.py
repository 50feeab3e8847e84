"""Which transformer learns it."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import Literal

from headway.settings.checks import refuse, require, require_number, require_whole, settle
from headway.settings.given import Given, Part, given

POSITIONS = ("learned", "one-hot", "sinusoidal", "none", "rotary", "relative", "relative-keys", "alibi")
"""Positional encodings that have a name; `headway.models.positions` has a function for each."""
INITIALISATIONS = ("xavier", "orthogonal", "uniform", "fan-in", "unit-embedding", "gpt-2", "pytorch", "silent-pytorch")
"""Starts that have a name; `headway.models.initialisation` has a function for each."""


@dataclass(frozen=True)
class ModelSettings:
    """One transformer with switches; the defaults are paper A's full model."""

    heads: int = 3
    """Number of heads per layer."""
    layers: int = 1
    """Number of transformer layers."""
    embedding: Literal["learned", "one-hot"] = "learned"
    """How a token becomes a vector."""
    positions: Part = "learned"
    """learned, sinusoidal: added to the token's vector.
    one-hot: appended to the token's vector.
    rotary: queries and keys are rotated.
    relative: a learned score per head and distance.
    relative-keys: a learned key vector per head and distance.
    alibi: a fixed slope per head.
    none: no positions.
    In Python also `headway.Positions(...)`.
    """
    width: int = 255
    """Width of the residual stream; one-hot embeddings determine it."""
    keys: bool = True
    """Separate query and key matrices per head; otherwise one merged matrix."""
    output: bool = True
    """Heads of width/heads joined by an output matrix; otherwise full-width heads that are summed."""
    scaled_scores: bool = True
    """Divide the scores by the square root of their width."""
    residual: bool = True
    """Residual connections around attention and MLP."""
    norm: Literal["none", "pre", "post"] = "post"
    """Layer norm: none, before each branch (pre) or after it (post)."""
    mlp: int = 64
    """Hidden width of the MLP; 0 leaves it out."""
    readout: bool = True
    """A learned readout; otherwise the first coordinates are the logits."""
    dropout: float = 0.1
    """Dropout rate of the embedding and of each branch during training."""
    initialisation: Part = "xavier"
    """xavier: Xavier everywhere, with an orthogonal embedding.
    orthogonal: xavier with an orthogonal readout and learned positions from a table of 50 rows (paper A as run).
    uniform: queries (or merged scores) in [-scale, scale], values zero.
    fan-in: variance 1 / fan-in everywhere, the embedding included.
    unit-embedding: fan-in with an embedding of variance 1.
    gpt-2: N(0, 0.02^2), output matrices smaller by the square root of the number of branches.
    pytorch: uniform in +-1/sqrt(fan-in), biases included, as in PyTorch's nn.Linear.
    silent-pytorch: pytorch with a readout of zero, so that the first prediction is 0.
    In Python also a function (role, key, shape, fan_in, fan_out, scale) -> matrix.
    """
    scale: float = 1.0
    """u of the uniform initialisation; a factor on the others."""
    attention: Literal["softmax", "linear"] = field(default="softmax", metadata={"added": "0.3"})
    """softmax: attention sums to 1; linear: the scores themselves, of any size and sign."""
    biases: bool = field(default=False, metadata={"added": "0.3"})
    """Biases of queries, keys, values and output matrix, initially zero unless the initialisation sets them."""
    activation: Literal["relu", "gelu"] = field(default="relu", metadata={"added": "0.3"})
    """Activation of the MLP; gelu in its tanh form."""
    emphasis: float = field(default=1.0, metadata={"added": "0.3"})
    """Multiply the attention of every head by this at the positions that the task marks as `relevant`."""
    attention_dropout: bool = field(default=False, metadata={"added": "0.3"})
    """Also apply dropout to the attention probabilities, and to the distance vectors of relative-keys."""
    head_width: int | None = field(default=None, metadata={"added": "0.3"})
    """Width of a head's queries, keys and values; width/heads if not given. Merged matrices have the full width."""

    edge_biases: bool = field(default=False, metadata={"added": "0.3"})
    """Biases of the embedding and of the readout."""
    causal: bool = field(default=True, metadata={"added": "0.3"})
    """Causal attention: a position attends to itself and to earlier ones; otherwise to all."""
    embedding_scale: float = field(default=1.0, metadata={"added": "0.3"})
    """A factor on the initial embedding of tokens, whatever the initialisation; positions are not scaled."""

    def __post_init__(self) -> None:
        for name, words in (("positions", POSITIONS), ("initialisation", INITIALISATIONS)):
            object.__setattr__(self, name, given(getattr(self, name)))
            _require_part(name, getattr(self, name), words)
        settle(self, "model.")
        require_whole("model.heads", self.heads, 1)
        require_whole("model.layers", self.layers, 1)
        require_whole("model.width", self.width, 1)
        require_whole("model.mlp", self.mlp, 0)
        require_number("model.scale", self.scale, least=0)
        require_number("model.dropout", self.dropout, least=0, below=1)
        require_number("model.emphasis", self.emphasis, least=0)
        require_number("model.embedding_scale", self.embedding_scale, least=0)
        require(
            self.embedding == "learned" or self.embedding_scale == 1,
            f"model.embedding_scale is {self.embedding_scale:g}, but one-hot embeddings are not initialised. Use 1, or "
            "a learned embedding.",
        )
        if self.head_width is not None:
            require_whole("model.head_width", self.head_width, 1)
        shifting = ("relative", "relative-keys", "alibi")
        require(
            self.causal or self.positions not in shifting,
            f"model.causal is False, but {self.positions} positions are defined for earlier tokens only. Use other "
            "positions, or model.causal True.",
        )

    def part(self, stream: int) -> int:
        """Coordinates of a head in a residual stream of this width."""
        return stream // self.heads if self.head_width is None else self.head_width

    def stream(self, tokens: int, length: int) -> int:
        """Width E of the residual stream for a vocabulary and a context of these sizes."""
        appended = self._appended(length)
        return tokens + appended if self.embedding == "one-hot" else self.width

    def _appended(self, length: int) -> int:
        """Coordinates that the positions take for themselves."""
        if isinstance(self.positions, str):
            return length if self.positions == "one-hot" else 0
        extra = getattr(given(self.positions).value, "extra", None)
        return 0 if extra is None else extra(length)

    def check(self, tokens: int, length: int) -> None:
        """Refuse switches that do not fit each other for this vocabulary and context."""
        stream = self.stream(tokens, length)
        if (self.output or self.keys) and self.head_width is None:
            below, above = stream - stream % self.heads, stream + (-stream) % self.heads
            require(
                stream % self.heads == 0,
                f"{self.heads} heads do not divide the width {stream}. "
                + (
                    f"Use model.width {f'{below} or ' if below else ''}{above}, or another number of heads."
                    if self.embedding == "learned"
                    else "One-hot embeddings set that width: use another number of heads, "
                    "or model.keys False and model.output False."
                ),
            )
        if self.positions == "rotary":
            self._check_rotary(stream)
        appended = self._appended(length)
        if self.embedding == "learned" and appended:
            require(
                self.width > appended,
                f"one-hot positions take {appended} of the width, which is {self.width}. "
                f"Use model.width > {appended}, or learned positions.",
            )
        if not self.readout:
            require(
                stream >= tokens,
                f"without a readout the first {tokens} coordinates are logits, but the width is {stream}. "
                f"Use model.width >= {tokens}, or model.readout True.",
            )

    def _check_rotary(self, stream: int) -> None:
        """Rotations need queries and keys, of an even width."""
        require(
            self.keys,
            "rotary positions need model.keys True: a merged matrix has no queries and keys to rotate. Use it, or "
            "relative or alibi positions.",
        )
        score, pairs = self.part(stream), 2 * self.heads
        below, above = stream - stream % pairs, stream + (-stream) % pairs
        require(
            self.head_width is None or score % 2 == 0,
            f"rotary positions rotate pairs of coordinates, but model.head_width is {score}. Use an even number.",
        )
        require(
            score % 2 == 0,
            f"rotary positions rotate pairs of coordinates, but queries and keys of a head have {score}. "
            + (
                f"Use model.width {f'{below} or ' if below else ''}{above}, or another number of heads."
                if self.embedding == "learned"
                else "One-hot embeddings set that width: use relative or alibi positions, or a learned embedding."
            ),
        )


def _require_part(name: str, value: object, words: tuple[str, ...]) -> None:
    if not isinstance(value, Given) and value not in words:
        known = ", ".join(f'"{word}"' for word in words)
        near = difflib.get_close_matches(value, words, 1) if isinstance(value, str) else []
        hint = f' Did you mean "{near[0]}"?' if near else ""
        refuse(f"model.{name} is {value!r}, but it must be one of {known}, or a function.{hint}")
