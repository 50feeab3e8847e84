"""Real text: predict every next token of a sequence; the ladder is n-grams, then repetitions within the context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from headway.lazily import Array, Float, Int, PRNGKeyArray, jax, jnp
from headway.records import About
from headway.settings.checks import refuse, require, require_probability, require_whole, settle
from headway.settings.model import ModelSettings
from headway.settings.training import EvaluationSettings, TrainingSettings
from headway.tasks.task import Example, with_numbers
from headway.tasks.walks import gram_name

BYTES = 256
NEAR = 8
"""Lags at which attention is followed all along the training."""
CONFIDENCE = tuple(1.5**power for power in range(-8, 7))
"""s of softmax(s z): from almost uniform to ten times as sure."""


class Extra(NamedTuple):
    """Number of the sequence in the probe, and the period of a row of repeated tokens."""

    number: Int[Array, ""]
    period: Int[Array, ""]


@dataclass(frozen=True)
class Text:
    """Fresh sequences of a text at every step; measured on fixed sequences of held-out text.

        x: T h e _ p e o p .    ladder: uniform, unigram, bigram, .., n-gram, n-gram and cache

    The n-grams are interpolated Kneser-Ney, counted in the training part. The cache adds what followed the last tokens
    earlier in the same context. Their predictions at the probe's positions are computed once, before training.
    """

    NAME: ClassVar[str] = "text"
    NUMBERS: ClassVar[tuple[str, ...]] = ("repeated",)

    text: str = "speeches"
    """speeches: all State of the Union addresses, which come with the extra `text`. enwik8: 100 MB of Wikipedia, which
    `python -m headway.corpora` downloads. Or the path of a file."""
    tokeniser: Literal["characters", "bytes", "bpe"] = "characters"
    """characters: the most frequent ones, and one token for all others. bytes. bpe: byte pairs, learnt from the text.
    """
    vocab: int = 96
    """Vocabulary size."""
    length: int = 64
    """T: number of tokens that a model reads."""
    orders: int = 6
    """Highest order of the n-grams in the ladder."""
    lags: int = 0
    """Also compare with skip-grams up to this lag: each lag alone, and each together with the previous token."""
    probes: int = 64
    """Number of held-out sequences on which a model is measured."""
    shuffled: int = 1
    """Shuffle the tokens within windows of this size; 1 means no shuffling."""
    interleaved: int = 1
    """Interleave this number n of sequences, one token of each in turn: lag 1 then carries no information, and lag n
    carries what lag 1 carried; 1 means no interleaving."""
    digest: str = ""
    """SHA-256 of the file, computed if not given: a run on a different text is a different run."""
    repeated: float = 0.0
    """1 in a test: repeated random tokens, which reveal induction heads."""

    def __post_init__(self) -> None:
        settle(self, "task.")
        require_whole("task.vocab", self.vocab, 2)
        require_whole("task.orders", self.orders, 2)
        require_whole("task.lags", self.lags, 0)
        require_whole("task.probes", self.probes, 1)
        require_whole("task.shuffled", self.shuffled, 1)
        require_whole("task.interleaved", self.interleaved, 1)
        require_whole("task.length", self.length, 2)
        require_probability("task.repeated", self.repeated)
        if self.tokeniser == "bytes" and self.vocab != BYTES:
            refuse(f"task.vocab is {self.vocab}, but there are {BYTES} bytes. Use --task.vocab {BYTES}.")
        if self.tokeniser == "bpe" and self.vocab < BYTES:
            refuse(f"task.vocab is {self.vocab}, but byte pairs come on top of {BYTES} bytes. Use more than that.")
        least = 2 * self.interleaved * max(self.orders, self.lags, 4)
        require(
            self.length >= least,
            f"task.length is {self.length}, but task.orders {self.orders}, task.lags {self.lags} and "
            f"task.interleaved {self.interleaved} need at least {least}. Use at least that, or make them smaller.",
        )
        self._settle_digest()

    def _settle_digest(self) -> None:
        from headway.corpora.texts import TEXTS, digest_of

        if self.text in TEXTS:
            require(not self.digest, f"task.digest is of a file, but task.text is {self.text}. Leave it out.")
        elif not self.digest:
            object.__setattr__(self, "digest", digest_of(self.text))

    @property
    def reads(self) -> int:
        return self.length

    @property
    def predicted(self) -> int:
        return self.length

    @property
    def pictured(self) -> int:
        """Matrices are kept of the last positions: of long contexts they would take more room than all else."""
        return 16

    @property
    def rungs(self) -> tuple[str, ...]:
        grams = tuple(gram_name(order) for order in range(self.orders + 1))
        return (*grams, f"{grams[-1]} and cache")

    @classmethod
    def usual(cls) -> Any:
        """Two layers of attention and nothing else, on characters."""
        from headway.tasks.run import Settings

        model = ModelSettings(
            heads=4,
            layers=2,
            width=128,
            mlp=0,
            norm="pre",
            positions="rotary",
            initialisation="gpt-2",
            dropout=0.0,
        )
        training = TrainingSettings(
            learning_rate=1e-3,
            weight_decay=0.01,
            schedule="constant",
            steps=4000,
            batch=64,
            data="fresh",
            test_samples=cls.probes,
        )
        return Settings(cls(), model, training, EvaluationSettings(points=80, snapshots=16, losses="mean"))

    def check(self, settings: Any) -> None:
        require(
            settings.training.test_samples == self.probes,
            f"training.test_samples is {settings.training.test_samples}, but a text is tested on its probe of "
            f"{self.probes} sequences. Make --task.probes and --training.test_samples equal.",
        )
        require(
            settings.training.data == "fresh",
            f'training.data is "{settings.training.data}", but every step uses fresh sequences of the text. Use '
            '"fresh".',
        )

    def about(self) -> About:
        """Its own words for the page."""
        kind = {"characters": "characters", "bytes": "bytes", "bpe": f"BPE-{self.vocab}"}[self.tokeniser]
        changes = [
            f"shuffled in windows of {self.shuffled}" if self.shuffled > 1 else "",
            f"{self.interleaved} sequences interleaved" if self.interleaved > 1 else "",
        ]
        return About(
            title=", ".join(["Text: " + self.text.rpartition("/")[2], kind, *filter(None, changes)]),
            rungs=self.rungs,
            loss="cross-entropy",
            measures=(
                ("in_context_score", "loss late in the context minus loss early"),
                ("prefix_matching", "attention, on repeated random tokens, to what followed the current token"),
            ),
        )

    def shared(self) -> Any:
        """`TextArrays`: the training text, the probe, and what every rung says about it."""
        from headway.corpora.arrays import text_arrays

        return text_arrays(with_numbers(self, {"repeated": 0.0}))

    def shared_shapes(self) -> Any:
        """As large as they can be: a token has a byte at least."""
        from headway.corpora.arrays import text_shapes

        return text_shapes(self)

    def sample(self, world: Any, key: PRNGKeyArray) -> Int[Array, " token"]:
        """A stretch that begins anywhere in the training part and ends in the same document; or several, woven."""
        long = -(-(self.length + 1) // self.interleaved)
        place = jax.random.randint(key, (self.interleaved,), 0, world.before[-1])
        document = jnp.searchsorted(world.before, place, side="right") - 1
        start = world.first[document] + place - world.before[document]
        streams = world.tokens[start + jnp.arange(long)[:, None]]
        return streams.reshape(-1)[: self.length + 1].astype(jnp.int32)

    def held_out(self, world: Any, number: Any) -> Example:
        """Stretch `number` of the probe; in the test of repetition, a block of random tokens again and again."""
        own = jnp.minimum(number, self.probes - 1)
        of_period, of_tokens = jax.random.split(jax.random.fold_in(jax.random.key(0), number))
        period = jax.random.randint(of_period, (), self.length // 8, self.length // 3 + 1)
        block = jax.random.randint(of_tokens, (self.length + 1,), 0, self.vocab)
        again = block[jnp.arange(self.length + 1) % period]
        row = jnp.where(jnp.asarray(self.repeated) > 0, again, world.probe[own])
        return Example(row[:-1], row[1:], None, Extra(own, period))

    def loss(self, _world: Any, outputs: Float[Array, "time token"], example: Example) -> Float[Array, ""]:
        """-log p(next token), in nats. Written out: the tables of the fast forms have a row for every token at every
        position, of which a batch of text has few."""
        return jnp.mean(_surprise(outputs, example.targets))

    def ladder(self, world: Any, example: Example) -> Float[Array, "rung time token"]:
        """As it was computed before training."""
        return world.said[example.extra.number]

    def comparisons(self, world: Any, example: Example) -> dict[str, Array]:
        """Skip-grams: "skips" of one lag, "pairs" of one and the token before."""
        return {name: said[example.extra.number] for name, said in world.compared.items()}

    def tests(self) -> dict[str, Text]:
        return {"": self, "repeated": with_numbers(self, {"repeated": 1.0})}

    def facts(self, world: Any) -> dict[str, Array]:
        """I(next token; lag i | the nearer ones), measured in held-out text, i from 1 on."""
        return {"information": world.information}

    def written(self, world: Any) -> Int[Array, "token letter"]:
        """As code points: the probe's first sequence is shown token by token."""
        return world.written

    def measures(self, world: Any, example: Example, reading: Any, test: str) -> dict[str, Array]:
        """Of text: attention to the near lags, how much the context helps, and how near confidence alone would come to
        each rung. Of repeated tokens: attention on what followed, head by head.
        """
        patterns = jnp.stack([heads.pattern for heads in reading.heads])
        if test:
            return {"prefix_matching": _prefix_matching(patterns, example.extra.period)}
        surprise = _surprise(reading.logits, example.targets)
        said = self.ladder(world, example)
        return {
            "attention_near": _near(patterns),
            "in_context_score": jnp.mean(surprise[-self.length // 8 :])
            - jnp.mean(surprise[self.length // 8 : self.length // 4]),
            "kl_confidence": _by_confidence(said, reading.logits),
        }


def _surprise(outputs: Float[Array, "time token"], targets: Int[Array, " time"]) -> Float[Array, " time"]:
    return -jnp.take_along_axis(jax.nn.log_softmax(outputs), targets[:, None], axis=1)[:, 0]


def _near(patterns: Float[Array, "layer head query key"]) -> Float[Array, "layer head lag"]:
    """Mean attention to the newest token (lag 1), the one before (lag 2), .., where there are so many."""
    lags = min(NEAR, patterns.shape[-1] // 2)
    by_lag = (jnp.diagonal(patterns[:, :, lags:, lags - lag :], 0, 2, 3) for lag in range(lags))
    return jnp.stack([jnp.mean(each, axis=-1) for each in by_lag], axis=-1)


def _prefix_matching(patterns: Float[Array, "layer head query key"], period: Array) -> Float[Array, "layer head"]:
    """Mean attention from a token to those that followed its earlier occurrences, one or more periods before."""
    here = jnp.arange(patterns.shape[-1])
    back = here[:, None] - here + 1
    behind = (back % period == 0) & (back > 0) & (here <= here[:, None])
    repeats = here >= period
    on_them = jnp.sum(patterns * behind, axis=-1)
    return jnp.sum(on_them * repeats, axis=-1) / jnp.sum(repeats)


def _by_confidence(said: Float[Array, "rung time token"], outputs: Float[Array, "time token"]) -> Array:
    """KL(rung || softmax(s z)) for every s, z the model's own logits: (s, rung).

    At the end of training its minimum over s is how near a learner would come to a rung that learns everything at once
    and only grows in confidence.
    """
    grid = jnp.asarray(CONFIDENCE, outputs.dtype)
    share, logits = jnp.exp(said), jax.nn.log_softmax(outputs)
    certainty = jnp.mean(jnp.sum(share * said, axis=-1), axis=-1)
    agreement = jnp.mean(jnp.sum(share * logits, axis=-1), axis=-1)
    normaliser = jnp.mean(jax.nn.logsumexp(grid[:, None, None] * logits, axis=-1), axis=-1)
    return certainty - grid[:, None] * agreement + normaliser[:, None]
