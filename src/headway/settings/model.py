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
    layers: int = 1
    embedding: Literal["learned", "one-hot"] = "learned"
    """How a token becomes a vector."""
    positions: Part = "learned"
    """learned, sinusoidal: added to the token's vector. one-hot: appended to it. none. rotary: turn queries and keys.
    relative: learn a score per head and distance. relative-keys: learn a vector per head and distance, which meets the
    query beside the key. alibi: have a fixed slope. In Python also `headway.Positions(...)`.
    """
    width: int = 255
    """Width of the residual stream; one-hot embeddings set it by themselves."""
    keys: bool = True
    """Separate query and key matrices per head; else one merged matrix."""
    output: bool = True
    """Heads of width/heads joined by an output matrix; else full-width heads that are summed."""
    scaled_scores: bool = True
    """Divide the scores by the square root of their width."""
    residual: bool = True
    norm: Literal["none", "pre", "post"] = "post"
    mlp: int = 64
    """Hidden width of the MLP; 0 leaves it out."""
    readout: bool = True
    """A learned readout; else the first coordinates are the logits."""
    dropout: float = 0.1
    """Share dropped from the embedding and from each branch while training."""
    initialisation: Part = "xavier"
    """xavier: everywhere, but for an orthogonal embedding. orthogonal: the same with an orthogonal readout, too, and
    learned positions as rows of a table of 50, whatever the length (paper A as run). uniform: queries (or merged
    scores) in [-scale, scale], values zero. fan-in: variance 1 / fan-in everywhere, the embedding included, as
    libraries start linear maps. unit-embedding: the same but for an embedding of variance 1, as libraries start tables
    of symbols. gpt-2: N(0, 0.02^2), and what is added to the stream in so many branches smaller by the root of their
    number. pytorch: weights and biases uniform in +-1/sqrt(fan-in), a third of the variance 1 / fan-in, as PyTorch
    starts linear maps. silent-pytorch: the same with a readout of zero, so that the first answer is 0. In Python also a
    function (role, key, shape, fan_in, fan_out, scale) -> matrix.
    """
    scale: float = 1.0
    """u of the uniform initialisation; a factor on the others."""
    attention: Literal["softmax", "linear"] = field(default="softmax", metadata={"added": "0.3"})
    """What scores become: shares that add up to 1; or the scores themselves, of any size and sign."""
    biases: bool = field(default=False, metadata={"added": "0.3"})
    """Biases of the heads' queries, keys and values and of what they write; from zero, unless the start has its own."""
    activation: Literal["relu", "gelu"] = field(default="relu", metadata={"added": "0.3"})
    """Of the MLP; gelu in the form with tanh."""
    emphasis: float = field(default=1.0, metadata={"added": "0.3"})
    """Attention is multiplied by this, in every head, where the task says that it matters (`relevant`)."""
    attention_dropout: bool = field(default=False, metadata={"added": "0.3"})
    """Drop the same share of the attention probabilities behind the softmax, too, and of the codes of distances that
    queries meet (relative-keys)."""
    head_width: int | None = field(default=None, metadata={"added": "0.3"})
    """Coordinates of a head's queries, keys and values; the width shared out among the heads if not given. Merged
    scores, and values without an output matrix, have the full width anyway."""

    edge_biases: bool = field(default=False, metadata={"added": "0.3"})
    """Biases of the embedding and of the readout, as linear maps of libraries have them."""
    causal: bool = field(default=True, metadata={"added": "0.3"})
    """Whether a position sees only itself and what came before; else every position sees all."""

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
        if self.head_width is not None:
            require_whole("model.head_width", self.head_width, 1)
        shifting = ("relative", "relative-keys", "alibi")
        require(
            self.causal or self.positions not in shifting,
            f"model.causal is False, but {self.positions} positions know distances to what came before only. Use other "
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
            "rotary positions need model.keys True: a merged matrix has no queries and keys to turn. "
            "Use that, or relative or alibi positions.",
        )
        score, pairs = self.part(stream), 2 * self.heads
        below, above = stream - stream % pairs, stream + (-stream) % pairs
        require(
            self.head_width is None or score % 2 == 0,
            f"rotary positions turn pairs of coordinates, but model.head_width is {score}. Use an even number.",
        )
        require(
            score % 2 == 0,
            f"rotary positions turn pairs of coordinates, but queries and keys of a head have {score}. "
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
