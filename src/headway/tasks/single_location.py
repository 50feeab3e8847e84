"""Single-location regression of paper B: find the one vector that matters, and map it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from headway.lazily import Array, Bool, Float, Int, PRNGKeyArray, jax, jnp
from headway.records import About
from headway.settings.checks import require, require_probability, require_whole, settle
from headway.tasks.features import haar
from headway.tasks.task import Example, with_numbers

if TYPE_CHECKING:
    from headway.tasks.run import Settings


class Map(NamedTuple):
    """What a seed has to learn: W*, the vector that cross-sample repetition repeats, and perhaps where to look."""

    matrix: Float[Array, "dimension dimension"]
    favourite: Float[Array, " dimension"]
    order: Int[Array, " length"] | None = None
    """Of positions that are drawn once: the relevant vector stands at the first B of them."""


@dataclass(frozen=True)
class SingleLocation:
    """y* = W* x_s with x_t ~ N(0, I/d), t = 1..T, and E|W*|_F^2 = d, so that E|y*|^2 = 1 and silence costs 1/2.

    With T = 4, one copy, and the mark as the last row; the model answers at the empty position behind the dots:

        x:     x_1  x_2  x_3  x_4 : 0        y* = W* x_3
        mark:   0    0    1    0  : 0

    With B copies the relevant vector stands, marked, at B positions: x_3  x_2  x_3  x_4 with the marks 1 0 1 0. With
    cross-sample repetition it is, with probability p, the same unit vector `favourite` in every sequence. The empty
    position is ours: where the answer is read off the last of the T, the residual path carries it there by itself
    whenever that is the relevant one.
    """

    NAME: ClassVar[str] = "single-location"
    NUMBERS: ClassVar[tuple[str, ...]] = ("copies", "repeated")

    length: int = 64
    """T: how many positions there are to look at, before an empty one at which the model answers."""
    dimension: int = 16
    """d: of every vector and of the answer."""
    position: Literal["random", "fixed", "drawn"] = "random"
    """Where the relevant vector is: anywhere in each sequence; always at the last of the T positions; or always at one
    that each seed draws for itself, which is not the last if the answer is read there."""
    mark: bool = True
    """Whether a further input says which position is relevant."""
    copies: int = 1
    """B: at how many positions the relevant vector stands (context repetition)."""
    repeated: float = 0.0
    """p: how probably the relevant vector is one that stays the same all along (cross-sample repetition)."""

    matrix: Literal["orthogonal", "gaussian"] = field(default="orthogonal", metadata={"added": "0.3"})
    """W*: orthogonal; or its entries N(0, 1/d), as the paper's appendix draws them."""
    read_at: Literal["behind", "last"] = field(default="behind", metadata={"added": "0.3"})
    """Where the model answers: at an empty position behind the T, or at the last of them."""

    rungs: ClassVar[tuple[str, ...]] = ("silence", "the mean of all positions", "the relevant position")

    def __post_init__(self) -> None:
        settle(self, "task.")
        require_whole("task.length", self.length, 1)
        require_whole("task.dimension", self.dimension, 1)
        require_whole("task.copies", self.copies, 1)
        require(
            self.copies <= self.length,
            f"{self.copies} copies do not fit on {self.length} positions. Use task.copies <= {self.length}.",
        )
        require_probability("task.repeated", self.repeated)
        require(
            self.position != "fixed" or self.read_at == "behind",
            'task.position "fixed" is the last of the T positions, where the model answers with task.read_at "last": '
            'nothing would have to be found. Use task.position "drawn", or task.read_at "behind".',
        )

    @classmethod
    def usual(cls) -> Settings[SingleLocation]:
        """Paper B's two layers of four heads of 64 without norm, and Adam on fresh samples until the plateau has ended.

        W* is Gaussian. Ours, because the appendix is silent: PyTorch's start of every linear map, biases and GELU, no
        mask, an answer at the last position; the tail, when it is measured and on how much.
        """
        from headway.tasks.run import plateau_settings

        return plateau_settings(cls(matrix="gaussian", read_at="last"), threshold=0.1)

    @property
    def reads(self) -> int:
        """Positions that the model reads: the T of the task and, if it is another, the one at which it answers."""
        return self.length + (self.read_at == "behind")

    @property
    def predicted(self) -> int:
        return 1

    @property
    def inputs(self) -> int:
        """Numbers that a position holds: the vector and the mark."""
        return self.dimension + 1

    @property
    def outputs(self) -> int:
        return self.dimension

    @property
    def optimum(self) -> float:
        """The least loss that a model can reach without repetition, 1/2 E|y - y*|^2.

        0 where the relevant position can be known. Else every position is as likely as any other, the best guess is
        W* times the mean of all vectors, and its loss is (1 - 1/T) / 2.
        """
        return 0.0 if self.mark or self.position != "random" else 0.5 * (1 - 1 / self.length)

    @property
    def silence(self) -> float:
        """1/2 E|y*|^2 = 1/2: what a model loses that answers 0."""
        return 0.5

    def about(self) -> About:
        return About(
            title=f"Single-location regression, {self.length} positions in {self.dimension} dimensions",
            rungs=self.rungs,
            loss="half the squared error",
            unit="",
            measures=(
                ("attention_relevant", "attention on the relevant position"),
                ("gain", "how much of W* is learnt: <y, y*> where every position is relevant"),
                ("loss_alone", "loss with a single copy of the relevant vector"),
            ),
        )

    def world(self, key: PRNGKeyArray) -> Map:
        """A freshly drawn W*, favourite (uniform on the sphere) and, where it stays, position."""
        matrix_key, favourite_key = jax.random.split(key)
        direction = jax.random.normal(favourite_key, (self.dimension,))
        if self.matrix == "gaussian":
            matrix = jax.random.normal(matrix_key, (self.dimension, self.dimension)) / jnp.sqrt(self.dimension)
        else:
            matrix = haar(matrix_key, self.dimension)
        order = self._order(jax.random.fold_in(key, 2)) if self.position == "drawn" else None
        return Map(matrix, direction / jnp.linalg.norm(direction), order)

    def _order(self, key: PRNGKeyArray) -> Int[Array, " {self.length}"]:
        """Which position is relevant first, second, ...; where the answer is read, last of all."""
        at_answer = jnp.arange(self.length - 1, self.length) if self.read_at == "last" else jnp.arange(0)
        return jnp.concatenate([jax.random.permutation(key, self.length - len(at_answer)), at_answer])

    def sample(self, world: Map, key: PRNGKeyArray) -> Example:
        """One sequence; B and p may be traced. `extra` says which of the positions read are relevant."""
        place_key, noise_key, choice_key = jax.random.split(key, 3)
        relevant = self._places(world, place_key)
        noise = jax.random.normal(noise_key, (self.length + 1, self.dimension)) / jnp.sqrt(self.dimension)
        usual = jax.random.uniform(choice_key) < self.repeated
        wanted = jnp.where(usual, world.favourite, noise[-1])
        vectors = jnp.where(relevant[:, None], wanted, noise[:-1])
        marks = relevant.astype(vectors.dtype) * self.mark
        inputs = jnp.concatenate([vectors, marks[:, None]], axis=1)
        answer = _mapped(world, wanted)[None]
        if self.read_at == "last":
            return Example(inputs, answer, extra=relevant)
        empty = jnp.zeros((1, self.inputs), inputs.dtype)
        return Example(jnp.concatenate([inputs, empty]), answer, extra=jnp.append(relevant, False))

    def _places(self, world: Map, key: PRNGKeyArray) -> Bool[Array, " {self.length}"]:
        """Which of the T positions hold the relevant vector: any set of B, the last B, or those that were drawn."""
        if self.position == "fixed":
            return jnp.arange(self.length) >= self.length - self.copies
        if world.order is not None:
            return jnp.zeros(self.length, bool).at[world.order].set(jnp.arange(self.length) < self.copies)
        return jax.random.permutation(key, self.length) < self.copies

    def ladder(self, world: Map, example: Example) -> Float[Array, "rung 1 dimension"]:
        """0; what a reader answers who does not know which position is relevant; and what one who knows answers."""
        vectors = example.inputs[: self.length, : self.dimension]
        mean = _mapped(world, jnp.mean(vectors, axis=0))
        return jnp.stack([jnp.zeros_like(mean), mean, example.targets[0]])[:, None]

    def tests(self) -> dict[str, SingleLocation]:
        """Never with cross-sample repetition: with the copies of the training; with one; with nothing but copies."""
        return {
            name: with_numbers(self, {"copies": copies, "repeated": 0.0})
            for name, copies in (("", self.copies), ("alone", 1), ("everywhere", self.length))
        }

    def measures(self, world: Map, example: Example, reading: Any, test: str) -> dict[str, Array]:
        """`gain` is E<y, y*> where every position is relevant, so that wherever a head looks it sees the same.

        It is what the toy model calls w / sqrt(d), read apart from attention.
        """
        if test == "alone":
            return {"loss_alone": 0.5 * jnp.sum((reading.logits[0] - example.targets[0]) ** 2)}
        if test == "everywhere":
            return {"gain": jnp.dot(reading.logits[0], example.targets[0])}
        relevant = example.extra.astype(reading.logits.dtype)
        return {"attention_relevant": jnp.stack([heads.pattern[:, -1] @ relevant for heads in reading.heads])}


def _mapped(world: Map, vector: Float[Array, " dimension"]) -> Float[Array, " dimension"]:
    """W* x, exact whatever precision the model is trained in."""
    return jnp.matmul(world.matrix, vector, precision="highest")
