"""Moving-window sums of Gopalani & Hu (2025): copy the first number, then add up every two neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from headway.lazily import Array, Float, Int, PRNGKeyArray, jax, jnp
from headway.records import About
from headway.settings.checks import require, require_whole, settle

if TYPE_CHECKING:
    from headway.tasks.run import Settings


@dataclass(frozen=True)
class MovingWindow:
    """x_1 .. x_n SEP y_1 .. y_n with y_1 = x_1, y_i = (x_(i-1) + x_i) mod p; every next token is to be predicted.

    With n = 4 and p = 17, SEP written as |:

        3 16 5 9 | 3 2 4 14

    x_i is uniform on 1 .. p - 1, so that y_1 is, too; of the other y_i, 0 is the likeliest, with probability
    1 / (p - 1). In REPEAT every y_i is x_1.
    """

    NAME: ClassVar[str] = "moving-window"

    rule: Literal["sums", "repeat"] = "sums"
    """y_i = (x_(i-1) + x_i) mod p behind y_1 = x_1; or x_1 again and again."""
    count: int = 16
    """n: how many numbers there are."""
    modulus: int = 17
    """p."""

    rungs: ClassVar[tuple[str, ...]] = ("uniform", "unigrams of each part", "the first output", "all outputs")

    def __post_init__(self) -> None:
        settle(self, "task.")
        require_whole("task.count", self.count, 2)
        require_whole("task.modulus", self.modulus, 3)

    @classmethod
    def usual(cls) -> Settings[MovingWindow]:
        """One layer with one head of linear attention, and Adam on fresh rows."""
        from headway.settings import EvaluationSettings, ModelSettings, TrainingSettings
        from headway.tasks.run import Settings

        model = ModelSettings(
            heads=1,
            width=256,
            norm="pre",
            mlp=1024,
            dropout=0.0,
            initialisation="gpt-2",
            attention="linear",
            biases=True,
            activation="gelu",
        )
        training = TrainingSettings(
            learning_rate=1e-4,
            weight_decay=0.0,
            clip=0.0,
            schedule="constant",
            steps=400,
            batch=256,
            data="fresh",
            test_samples=512,
        )
        # Ours: when it is measured, and on how much.
        return Settings(cls(), model, training, EvaluationSettings(every=5, snapshots=9, losses="mean"))

    @property
    def vocab(self) -> int:
        """0 .. p - 1 and SEP."""
        return self.modulus + 1

    @property
    def reads(self) -> int:
        return 2 * self.count

    @property
    def predicted(self) -> int:
        return 2 * self.count

    @property
    def generates(self) -> int:
        """All outputs."""
        return self.count

    @property
    def relevant(self) -> tuple[tuple[int, int], ...]:
        """Where the positions that predict y_2 .. y_n should look: at x_(i-1) and x_i, or at x_1.

        Without y_1, which is learnt long before.
        """
        return self._sources[1:]

    @property
    def _sources(self) -> tuple[tuple[int, int], ...]:
        """(position that predicts an output, position of a number that it depends on), y_1 first."""
        if self.rule == "repeat":
            return tuple((self.count + i, 0) for i in range(self.count))
        later = ((self.count + i, j) for i in range(1, self.count) for j in (i - 1, i))
        return ((self.count, 0), *later)

    @property
    def plateau_accuracy(self) -> float:
        """Of y_1 and, for every other output, the likeliest number: (1 + (n - 1) max P(y)) / n."""
        return (1 + (self.count - 1) * max(self._later)) / self.count

    @property
    def repetition(self) -> float:
        """P(y_i = y_(i+1)) of the data, mean over i: sums agree if x_(i-1) = x_(i+1), and y_2 is never y_1."""
        return 1.0 if self.rule == "repeat" else (self.count - 2) / (self.count - 1) / (self.modulus - 1)

    @property
    def _later(self) -> tuple[float, ...]:
        """P(y_i = 0), .., P(y_i = p - 1), P(SEP) for i > 1."""
        others = self.modulus - 1
        zero = 0.0 if self.rule == "repeat" else 1 / others
        return (zero, *((1 - zero) / others for _ in range(others)), 0.0)

    @property
    def rung_losses(self) -> tuple[float, ...]:
        """The loss of every rung, exactly: log(p + 1) at all 2n predictions; n log(p - 1) + (n - 1) H(y); .."""
        number = math.log(self.modulus - 1)
        entropy = -sum(each * math.log(each) for each in self._later if each > 0)
        shown, every, later = self.count - 1, 2 * self.count, (self.count - 1) * entropy
        return (
            math.log(self.vocab),
            ((shown + 1) * number + later) / every,
            (shown * number + later) / every,
            shown * number / every,
        )

    def check(self, settings: Any) -> None:
        require(
            settings.model.positions != "none",
            "which numbers are to be added depends on their positions alone, but model.positions is none. Use learned.",
        )

    def about(self) -> About:
        what = "Moving-window sums" if self.rule == "sums" else "The first of several numbers again and again"
        return About(
            title=f"{what}, {self.count} numbers below {self.modulus}",
            rungs=self.rungs,
            loss="cross-entropy",
            progress="excess_loss",
            measures=(
                ("accuracy_generated", "share of the outputs that are right, generated"),
                ("accuracy_first", "share of first outputs that are right"),
                ("repetition", "share of generated outputs that are equal to the next"),
                ("cosine", "cosine between the final states of two outputs from the second on"),
                ("attention_relevant", "share of attention on the numbers that an output depends on"),
            ),
        )

    def sample(self, key: PRNGKeyArray) -> Int[Array, " {2*self.count+1}"]:
        """One row."""
        numbers = jax.random.randint(key, (self.count,), 1, self.modulus)
        if self.rule == "repeat":
            outputs = jnp.repeat(numbers[:1], self.count)
        else:
            outputs = (jnp.append(0, numbers[:-1]) + numbers) % self.modulus
        return jnp.concatenate([numbers, jnp.array([self.modulus]), outputs])

    def ladder(self, row: Int[Array, " time"]) -> Float[Array, "rung predicted token"]:
        """Any token; as frequent as in this part of the row; y_1 known; all of y known."""
        known = jax.nn.one_hot(row[1:], self.vocab)
        number = jnp.full(self.vocab, 1 / (self.modulus - 1)).at[jnp.array([0, self.modulus])].set(0)
        place = jnp.arange(2 * self.count)[:, None]
        first, behind = place == self.count, place > self.count
        shares = jnp.where(behind, jnp.asarray(self._later), number)
        shares = jnp.where(place == self.count - 1, known, shares)
        rungs = (
            jnp.full_like(known, 1 / self.vocab),
            shares,
            jnp.where(first, known, shares),
            jnp.where(first | behind, known, shares),
        )
        return jnp.log(jnp.stack(rungs))

    def measures(self, row: Int[Array, " time"], reading: Any) -> dict[str, Array]:
        """Of what the model generates: how much is right, and how much alike; and how much attention is in its place.

        Positions from SEP on predict outputs: `attention_relevant` is sum |A| over the numbers that their outputs
        depend on, relative to all of |A|. `cosine` is the mean over all pairs of outputs from the second on.
        """
        said, states = reading.generated.tokens, reading.generated.reading.states[self.count + 1 :]
        right = (said == row[self.count + 1 :]).astype(states.dtype)
        unit = states / jnp.maximum(jnp.linalg.norm(states, axis=1, keepdims=True), 1e-12)
        pairs = (self.count - 1) * (self.count - 2)
        size = jnp.stack([jnp.abs(heads.pattern[:, self.count :]) for heads in reading.heads])
        rows, columns = (jnp.array(each) for each in zip(*self._sources, strict=True))
        relevant = jnp.sum(size[..., rows - self.count, columns], axis=-1)
        return {
            "accuracy_generated": jnp.mean(right),
            "accuracy_first": right[0],
            "repetition": jnp.mean((said[1:] == said[:-1]).astype(states.dtype)),
            "cosine": (jnp.sum(jnp.sum(unit, axis=0) ** 2) - (self.count - 1)) / pairs,
            "attention_relevant": relevant / jnp.maximum(jnp.sum(size, axis=(-2, -1)), 1e-12),
        }
