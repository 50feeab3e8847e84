"""In-context Markov chains (Edelman et al. 2024): every sequence has a chain of its own, to be read off as it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from headway.lazily import Array, Float, PRNGKeyArray, jax, jnp
from headway.records import About
from headway.settings.checks import require, require_probability, require_whole, settle
from headway.settings.model import ModelSettings
from headway.settings.training import EvaluationSettings, TrainingSettings
from headway.tasks.task import Example, weighted_mean, with_numbers
from headway.tasks.walks import (
    dirichlet,
    doubly_stochastic,
    followers,
    gram_name,
    matches,
    stationary,
    steps_back,
    walk,
)

NO_MAPS = ("embedding", "*.codes", "*norm*")
"""Weights that do not decay: those that are looked up, and the norms'."""


class Extra(NamedTuple):
    """What is to be predicted as distributions: in training what came, in a test the rows that it was drawn from."""

    wanted: Float[Array, "time state"]
    rows: Float[Array, "context state"]


@dataclass(frozen=True)
class InContextChain:
    """P_a ~ Dir(1, .., 1) for every context a, anew in each sequence; predict every next state.

        x: 2 0 1 0 1 0 .    ladder: uniform, unigram (which states came), bigram (what followed the present state)

    It is trained at every position and tested at the last one: KL(row of P || model) there is the loss of a test, so
    that a rung's loss is its distance from the truth.
    """

    NAME: ClassVar[str] = "in-context-markov"
    NUMBERS: ClassVar[tuple[str, ...]] = ("unigrams", "tested")

    states: int = 2
    """k: how many states there are."""
    order: int = 1
    """n - 1: how many tokens the next one depends on."""
    length: int = 100
    """T: tokens that a model reads."""
    law: Literal["dirichlet", "doubly-stochastic"] = "dirichlet"
    """Which matrices are trained on. dirichlet: rows at random. doubly-stochastic: so that all states are equally
    frequent, and which of them came says nothing."""
    unigrams: float = 0.0
    """Share of the training sequences whose rows are all equal: which states came says everything."""
    first: Literal["uniform", "stationary"] = "uniform"
    """How the first token is drawn."""
    tested: float = 0.0
    """1 in a test: rows at random, and only the prediction behind the last token counts."""

    def __post_init__(self) -> None:
        settle(self, "task.")
        require_whole("task.states", self.states, 2)
        require_whole("task.order", self.order, 1)
        require_whole("task.length", self.length, self.order + 1)
        require_probability("task.unigrams", self.unigrams)
        require_probability("task.tested", self.tested)
        require(
            self.order == 1 or (self.law, self.first) == ("dirichlet", "uniform"),
            f"task.order is {self.order}, but doubly stochastic matrices and stationary starts are of chains of order "
            "1. Use that order, or dirichlet rows and a uniform first token.",
        )

    @property
    def vocab(self) -> int:
        return self.states

    @property
    def reads(self) -> int:
        return self.length

    @property
    def predicted(self) -> int:
        return self.length

    @property
    def pictured(self) -> int:
        """Where heads look is shown from the last position, at which the test is."""
        return 1

    @property
    def relevant(self) -> tuple[tuple[int, int], ...]:
        """The tokens before each, which layer 1 of an induction head attends to."""
        return steps_back(self.length, self.order)

    @property
    def rungs(self) -> tuple[str, ...]:
        return tuple(gram_name(count) for count in range(self.order + 2))

    @classmethod
    def usual(cls) -> Any:
        """Two layers of attention and nothing else, as published; heads of 16."""
        from headway.tasks.run import Settings

        model = ModelSettings(
            heads=1,
            layers=2,
            width=16,
            mlp=0,
            norm="pre",
            positions="relative-keys",
            initialisation="gpt-2",
            dropout=0.1,
            attention_dropout=True,
        )
        training = TrainingSettings(
            arguments=(("b1", 0.9), ("b2", 0.95)),
            learning_rate=5e-4,
            weight_decay=0.1,
            groups=tuple((name, 1.0, 0.0) for name in NO_MAPS),
            clip=0.0,
            schedule="constant",
            steps=2000,
            batch=64,
            data="fresh",
            test_samples=1024,
        )
        return Settings(cls(), model, training, EvaluationSettings(every=20, snapshots=5, losses="mean"))

    def about(self) -> About:
        kind = {"dirichlet": "", "doubly-stochastic": ", trained on doubly stochastic ones"}[self.law]
        more = f" and {self.unigrams:.0%} unigrams" if self.unigrams else ""
        return About(
            title=f"In-context {gram_name(self.order + 1)}s of {self.states} states{kind}{more}",
            rungs=self.rungs,
            loss="KL from the truth at the last position",
            measures=(
                *((f"attention_back_{lag}", f"attention on {_back(lag)}") for lag in range(1, self.order + 1)),
                ("attention_followers", "attention of the last token on what followed its like"),
            ),
        )

    def sample(self, key: PRNGKeyArray) -> Example:
        """One sequence of T + 1 tokens; the share of unigrams may be traced."""
        kinds = jax.random.split(key, 6)
        contexts = self.states**self.order
        rows = general = dirichlet(kinds[0], 1.0, contexts, self.states)
        if self.law == "doubly-stochastic":
            rows = doubly_stochastic(kinds[1], self.states)
        equal = jax.random.uniform(kinds[2]) < self.unigrams
        rows = jnp.where(equal, general[:1], rows)
        is_test = jnp.asarray(self.tested) > 0
        rows = jnp.where(is_test, general, rows)
        start = jax.random.randint(kinds[3], (self.order,), 0, self.states)
        if self.first == "stationary":
            start = jax.random.categorical(kinds[3], jnp.log(stationary(rows)))[None]
        tokens = walk(kinds[4], rows, start, self.length + 1)
        inputs, targets = tokens[:-1], tokens[1:]
        last = _context(inputs, self.states, self.order)
        came = jax.nn.one_hot(targets, self.states)
        wanted = jnp.where(is_test, came.at[-1].set(rows[last]), came)
        ending = jnp.zeros(self.length).at[-1].set(1.0)
        return Example(inputs, targets, jnp.where(is_test, ending, 1.0), Extra(wanted, rows))

    def loss(self, outputs: Float[Array, "time state"], example: Example) -> Float[Array, ""]:
        """KL(wanted || model): of what came its cross-entropy, of the truth its distance."""
        wanted = example.extra.wanted
        certain = jnp.sum(jnp.where(wanted > 0, wanted * jnp.log(jnp.where(wanted > 0, wanted, 1)), 0), axis=-1)
        return weighted_mean(certain - jnp.sum(wanted * jax.nn.log_softmax(outputs), axis=-1), example.weights)

    def ladder(self, example: Example) -> Float[Array, "rung time state"]:
        """(count of s behind the last m tokens + 1) / (their count + k), m from none on."""
        tokens = example.inputs
        counts = [followers(tokens, self.states, order) for order in range(self.order + 1)]
        known = [(count + 1) / (jnp.sum(count, axis=1, keepdims=True) + self.states) for count in counts]
        return jnp.log(jnp.stack([jnp.full_like(known[0], 1 / self.states), *known]))

    def tests(self) -> dict[str, InContextChain]:
        """Behind the last token of sequences with rows at random, whatever it is trained on."""
        return {"": with_numbers(self, {"unigrams": 0.0, "tested": 1.0})}

    def measures(self, example: Example, reading: Any) -> dict[str, Array]:
        """Attention on the tokens right before, mean over the positions that have them; and, from the last position,
        on what followed earlier occurrences of the last context: (layer, head) each.
        """
        patterns = jnp.stack([heads.pattern for heads in reading.heads])
        back = {
            f"attention_back_{lag}": jnp.mean(jnp.diagonal(patterns, -lag, 2, 3), axis=-1)
            for lag in range(1, self.order + 1)
        }
        behind = matches(example.inputs, self.states, self.order)[-1]
        return {**back, "attention_followers": patterns[:, :, -1] @ behind.astype(patterns.dtype)}


def _back(lag: int) -> str:
    return f"the token {'' if lag == 1 else f'{lag} '}before (mean over positions)"


def _context(tokens: Array, states: int, order: int) -> Array:
    """The last `order` tokens as one number."""
    return jnp.sum(tokens[-order:] * states ** jnp.arange(order - 1, -1, -1))
