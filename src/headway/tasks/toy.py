"""Paper B's toy: single-location regression by W and T logits alone, whose loss over all samples is known exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from headway.lazily import Array, Float, PRNGKeyArray, jax, jnp
from headway.records import About
from headway.settings.checks import require, require_number, require_whole, settle
from headway.tasks.task import Answer, Example, with_numbers

if TYPE_CHECKING:
    from headway.settings import EvaluationSettings
    from headway.tasks.run import Settings

ESCAPED = 0.8
"""eps of the escape time: the share of its start by which the linearised loss has fallen."""
STEPS = 1_000_000
"""Of a run in coordinates at most: the same for all sizes, which share a program."""
ROUND = 25
"""Numbers of steps are multiples of this, so that evaluations that come at multiples fit."""


class Overlap(NamedTuple):
    """All that the loss depends on; W_1 is the column of W that reads the repeated vector."""

    seen: Any
    """S: attention on the B copies together."""
    noise: Any
    """Sum of the squares of the attention on each of the others."""
    size: Any
    """|W|^2."""
    size_repeated: Any
    """|W_1|^2."""
    along: Any
    """<W, W*>."""
    along_repeated: Any
    """<W_1, W*_1>."""


@dataclass(frozen=True)
class Toy:
    """y* = W* x_T, x_t ~ N(0, I/d), learned by y = W sum_t softmax(a)_t x_t from W = 0 and a = 0 (paper B).

    The last B of T tokens are x_T, which is one fixed unit vector with probability p; W* is orthogonal:

        d = 2, T = 5, B = 2:     x_1  x_2  x_3  x_T  x_T

    From this start the copies stay alike, and so do the other tokens: one gap Da between their logits is left, and of W
    its parts along W*, w~ on the repeated vector and w on the d - 1 other directions. With S = B alpha,
    alpha = 1/(B + (T-B) e^{-Da}), s~ = p + (1-p)/d and s = (1-p)/d, the loss over all samples is

        L = 1/2 [ (1-S)^2 (w^2 + w~^2)/(d (T-B)) + s~ (S w~ - 1)^2 + s (S w - sqrt(d-1))^2 ]

    It is tested with p = 0.
    """

    NAME: ClassVar[str] = "toy"

    dimension: int = 64
    """d: size of a token."""
    length: int = 256
    """T: how many tokens there are."""
    copies: int = 1
    """B: how many of them are the one that matters (context repetition)."""
    repeated: float = 0.0
    """p: how often the token that matters is one and the same vector, in all samples (cross-sample repetition)."""
    trained: Literal["matrices", "logits", "gap"] = "logits"
    """What moves: W and the T logits in full; the same in the three coordinates that they need; or w~, w and the gap
    between logits itself, as in the slides' reduced flow."""

    rungs: ClassVar[tuple[str, ...]] = ("silence", "the mean of all tokens", "the token that matters")

    def __post_init__(self) -> None:
        settle(self, "task.")
        for name, least in (("dimension", 2), ("length", 2), ("copies", 1)):
            require_whole(f"task.{name}", getattr(self, name), least)
        require_number("task.repeated", self.repeated, least=0, below=1)
        require(
            self.copies < self.length,
            f"{self.copies} copies leave no other token among {self.length}. Use fewer copies, or a larger length.",
        )

    @classmethod
    def usual(cls) -> Settings[Toy, None]:
        """Gradient descent on the expectation with steps of 1, until the loss is at most 0.1 (paper B)."""
        return toy_settings(cls())

    def check(self, settings: Any) -> None:
        require(
            settings.training.data == "exact" or self.trained == "matrices",
            f'training.data is "{settings.training.data}", and samples need W and a in full, but what is trained is '
            f'"{self.trained}". Use task.trained matrices, or training.data exact.',
        )

    @property
    def NUMBERS(self) -> tuple[str, ...]:  # noqa: N802 - of most tasks a constant
        """In coordinates all sizes share a program."""
        return ("repeated",) if self.trained == "matrices" else ("dimension", "length", "copies", "repeated")

    @property
    def reads(self) -> int:
        """Tokens that the model reads; in coordinates it reads none."""
        return self.length if self.trained == "matrices" else 0

    @property
    def predicted(self) -> int:
        return min(1, self.reads)

    @property
    def inputs(self) -> int:
        return self.dimension if self.trained == "matrices" else 0

    @property
    def outputs(self) -> int:
        return self.inputs

    @property
    def size(self) -> str:
        """d = 64, T = 256; copies and repetition where there are any."""
        more = (f", B = {self.copies}" if self.copies > 1 else "") + (
            f", p = {self.repeated:g}" if self.repeated else ""
        )
        return f"d = {self.dimension}, T = {self.length}{more}"

    @property
    def closed_form(self) -> Any:
        """sqrt(pi/2) T / (r sqrt(k B)), k = B where the gap is trained and T/(T-B) else: when attention blows up."""
        return (math.pi / 2) ** 0.5 / self._rate

    @property
    def _rate(self) -> Any:
        """l = r sqrt(k B) / T."""
        return self._signal * (self._pull * self.copies) ** 0.5 / self.length

    @property
    def _signal(self) -> Any:
        """r = sqrt(s~^2 + (d-1) s^2): how strongly x_T and y* are correlated; 1/sqrt(d) without repetition."""
        along, across = self._variances
        return (along**2 + (self.dimension - 1) * across**2) ** 0.5

    @property
    def _pull(self) -> Any:
        """k: forces on T logits sum to zero; a gap that all B copies share gets the forces on all of them."""
        return self.copies if self.trained == "gap" else self.length / (self.length - self.copies)

    @property
    def _variances(self) -> Any:
        """s~ and s."""
        across = (1 - self.repeated) / self.dimension
        return self.repeated + across, across

    def about(self) -> About:
        return About(
            title=f"Single-location regression by a toy model, {self.length} tokens in {self.dimension} dimensions",
            rungs=self.rungs,
            loss="half the squared error",
            unit="",
            measures=(
                ("attention_relevant", "attention on the token that matters"),
                ("gain", "how much of W* is learnt: <W, W*>/d"),
                ("gain_repeated", "the same on the repeated vector alone"),
            ),
        )

    def world(self, key: PRNGKeyArray) -> Float[Array, ...]:
        """W*: a random orthogonal matrix; in coordinates nothing depends on it."""
        return jax.random.orthogonal(key, self.dimension) if self.trained == "matrices" else jnp.zeros(())

    def parameters(self, world: Array, key: PRNGKeyArray) -> dict[str, Array]:
        """W = 0, a = 0."""
        if self.trained == "matrices":
            return {"W": jnp.zeros_like(world), "a": jnp.zeros(self.length)}
        return {"repeated": jnp.zeros(()), "other": jnp.zeros(()), "gap": jnp.zeros(())}

    def overlap(self, world: Array, parameters: dict[str, Array]) -> Overlap:
        """What the parameters share with W* and with the copies."""
        if self.trained == "matrices":
            attention, own = jax.nn.softmax(parameters["a"]), parameters["W"]
            copy = jnp.arange(self.length) >= self.length - self.copies
            seen, noise = jnp.sum(jnp.where(copy, attention, 0)), jnp.sum(jnp.where(copy, 0, attention) ** 2)
            size, along = jnp.sum(own**2, axis=0), jnp.sum(own * world, axis=0)
            return Overlap(seen, noise, jnp.sum(size), size[0], jnp.sum(along), along[0])
        others, repeated, other = self.length - self.copies, parameters["repeated"], parameters["other"]
        # A gap of T logits moves by T/(T-B) of the force on a copy's logit, and the gap of which this is a parameter
        # by B times it: as long a way in the space of logits.
        stretch = 1.0 if self.trained == "gap" else jnp.sqrt(self.length / (others * self.copies))
        seen = self.copies / (self.copies + others * jnp.exp(-stretch * parameters["gap"]))
        along = repeated + jnp.sqrt(self.dimension - 1.0) * other
        return Overlap(seen, (1 - seen) ** 2 / others, repeated**2 + other**2, repeated**2, along, repeated)

    def expected_loss(self, world: Array, parameters: dict[str, Array]) -> Float[Array, ""]:
        """1/2 E|y - y*|^2."""
        return self._distance(self.overlap(world, parameters), 1.0, 1.0)

    def expected_distances(self, world: Array, parameters: dict[str, Array]) -> Float[Array, " rung"]:
        """To 0; to W* times the mean of all tokens, which one says who does not know which matters; and to y*."""
        own = self.overlap(world, parameters)
        return jnp.stack([self._distance(own, *rung) for rung in self._rungs])

    def expected_rung_losses(self, world: Array) -> Float[Array, " rung"]:
        d, others = self.dimension, self.length - self.copies
        held = [Overlap(seen, (1 - seen) ** 2 / others, gain * d, gain, gain * d, gain) for gain, seen in self._rungs]
        return jnp.stack([jnp.asarray(self._distance(each, 1.0, 1.0), float) for each in held])

    @property
    def _rungs(self) -> tuple[tuple[float, Any], ...]:
        """(how much of W*, with which attention on the copies) of every rung."""
        return ((0.0, 1.0), (1.0, self.copies / self.length), (1.0, 1.0))

    def _distance(self, own: Overlap, gain: float, seen: Any) -> Any:
        """1/2 E|W X softmax(a) - gain W* X s|^2, where s has `seen` on the copies and the rest evenly on the others.

        1/2 [ tr (S W - R W*) C (S W - R W*)^T + sum_t |a_t W - b W*|^2 / d ], C = diag(s~, s, .., s) and t the others.
        """
        d, others, (along, across) = self.dimension, self.length - self.copies, self._variances
        share, rest = gain * seen, gain * (1 - seen) / others
        repeated = own.seen**2 * own.size_repeated - 2 * own.seen * share * own.along_repeated + share**2
        whole = own.seen**2 * own.size - 2 * own.seen * share * own.along + share**2 * d
        noise = own.noise * own.size - 2 * (1 - own.seen) * rest * own.along + others * rest**2 * d
        return 0.5 * (along * repeated + across * (whole - repeated) + noise / d)

    def parameter_measures(self, world: Array, parameters: dict[str, Array]) -> dict[str, Array]:
        """With the names and shapes that a transformer on the same task has: one layer, one head."""
        own = self.overlap(world, parameters)
        return {
            "attention_relevant": own.seen[None, None],
            "gain": own.along / self.dimension,
            "gain_repeated": own.along_repeated,
        }

    def facts(self, world: Array) -> dict[str, Any]:
        """What theory says of the plateau, in time: its closed form, and the escape time of the linearised loss.

        arcsinh(eps (T / (B r)) sqrt(k/B)) / (2 l), when that loss has fallen by the share eps.
        """
        size = self.copies * self._signal / self.length * (self.copies / self._pull) ** 0.5
        return {"closed_form": self.closed_form, "escape_time": jnp.arcsinh(ESCAPED / size) / (2 * self._rate)}

    def tests(self) -> dict[str, Toy]:
        """Without cross-sample repetition."""
        return {"": with_numbers(self, {"repeated": 0.0})}

    def samples(self, world: Array, key: PRNGKeyArray, count: int) -> Example:
        """`count` samples with their repetitions, within the context and across samples."""
        normal, chance = jax.random.split(key)
        tokens = jax.random.normal(normal, (self.length, count, self.dimension)) / jnp.sqrt(self.dimension)
        again = jax.random.bernoulli(chance, self.repeated, (count, 1))
        last = jnp.where(again, jnp.eye(self.dimension)[0], tokens[-1])
        copy = (jnp.arange(self.length) >= self.length - self.copies)[:, None, None]
        tokens = jnp.where(copy, last, tokens)
        return Example(jnp.swapaxes(tokens, 0, 1), (last @ world.T)[:, None])

    def sample(self, world: Array, key: PRNGKeyArray) -> Example:
        return jax.tree.map(lambda leaf: leaf[0], self.samples(world, key, 1))

    def answer(self, world: Array, parameters: dict[str, Array], example: Example) -> Answer:
        """W sum_t softmax(a)_t x_t."""
        attention = jax.nn.softmax(parameters["a"])
        return Answer((parameters["W"] @ (attention @ example.inputs))[None], attention[None, None, None])


def toy_settings(task: Toy, samples: int | None = None, *, seen: bool = True) -> Settings[Toy, None]:
    """Full-batch descent on the expectation in float64, or on a training set, until the loss is at most 0.1.

    Ours: what is trained in full has ten closed forms of its plateau for it; a run goes on for half of its plateau.
    Where curves are not to be `seen`, few evaluations will do: when a plateau ends is known to the step all the same.
    """
    from headway.settings.training import plain_descent
    from headway.tasks.run import Settings

    training = plain_descent(
        learning_rate=1.0,
        steps=STEPS if task.trained != "matrices" else round_up(10 * task.closed_form),
        threshold=0.1,
        data="exact",
        precision="float64",
    )
    if samples is not None:
        training = replace(training, data="finite", precision="float32", batch=samples, samples=samples)
    return Settings(task, None, training, looks(seen))


def looks(seen: bool) -> EvaluationSettings:
    """Evaluations of which curves are made; or as few as will do."""
    from headway.settings import EvaluationSettings

    every, growth = (1, 0.02) if seen else (ROUND, 0.25)
    return EvaluationSettings(every=every, growth=growth, losses="mean")


def round_up(steps: float) -> int:
    return math.ceil(steps / ROUND) * ROUND
