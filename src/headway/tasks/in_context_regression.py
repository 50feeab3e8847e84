"""In-context linear regression of Zhang et al. (2025), and linear attention that learns it from its moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from headway.lazily import Array, Float, PRNGKeyArray, jax, jnp
from headway.records import About
from headway.settings.checks import require, require_number, require_whole, settle

if TYPE_CHECKING:
    from headway.tasks.run import Settings

AT_A_TIME = 2000
"""Sequences of a training set whose moments are summed up together."""


class Moments(NamedTuple):
    """All that the loss of a linear model depends on, z = vec(beta x_q^T): E y^2, E y z, E z z^T."""

    power: Float[Array, ""]
    target: Float[Array, " square"]
    second: Float[Array, "square square"]


@dataclass(frozen=True)
class InContextRegression:
    """y_q from N pairs (x_n, y_n) and x_q, x ~ N(0, L) in R^D, y = w.x, w ~ N(0, I) anew in each sequence.

    Linear attention answers beta^T M x_q, beta = sum_n y_n x_n, whatever its heads are:

        merged     M = sum_i v_i U_i
        separate   M = sum_i v_i sum_r k_ir q_ir^T, rank R
        network    the same as merged, written as a network of two layers on z = vec(beta x_q^T)

    The loss, E (y - beta^T M x_q)^2, depends on the data through `Moments` only: descent on all sequences of a training
    set at once is exact. The rungs are in-context regression on the first m principal components, m = 0 .. D.
    """

    NAME: ClassVar[str] = "in-context-regression"

    spectrum: tuple[float, ...] = (4.0, 3.0, 2.0, 1.0)
    """Eigenvalues of L, the largest first, in these ratios; they add up to 1."""
    pairs: int = 31
    """N."""
    sequences: int = 5000
    """In the training set, with w whitened; 0 stands for all there are."""
    sums: bool = True
    """Whether beta is the sum over the pairs, as in the authors' code, or their mean: its rates differ by N."""
    heads: int = 8
    """H."""
    parts: Literal["merged", "separate", "network"] = "merged"
    """What keys and queries are made of."""
    rank: int = 1
    """R, of separate keys and queries."""
    start: float = 1e-6
    """Standard deviation of every parameter at the start."""
    balanced: bool = False
    """Start instead with |v| = |k| = |q| = `start`, head i along eigenvector i, as in the theory of separate heads."""

    def __post_init__(self) -> None:
        settle(self, "task.")
        for name, least in (("pairs", 1), ("sequences", 0), ("heads", 1), ("rank", 1)):
            require_whole(f"task.{name}", getattr(self, name), least)
        require_number("task.start", self.start, above=0)
        falling = list(self.spectrum) == sorted(self.spectrum, reverse=True) and min(self.spectrum, default=0) > 0
        require(
            len(self.spectrum) > 0 and falling,
            f"task.spectrum is {self.spectrum}, but it must be positive numbers, the largest first, as in 4 3 2 1.",
        )
        require(
            self.rank == 1 or self.parts == "separate",
            f"task.rank is {self.rank}, but only separate keys and queries have one. Use task.parts separate.",
        )
        require(
            not self.balanced or (self.parts == "separate" and self.rank == 1),
            "task.balanced is for separate keys and queries of rank 1. Use task.parts separate, or another start.",
        )

    @classmethod
    def usual(cls) -> Settings[InContextRegression, None]:
        """Merged heads of the paper: whole-batch descent from 1e-6."""
        from headway.settings import EvaluationSettings
        from headway.settings.training import plain_descent
        from headway.tasks.run import Settings

        training = plain_descent(
            learning_rate=0.001,
            steps=6000,
            data="exact",
            precision="float64",
        )
        return Settings(cls(), None, training, EvaluationSettings(every=25, snapshots=0, losses="mean"))

    @property
    def dimension(self) -> int:
        """D."""
        return len(self.spectrum)

    @property
    def eigenvalues(self) -> tuple[float, ...]:
        return tuple(each / sum(self.spectrum) for each in self.spectrum)

    @property
    def gain(self) -> int:
        """How many times the mean over the pairs beta is."""
        return self.pairs if self.sums else 1

    @property
    def rungs(self) -> tuple[str, ...]:
        counts = range(1, self.dimension + 1)
        return ("no component", *(f"{m} component{'s' if m > 1 else ''}" for m in counts))

    def about(self) -> About:
        heads = {
            "merged": "merged keys and queries",
            "separate": f"keys and queries of rank {self.rank}",
            "network": "a network of two layers",
        }
        sizes = (
            ("value_size", "|v| of each head"),
            ("key_size", "|k| of each head"),
            ("query_size", "|q| of each head"),
            ("aligned", "how parallel k and q are to one eigenvector: the largest |k_d q_d| / |k| |q|"),
        )
        return About(
            title=f"In-context regression in {self.dimension} dimensions by {heads[self.parts]}",
            rungs=self.rungs,
            loss="squared error",
            unit="",
            measures=sizes if self.parts == "separate" and self.rank == 1 else (),
        )

    def world(self, key: PRNGKeyArray) -> Moments:
        """The moments of this seed's training set, or of all sequences."""
        eigenvalues = jnp.asarray(self.eigenvalues)
        if self.sequences:
            return self._of_a_set(key, jnp.sqrt(eigenvalues))
        beta = eigenvalues**2 + (eigenvalues + 1) * eigenvalues / self.pairs
        second = jnp.kron(jnp.diag(beta), jnp.diag(eigenvalues)) * self.gain**2
        return Moments(jnp.sum(eigenvalues), self.gain * jnp.diag(eigenvalues**2).ravel(), second)

    def _of_a_set(self, key: PRNGKeyArray, deviations: Float[Array, " dimension"]) -> Moments:
        weights_key, inputs_key = jax.random.split(key)
        weights = whitened(jax.random.normal(weights_key, (self.sequences, self.dimension)))

        def one(each: tuple[Array, Array]) -> Moments:
            place, w = each
            own = jax.random.fold_in(inputs_key, place)
            x = jax.random.normal(own, (self.pairs + 1, self.dimension)) * deviations
            beta = jnp.sum((x[:-1] @ w)[:, None] * x[:-1], axis=0) * (self.gain / self.pairs)
            z, y = jnp.outer(beta, x[-1]).ravel(), x[-1] @ w
            return Moments(y**2, y * z, jnp.outer(z, z))

        chunks = -(-self.sequences // AT_A_TIME)
        pieces = self.sequences // chunks

        def added(total: Moments, piece: Array) -> tuple[Moments, None]:
            places = piece * pieces + jnp.arange(pieces)
            found = jax.vmap(lambda place: one((place, weights[place])))(places)
            return jax.tree.map(lambda all_of, own: all_of + jnp.sum(own, axis=0), total, found), None

        square = self.dimension**2
        nothing = Moments(jnp.zeros(()), jnp.zeros(square), jnp.zeros((square, square)))
        total, _ = jax.lax.scan(added, nothing, jnp.arange(chunks))
        return jax.tree.map(lambda each: each / (chunks * pieces), total)

    def parameters(self, _world: Moments, key: PRNGKeyArray) -> dict[str, Array]:
        """N(0, start^2); merged heads and the network's rows are the same numbers."""
        value_key, key_key, query_key = jax.random.split(key, 3)
        size, values = self.dimension, jax.random.normal(value_key, (self.heads,))
        if self.parts != "separate":
            matrices = jax.random.normal(key_key, (self.heads, size, size))
            if self.parts == "network":
                return {"outer": self.start * values, "inner": self.start * matrices.reshape(self.heads, -1)}
            return {"v": self.start * values, "U": self.start * matrices}
        if self.balanced:
            along = self.start * jnp.eye(self.heads, size)[:, None]
            return {"v": jnp.full(self.heads, self.start), "k": along, "q": along}
        shape = (self.heads, self.rank, size)
        keys, queries = jax.random.normal(key_key, shape), jax.random.normal(query_key, shape)
        return {"v": self.start * values, "k": self.start * keys, "q": self.start * queries}

    def _matrix(self, parameters: dict[str, Array]) -> Float[Array, " square"]:
        """vec M."""
        if self.parts == "network":
            return parameters["outer"] @ parameters["inner"]
        if self.parts == "merged":
            return jnp.einsum("h,hde->de", parameters["v"], parameters["U"]).ravel()
        return jnp.einsum("h,hrd,hre->de", parameters["v"], parameters["k"], parameters["q"]).ravel()

    def _best(self) -> Float[Array, "rung square"]:
        """vec M of every rung: 1 / (l_d c_d) for d <= m, c_d = 1 + (1 + 1 / l_d) / N."""
        own = jnp.asarray([1 / (each * (1 + (1 + 1 / each) / self.pairs)) / self.gain for each in self.eigenvalues])
        known = jnp.arange(self.dimension) < jnp.arange(self.dimension + 1)[:, None]
        return jax.vmap(lambda row: jnp.diag(row).ravel())(jnp.where(known, own, 0))

    def expected_loss(self, world: Moments, parameters: dict[str, Array]) -> Float[Array, ""]:
        """E (y - beta^T M x_q)^2."""
        return _loss(world, self._matrix(parameters))

    def expected_distances(self, world: Moments, parameters: dict[str, Array]) -> Float[Array, " rung"]:
        """1/2 E (difference of the two answers)^2."""
        apart = self._best() - self._matrix(parameters)
        return 0.5 * jnp.einsum("rs,st,rt->r", apart, world.second, apart)

    def expected_rung_losses(self, world: Moments) -> Float[Array, " rung"]:
        return jax.vmap(lambda matrix: _loss(world, matrix))(self._best())

    def parameter_measures(self, _world: Moments, parameters: dict[str, Array]) -> dict[str, Array]:
        """Sizes of separate heads of rank 1, how near each is to one eigenvector, and to which: (1, head)."""
        if self.parts != "separate" or self.rank != 1:
            return {}
        value, keys, queries = parameters["v"], parameters["k"][:, 0], parameters["q"][:, 0]
        sizes = jnp.linalg.norm(keys, axis=1), jnp.linalg.norm(queries, axis=1)
        along = jnp.abs(keys * queries)
        found = {
            "value_size": jnp.abs(value),
            "key_size": sizes[0],
            "query_size": sizes[1],
            "aligned": jnp.max(along, axis=1) / (sizes[0] * sizes[1]),
            "direction": jnp.argmax(along, axis=1) + 1,
        }
        return {name: each[None].astype(jnp.float32) for name, each in found.items()}


def whitened(weights: Float[Array, "sequence dimension"]) -> Float[Array, "sequence dimension"]:
    """The same vectors with E w w^T = I exactly."""
    values, vectors = jnp.linalg.eigh(weights.T @ weights / len(weights))
    return weights @ (vectors / jnp.sqrt(values)) @ vectors.T


def _loss(world: Moments, matrix: Float[Array, " square"]) -> Float[Array, ""]:
    """E y^2 - 2 m . E y z + m^T E z z^T m."""
    return world.power - 2 * matrix @ world.target + matrix @ world.second @ matrix
