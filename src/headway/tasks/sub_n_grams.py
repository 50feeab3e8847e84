"""Sub-n-grams (Varre et al. 2025): every sequence has a chain of order n - 1 of its own; predict what comes last."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from headway.lazily import Array, Float, PRNGKeyArray, jax, jnp
from headway.records import About
from headway.settings.checks import require_number, require_whole, settle
from headway.settings.model import ModelSettings
from headway.settings.training import EvaluationSettings, TrainingSettings
from headway.tasks.task import Example
from headway.tasks.walks import dirichlet, followers, gram_name, steps_back, walk

FLOOR = 1e-8
"""Added to a probability before its logarithm is taken."""
SIMULATED = 16_384
"""Sequences by which the best pseudo-counts are found."""


@dataclass(frozen=True)
class SubNGrams:
    """Rows p ~ Dir(alpha, .., alpha) for every n - 1 tokens, anew in each sequence; -sum_s p(s) ln f(s) at its end.

        x: 2 0 1 | 0 1 .    ladder: uniform, unigram (which symbols came), bigram (what followed a 1), trigram (a 0 1)

    A k-gram counts what followed the last k - 1 tokens and adds a pseudo-count to each.
    """

    NAME: ClassVar[str] = "sub-n-grams"

    symbols: int = 5
    """S: how many symbols there are."""
    grams: int = 3
    """n: the next token depends on the last n - 1."""
    length: int = 32
    """T: tokens that a model reads."""
    alpha: float = 0.5
    """Concentration of the rows."""
    pseudo_counts: Literal["best", "alpha"] = "best"
    """What the rungs add to every count: what makes each of them best, or alpha, which is best for the last."""

    def __post_init__(self) -> None:
        settle(self, "task.")
        require_whole("task.symbols", self.symbols, 2)
        require_whole("task.grams", self.grams, 1)
        require_whole("task.length", self.length, self.grams)
        require_number("task.alpha", self.alpha, above=0)

    @property
    def vocab(self) -> int:
        return self.symbols

    @property
    def reads(self) -> int:
        return self.length

    @property
    def predicted(self) -> int:
        return 1

    @property
    def pictured(self) -> int:
        """Where heads look is shown from a few of the last positions."""
        return min(4, self.length)

    @property
    def relevant(self) -> tuple[tuple[int, int], ...]:
        """The n - 1 tokens before each, which the heads of layer 1 attend to in the end."""
        return steps_back(self.length, self.grams - 1)

    @property
    def rungs(self) -> tuple[str, ...]:
        return tuple(gram_name(count) for count in range(self.grams + 1))

    @classmethod
    def usual(cls) -> Any:
        """Two layers of full-width heads with a skip and a readout, as wide as tokens and positions together."""
        from headway.tasks.run import Settings

        task = cls()
        model = ModelSettings(
            heads=2,
            head_width=task.symbols + task.length,
            layers=2,
            embedding="one-hot",
            positions="one-hot",
            output=False,
            scaled_scores=False,
            norm="none",
            mlp=0,
            dropout=0.0,
            initialisation="fan-in",
        )
        return Settings(task, model, training(learning_rate=1e-3), evaluation(growth=0.04))

    def about(self) -> About:
        return About(
            title=f"In-context {gram_name(self.grams)}s of {self.symbols} symbols, {self.length} tokens",
            rungs=self.rungs,
            loss="cross-entropy with the true row",
            measures=(
                *(
                    (f"attention_back_{lag}", f"attention of layer 1 to the token {lag} back")
                    for lag in range(1, self.grams)
                ),
                ("attention_off_uniform", "distance of layer 1 from uniform attention"),
            ),
        )

    def sample(self, key: PRNGKeyArray) -> Example:
        """One sequence; `extra` is the row that its next token comes from."""
        rows_key, first_key, walk_key, last_key = jax.random.split(key, 4)
        order = self.grams - 1
        rows = dirichlet(rows_key, self.alpha, self.symbols**order, self.symbols)
        if order == 0:
            tokens = jax.random.categorical(walk_key, jnp.log(rows[0]), shape=(self.length,))
        else:
            first = jax.random.randint(first_key, (order,), 0, self.symbols)
            tokens = walk(walk_key, rows, first, self.length)
        places = self.symbols ** jnp.arange(order - 1, -1, -1)
        row = rows[jnp.sum(tokens[self.length - order :] * places)]
        target = jax.random.categorical(last_key, jnp.log(row))
        return Example(tokens, target[None], extra=row)

    def loss(self, outputs: Float[Array, "1 symbol"], example: Example) -> Float[Array, ""]:
        """-sum_s p(s) ln(f(s) + 1e-8)."""
        return -jnp.sum(example.extra * jnp.log(jax.nn.softmax(outputs[0]) + FLOOR))

    def ladder(self, example: Example) -> Float[Array, "rung 1 symbol"]:
        """(count of s after the last k - 1 tokens + c) / (their count + S c), k from 0, which knows no count, to n."""
        counts = [followers(example.inputs, self.symbols, order)[-1] for order in range(self.grams)]
        known = [
            (count + c) / (jnp.sum(count) + self.symbols * c) for count, c in zip(counts, self.added(), strict=True)
        ]
        return jnp.log(jnp.stack([jnp.full(self.symbols, 1 / self.symbols), *known]))[:, None]

    def added(self) -> tuple[float, ...]:
        """The pseudo-counts of the k-grams, k = 1 .. n."""
        if self.pseudo_counts == "alpha":
            return (self.alpha,) * self.grams
        return best_pseudo_counts(self.symbols, self.grams, self.length, self.alpha)

    def measures(self, example: Example, reading: Any) -> dict[str, Array]:
        """Of every head of layer 1, mean over positions: attention on each of the n - 1 tokens before, and half the sum
        of |attention - uniform|; (1, head) each.
        """
        return layer_1(reading.heads[0].pattern, self.grams)


def training(learning_rate: float = 1e-2) -> TrainingSettings:
    """AdamW that remembers no direction, on fresh data; the rate is that of the published figures.

    The authors' code has had a tenth of it since, at which the transformer trains.
    """
    return TrainingSettings(
        arguments=(("b1", 0.0),),
        learning_rate=learning_rate,
        weight_decay=1e-4,
        clip=0.0,
        schedule="cosine",
        steps=16_000,
        batch=128,
        data="fresh",
        test_samples=4096,  # ours; the paper has 2^14
    )


def evaluation(growth: float = 0.02) -> EvaluationSettings:
    """The first plateau is over after a hundred steps, the last begins after thousands."""
    return EvaluationSettings(every=5, growth=growth, snapshots=5, losses="mean")


def layer_1(pattern: Float[Array, "head time time"], grams: int) -> dict[str, Array]:
    """Where the heads of the first layer look."""
    length = pattern.shape[-1]
    back = {
        f"attention_back_{lag}": jnp.mean(jnp.diagonal(pattern, -lag, 1, 2), axis=-1)[None] for lag in range(1, grams)
    }
    uniform = jnp.tril(jnp.ones((length, length))) / jnp.arange(1, length + 1)[:, None]
    return {**back, "attention_off_uniform": 0.5 * jnp.mean(jnp.sum(jnp.abs(pattern - uniform), -1), -1)[None]}


@functools.lru_cache(64)
def best_pseudo_counts(symbols: int, grams: int, length: int, alpha: float) -> tuple[float, ...]:
    """argmin_c E[-sum_s p(s) ln((count of s + c) / (total + S c))] for the k-grams, k = 1 .. n; alpha for k = n.

    The n-gram with c = alpha is the posterior mean; a shorter one mixes rows that differ, so that its counts are worth
    less. Found on sequences simulated with NumPy, always the same.
    """
    from scipy.optimize import minimize_scalar

    counts, rows = _simulated(symbols, grams, length, alpha)

    def cost(log_c: float, count: np.ndarray) -> float:
        c = np.exp(log_c)
        guess = (count + c) / (count.sum(axis=1, keepdims=True) + symbols * c)
        return -float(np.mean(np.sum(rows * np.log(guess), axis=1)))

    found = [minimize_scalar(cost, bounds=(-6, 9), args=(count,), method="bounded").x for count in counts[:-1]]
    return (*(float(np.exp(each)) for each in found), float(alpha))


def _simulated(symbols: int, grams: int, length: int, alpha: float) -> tuple[list[np.ndarray], np.ndarray]:
    """What followed the last k - 1 tokens, k = 1 .. n, and the true rows behind the last ones: (sequence, symbol)."""
    random, order = np.random.default_rng(0), grams - 1
    rows = random.dirichlet(np.full(symbols, alpha), (SIMULATED, symbols**order))
    limits = np.cumsum(rows, axis=2)[:, :, :-1]
    tokens = random.integers(0, symbols, (SIMULATED, length))
    every, context = np.arange(SIMULATED), np.zeros(SIMULATED, int)
    for place in range(length):
        if place >= order:
            tokens[:, place] = (random.random(SIMULATED)[:, None] >= limits[every, context]).sum(axis=1)
        context = (context * symbols + tokens[:, place]) % symbols**order
    counts = []
    for known in range(grams):
        same = np.ones((SIMULATED, length - known), bool)
        for lag in range(1, known + 1):
            same &= tokens[:, known - lag : length - lag] == tokens[:, length - lag, None]
        after = tokens[:, known:]
        counts.append(np.stack([np.sum(same & (after == s), axis=1) for s in range(symbols)], axis=1).astype(float))
    return counts, rows[every, context]
