"""Single-location regression of paper B: find the one vector that matters, and map it."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Num, PRNGKeyArray

from headway.settings import LocationTaskSettings
from headway.tasks.features import haar

Count = Num[Array, ""] | int
Probability = Float[Array, ""] | float


class LocationExample(NamedTuple):
    """What a model reads, what it should answer at its last position, and where the answer is to be found."""

    inputs: Float[Array, "read input"]
    target: Float[Array, " dimension"]
    relevant: Bool[Array, " read"]


class SingleLocation(eqx.Module):
    """y* = W* x_s with x_t ~ N(0, I/d), t = 1..T, and W* orthogonal, so that E|y*|^2 = 1 and silence costs 1/2.

    With T = 4, one copy, and the mark as the last row; the model answers at the empty position behind the dots:

        x:     x_1  x_2  x_3  x_4 : 0        y* = W* x_3
        mark:   0    0    1    0  : 0

    With B copies the relevant vector stands, marked, at B positions: x_3  x_2  x_3  x_4 with the marks 1 0 1 0. With
    cross-sample repetition it is, with probability p, the same unit vector `favourite` in every sequence. The empty
    position is ours: if the answer were read off one of the T, the residual path could carry it there by itself.
    """

    matrix: Float[Array, "dimension dimension"]
    favourite: Float[Array, " dimension"]
    length: int = eqx.field(static=True)
    random: bool = eqx.field(static=True)
    mark: bool = eqx.field(static=True)

    def sample(self, key: PRNGKeyArray, copies: Count, repeated: Probability) -> LocationExample:
        """One sequence with B = `copies` and p = `repeated`, both of which may be traced."""
        place_key, noise_key, choice_key = jax.random.split(key, 3)
        dimension = len(self.matrix)
        relevant = self._places(place_key, copies)
        noise = jax.random.normal(noise_key, (self.length + 1, dimension)) / jnp.sqrt(dimension)
        usual = jax.random.uniform(choice_key) < repeated
        wanted = jnp.where(usual, self.favourite, noise[-1])
        vectors = jnp.where(relevant[:, None], wanted, noise[:-1])
        marks = relevant.astype(vectors.dtype) * self.mark
        inputs = jnp.concatenate([vectors, marks[:, None]], axis=1)
        empty = jnp.zeros((1, dimension + 1), inputs.dtype)
        # Exact whatever precision the model is trained in.
        target = jnp.matmul(self.matrix, wanted, precision="highest")
        return LocationExample(jnp.concatenate([inputs, empty]), target, jnp.append(relevant, False))

    def _places(self, key: PRNGKeyArray, copies: Count) -> Bool[Array, " {self.length}"]:
        """Which of the T positions hold the relevant vector: any set of B, or the last B."""
        if not self.random:
            return jnp.arange(self.length) >= self.length - copies
        order = jax.random.permutation(key, self.length)
        return order < copies

    @property
    def optimum(self) -> float:
        """The least loss that a model can reach without repetition, 1/2 E|y - y*|^2.

        0 where the relevant position can be known. Else every position is as likely as any other, the best guess is
        W* times the mean of all vectors, and its loss is (1 - 1/T) / 2.
        """
        return 0.0 if self.mark or not self.random else 0.5 * (1 - 1 / self.length)


def single_location(settings: LocationTaskSettings, key: PRNGKeyArray) -> SingleLocation:
    """A task with a freshly drawn W* (Haar) and favourite (uniform on the sphere)."""
    matrix_key, favourite_key = jax.random.split(key)
    direction = jax.random.normal(favourite_key, (settings.dimension,))
    return SingleLocation(
        haar(matrix_key, settings.dimension),
        direction / jnp.linalg.norm(direction),
        settings.length,
        settings.position == "random",
        settings.mark,
    )
