"""What can be chosen: frozen records of plain numbers and words, checked when they are made.

Nothing here imports the accelerator, so a command line can offer, explain and check
every setting at once. `docs/words.md` maps the names to the papers' symbols.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

Blocks = tuple[tuple[int, ...], ...]
Weights = tuple[tuple[float, ...], ...]


class SettingsError(ValueError):
    """A setting that cannot work: what was got, what was wanted, what to do."""


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise SettingsError(message)


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


def _settle(record: Any, group: str = "") -> None:
    """Lists become tuples and 2 becomes 2.0 where a float is wanted, so that equal settings have equal names.

    A word that no switch knows is refused here, or the switch would pass over it in silence.
    """
    for field_name, kind in _hints(type(record)).items():
        name = group + field_name
        value = _settled(name, kind, getattr(record, field_name))
        object.__setattr__(record, field_name, value)
        if get_origin(kind) is Literal:
            words = " or ".join(f'"{word}"' for word in get_args(kind))
            _require(value in get_args(kind), f"{name} is {value!r}, but it must be {words}.")
        if kind is bool:
            _require(isinstance(value, bool), f"{name} is {value!r}, but it must be True or False.")


def _settled(name: str, kind: Any, value: Any) -> Any:
    if get_origin(kind) is tuple:
        _require(
            isinstance(value, (list, tuple, range)),
            f"{name} has {value!r} where a row such as (1, 2) is wanted. A row of one needs its comma: (1,).",
        )
        return tuple(_settled(name, get_args(kind)[0], item) for item in value)
    return float(value) if kind is float and type(value) is int else value


def _require_whole(name: str, value: Any, least: int) -> None:
    _require(
        isinstance(value, int) and not isinstance(value, bool) and value >= least,
        f"{name} is {value!r}, but it must be a whole number of at least {least}.",
    )


def _require_number(
    name: str, value: Any, *, above: float = -math.inf, least: float = -math.inf, below: float = math.inf
) -> None:
    limits = {f" above {above:g}": above, f" of at least {least:g}": least, f" below {below:g}": below}
    wanted = " and".join(text for text, limit in limits.items() if math.isfinite(limit))
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    fits = number and least <= value < below and value > above
    _require(fits, f"{name} is {value!r}, but it must be a finite number{wanted}.")


@dataclass(frozen=True)
class TaskSettings:
    """The importance-structured Markov chain (paper A, equation 1)."""

    tokens: int = 50
    """Size of the dictionary, d."""
    blocks: Blocks = ((1, 2), (3, 4), (5, 6))
    """Blocks of lags, the most important first; lag 1 is the newest token."""
    weighting: Literal["mean", "sum", "given"] = "mean"
    """Weight of a lag within its block: 1/size, 1, or the numbers in `weights`."""
    weights: Weights = ()
    """With weighting "given": one number per lag, block by block."""
    ratio: float = 1.7
    """m: each block is this many times as strong as the next."""
    base: float = 10.0
    """b0: strength of the least important block."""
    horizon: int = 20
    """T: how many tokens are drawn from the chain and predicted."""
    order: int | None = None
    """w: how many uniform tokens a sequence starts with; the largest lag if not given."""
    orthogonal: bool = False
    """Make the feature matrices orthogonal to each other, not only each to itself."""

    def __post_init__(self) -> None:
        _settle(self, "task.")
        _require_whole("task.tokens", self.tokens, 2)
        _require_whole("task.horizon", self.horizon, 1)
        _require_number("task.ratio", self.ratio, above=0)
        _require_number("task.base", self.base, above=0)
        _require(
            len(self.blocks) > 0 and all(len(block) > 0 for block in self.blocks),
            f"task.blocks is {self.blocks!r}, but every block needs a lag or more, as in ((1, 2), (3, 4)).",
        )
        for block in self.blocks:
            for lag in block:
                _require_whole(f"a lag of task.blocks {block}", lag, 1)
            _require(
                len(set(block)) == len(block),
                f"the block {block} of task.blocks names a lag twice. Give that lag a larger weight instead.",
            )
        if self.order is not None:
            _require_whole("task.order", self.order, 1)
            _require(
                max(self.lags) <= self.order,
                f"lag {max(self.lags)} looks before the start of a context of {self.order} tokens. "
                f"Use task.order >= {max(self.lags)}, or drop that lag.",
            )
        self._check_weights()
        if self.orthogonal:
            _require(
                len(self.blocks) <= self.tokens,
                f"{len(self.blocks)} mutually orthogonal features do not fit {self.tokens} tokens. "
                f"Use task.tokens >= {len(self.blocks)} or fewer blocks.",
            )

    def _check_weights(self) -> None:
        if self.weighting != "given":
            _require(
                not self.weights,
                f'task.weights are given but task.weighting is "{self.weighting}". '
                'Use task.weighting "given", or leave the weights out.',
            )
            return
        wanted = tuple(len(block) for block in self.blocks)
        got = tuple(len(row) for row in self.weights)
        _require(
            wanted == got,
            f"task.weights have {got or 'no'} numbers per block, but the blocks have {wanted} lags. "
            "Give one number for each lag.",
        )
        for row in self.weights:
            for weight in row:
                _require_number("a number of task.weights", weight)

    @property
    def lags(self) -> tuple[int, ...]:
        """Every lag that some block uses, newest first."""
        return tuple(sorted({lag for block in self.blocks for lag in block}))

    @property
    def start(self) -> int:
        """w: number of uniform tokens before the chain begins."""
        return max(self.lags) if self.order is None else self.order

    @property
    def length(self) -> int:
        """Number of tokens that a model reads: all but the last, which is only predicted."""
        return self.start + self.horizon - 1


@dataclass(frozen=True)
class ModelSettings:
    """One transformer with switches; the defaults are paper A's full model."""

    heads: int = 3
    blocks: int = 1
    embedding: Literal["learned", "one-hot"] = "learned"
    """How a token becomes a vector."""
    positions: Literal["learned", "one-hot", "sinusoidal", "none", "rotary", "relative", "alibi"] = "learned"
    """Learned and sinusoidal positions are added to the token's vector, one-hot ones are appended to it.
    Rotary ones turn queries and keys. Relative ones learn a score per head and distance; alibi's have a fixed slope.
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
    """Hidden width of the ReLU layer; 0 leaves it out."""
    readout: bool = True
    """A learned readout; else the first coordinates are the logits."""
    dropout: float = 0.1
    """Share dropped from the embedding and from each branch while training."""
    initialisation: Literal["xavier", "uniform"] = "xavier"
    """xavier: everywhere. uniform: queries (or merged scores) in [-scale, scale], values zero."""
    scale: float = 1.0
    """u of the uniform initialisation; a factor on Xavier's."""

    def __post_init__(self) -> None:
        _settle(self, "model.")
        _require_whole("model.heads", self.heads, 1)
        _require_whole("model.blocks", self.blocks, 1)
        _require_whole("model.width", self.width, 1)
        _require_whole("model.mlp", self.mlp, 0)
        _require_number("model.scale", self.scale, least=0)
        _require_number("model.dropout", self.dropout, least=0, below=1)

    def stream(self, tokens: int, length: int) -> int:
        """Width E of the residual stream for a dictionary and a context of these sizes."""
        one_hot_positions = length if self.positions == "one-hot" else 0
        return tokens + one_hot_positions if self.embedding == "one-hot" else self.width

    def check(self, tokens: int, length: int) -> None:
        """Refuse switches that do not fit each other for this dictionary and context."""
        stream = self.stream(tokens, length)
        if self.output or self.keys:
            below, above = stream - stream % self.heads, stream + (-stream) % self.heads
            _require(
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
        if self.embedding == "learned" and self.positions == "one-hot":
            _require(
                self.width > length,
                f"one-hot positions take {length} of the width, which is {self.width}. "
                f"Use model.width > {length}, or learned positions.",
            )
        if not self.readout:
            _require(
                stream >= tokens,
                f"without a readout the first {tokens} coordinates are logits, but the width is {stream}. "
                f"Use model.width >= {tokens}, or model.readout True.",
            )

    def _check_rotary(self, stream: int) -> None:
        """Rotations need queries and keys, of an even width."""
        _require(
            self.keys,
            "rotary positions need model.keys True: a merged matrix has no queries and keys to turn. "
            "Use that, or relative or alibi positions.",
        )
        score, pairs = stream // self.heads, 2 * self.heads
        below, above = stream - stream % pairs, stream + (-stream) % pairs
        _require(
            score % 2 == 0,
            f"rotary positions turn pairs of coordinates, but queries and keys of a head have {score}. "
            + (
                f"Use model.width {f'{below} or ' if below else ''}{above}, or another number of heads."
                if self.embedding == "learned"
                else "One-hot embeddings set that width: use relative or alibi positions, or a learned embedding."
            ),
        )


@dataclass(frozen=True)
class TrainingSettings:
    """How a model is fitted; the defaults are what paper A prints."""

    optimiser: Literal["adamw", "sgd"] = "adamw"
    learning_rate: float = 0.003
    momentum: float = 0.9
    """Of SGD."""
    weight_decay: float = 0.01
    clip: float = 1.0
    """Largest global norm of the gradient; 0 leaves it as it is."""
    schedule: Literal["constant", "plateau", "plateau-step", "cosine"] = "plateau"
    """plateau: the rate falls when the training loss stands still, seen once an epoch; plateau-step: at every step."""
    patience: int = 10
    """Epochs, or steps, without progress that the plateau schedule lets pass."""
    factor: float = 0.5
    """What the plateau schedule multiplies the learning rate by."""
    steps: int = 2000
    batch: int = 3000
    data: Literal["finite", "fresh"] = "finite"
    """A finite training set in epochs without replacement, or new sequences every step."""
    samples: int = 9000
    """Size of the finite training set."""
    test_samples: int = 3000
    dropout: Literal["always", "first-of-epoch"] = "always"
    """When dropout acts: on every step, or only on the first step of an epoch."""
    precision: Literal["float32", "tf32", "float64"] = "float32"
    """Of the model's products (tf32 where the device has it); float64 is for everything, and draws other numbers."""

    def __post_init__(self) -> None:
        _settle(self, "training.")
        _require_number("training.learning_rate", self.learning_rate, least=0)
        _require_number("training.weight_decay", self.weight_decay, least=0)
        _require_number("training.clip", self.clip, least=0)
        _require_number("training.momentum", self.momentum, least=0, below=1)
        _require_number("training.factor", self.factor, above=0)
        _require(
            self.factor < 1,
            f"training.factor is {self.factor!r}, which would not lower the rate: use a number below 1.",
        )
        for name in ("steps", "batch", "samples", "test_samples"):
            _require_whole(f"training.{name}", getattr(self, name), 1)
        _require_whole("training.patience", self.patience, 0)

    @property
    def steps_per_epoch(self) -> int:
        """Batches that use every sample once; the last may be smaller."""
        return -(-self.samples // self.batch)

    @property
    def size(self) -> float:
        """How many sequences there are to learn from; fresh ones have no end."""
        return math.inf if self.data == "fresh" else float(self.samples)


@dataclass(frozen=True)
class EvaluationSettings:
    """When the model is measured on the test sequences."""

    points: int = 120
    """Number of log-spaced steps, besides step 0 and the last."""
    also: tuple[int, ...] = ()
    """Further steps, for instance those a paper shows."""
    snapshots: int = 24
    """At how many of them the whole attention matrices are kept, besides `also`."""
    subsets: bool = field(default=False, metadata={"added": "0.2"})
    """Compare also with the predictors that know any combination of the blocks, 2^h in all."""

    def __post_init__(self) -> None:
        _settle(self, "evaluation.")
        _require_whole("evaluation.points", self.points, 0)
        _require_whole("evaluation.snapshots", self.snapshots, 0)
        for step in self.also:
            _require_whole("a step of evaluation.also", step, 0)


@dataclass(frozen=True)
class ConstructionSettings:
    """The hand-made solution of one Markov chain (paper A, section 2.3), looked at for several sharpnesses."""

    KIND: ClassVar[str] = "construction"

    task: TaskSettings = field(default_factory=TaskSettings)
    sharpness: tuple[float, ...] = tuple(map(float, range(21)))
    """lambda: the score of the positions that a head is made to look at; the others have 0."""
    test_samples: int = 3000

    def __post_init__(self) -> None:
        _settle(self)
        _require_whole("test_samples", self.test_samples, 1)
        for number in self.sharpness:
            _require_number("a number of sharpness", number, least=0)
        _require(
            len(self.sharpness) > 0 and all(a < b for a, b in pairwise(self.sharpness)),
            f"sharpness is {self.sharpness!r}, but it must be one number or more, each larger than the one before.",
        )


@dataclass(frozen=True)
class Settings:
    """One transformer trained on one Markov chain."""

    KIND: ClassVar[str] = "markov"

    task: TaskSettings = field(default_factory=TaskSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    context: int | None = None
    """Show the model only windows of this many tokens (an n-gram model); all of them if not given."""
    references: tuple[int, ...] = ()
    """Compare with the n-gram models of these contexts, trained by the same settings."""

    def __post_init__(self) -> None:
        _settle(self)
        if self.context is not None:
            _require_whole("context", self.context, 1)
            _require(
                self.context <= self.task.start,
                f"a window of {self.context} tokens does not fit before the first predicted token, "
                f"which has {self.task.start}. Use context <= {self.task.start}, or a larger task.order.",
            )
        for context in self.references:
            _require_whole("a context of references", context, 1)
            _require(
                context <= self.task.start,
                f"a reference of {context} tokens does not fit before the first predicted token, "
                f"which has {self.task.start}. Use contexts of at most {self.task.start}.",
            )
            self.model.check(self.task.tokens, context)
        self.model.check(self.task.tokens, self.length)

    def changed(self, **changes: Any) -> Settings:
        """The same settings but for these: changed(training={"steps": 10}, context=4)."""
        inner = {
            name: replace(getattr(self, name), **change) if isinstance(change, dict) else change
            for name, change in changes.items()
        }
        return replace(self, **inner)

    def ngram(self, context: int) -> Settings:
        """The n-gram model that these settings compare themselves with: the same in all but the context."""
        evaluation = replace(self.evaluation, snapshots=0, also=(), subsets=False)
        return replace(self, context=context, references=(), evaluation=evaluation)

    def beside_ngrams(self) -> Settings:
        """The same run, compared with one n-gram model for each rung: contexts that end where a block ends."""
        return replace(self, references=tuple(sorted({max(block) for block in self.task.blocks})))

    @property
    def length(self) -> int:
        """Number of tokens the model reads at once."""
        return self.task.length if self.context is None else self.context
