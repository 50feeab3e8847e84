"""The regression of paper A, section 3.1: heads of softmax attention, and what the gradient flow is the theory of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from headway.lazily import Array, Float, PRNGKeyArray, jax, jnp
from headway.records import About
from headway.settings.checks import require, require_number, require_whole
from headway.settings.flows import FeatureSettings
from headway.tasks.feature_draws import near_uniform_attention, random_features
from headway.tasks.task import Example

if TYPE_CHECKING:
    from headway.tasks.run import Settings

World = dict[str, Any]
Parameters = dict[str, Array]


@dataclass(frozen=True)
class Regression(FeatureSettings):
    """y* = sum_k m_k V_k* x_k + noise, learned by y = sum_k V_k X softmax(q_k) from V_k = 0, X white.

    Feature k sits at position k, the other positions at the end hold nothing:

        position:   1    2    3    4  5  6 ..
        holds:     m_1  m_2  m_3   nothing        (three features)

    With G = sum_k m_k V_k* (x) e_k and P = sum_k V_k (x) softmax(q_k) the loss over all samples is 1/2 ||G - P||^2, and
    half the noise. A learner that has found the first i features predicts by rung i; the loss waits at
    1/2 sum_{j > i} m_j^2. A seed has the features and the start of the flow's.
    """

    NAME: ClassVar[str] = "regression"
    GROUP: ClassVar[str] = "task."

    dimension: int = 8
    """d: size of the vectors; the flow, and descent on the expected loss, do not depend on it."""
    label_noise: float = 0.01
    """Variance of the noise in each coordinate of y*."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("task.dimension", self.dimension, 1)
        require(
            self.features <= self.dimension**2,
            f"{self.features} orthogonal features do not fit into {self.dimension} x {self.dimension} matrices. "
            "Use a larger task.dimension.",
        )
        require_number("task.label_noise", self.label_noise, least=0)

    @classmethod
    def usual(cls) -> Settings[Regression, None]:
        """Gradient descent on the expected loss, in small steps, without momentum: the flow has none (ours)."""
        from headway.settings import EvaluationSettings
        from headway.settings.training import plain_descent
        from headway.tasks.run import Settings

        training = plain_descent(
            learning_rate=0.01,
            steps=30_000,
            batch=256,
            data="exact",
            precision="float64",
        )
        return Settings(cls(), None, training, EvaluationSettings(losses="mean"))

    @property
    def rungs(self) -> tuple[str, ...]:
        return tuple(f"{count} feature{'' if count == 1 else 's'}" for count in range(self.features + 1))

    @property
    def levels(self) -> tuple[float, ...]:
        """Half-way from plateau to plateau: where a stage changes."""
        levels = self.plateaus
        return tuple((levels[i] + levels[i + 1]) / 2 for i in range(self.features))

    def about(self) -> About:
        heads, count = self.head_count, self.features
        return About(
            title=f"{heads} head{'' if heads == 1 else 's'} of attention learn{'s' if heads == 1 else ''} "
            f"{count} feature{'' if count == 1 else 's'}",
            rungs=self.rungs,
            loss="half the squared error",
            unit="",
            groups=tuple((f"position {k}", (k,)) for k in range(1, count + 1)),
        )

    def world_of_seed(self, seed: int) -> World:
        """V_1* .. V_h*, a row each, and the s_k near uniform from which the heads start."""
        return {
            "features": random_features(seed, self.features, self.dimension),
            "attention": near_uniform_attention(seed, self.head_count, self.length, self.noise**0.5),
        }

    def parameters(self, world: World, key: PRNGKeyArray) -> Parameters:
        """V_k = 0, written out as rows, and q_k = log s_k."""
        logits = jnp.log(world["attention"])
        return {"V": jnp.zeros((self.head_count, self.dimension**2), logits.dtype), "q": logits}

    def _target(self, world: World, count: int) -> Float[Array, "size position"]:
        """G with its first `count` features."""
        own = jnp.asarray(np.where(np.arange(self.features) < count, self.strengths, 0.0), world["features"].dtype)
        empty = jnp.zeros((self.dimension**2, self.length), own.dtype)
        return empty.at[:, : self.features].set(world["features"].T * own)

    def _distance(self, world: World, parameters: Parameters, count: int) -> Float[Array, ""]:
        learned = parameters["V"].T @ jax.nn.softmax(parameters["q"])
        return 0.5 * jnp.sum((self._target(world, count) - learned) ** 2)

    def expected_loss(self, world: World, parameters: Parameters) -> Float[Array, ""]:
        """1/2 ||G - P||^2: that of the noise is left out, of which nothing can be learned."""
        return self._distance(world, parameters, self.features)

    def expected_distances(self, world: World, parameters: Parameters) -> Float[Array, " rung"]:
        return jnp.stack([self._distance(world, parameters, count) for count in range(self.features + 1)])

    def expected_rung_losses(self, world: World) -> Float[Array, " rung"]:
        return jnp.asarray(self.plateaus)

    def parameter_measures(self, world: World, parameters: Parameters) -> dict[str, Array]:
        """Attention of every head on the features' positions, and <V_k, V_j*>: both (head, feature)."""
        attention = jax.nn.softmax(parameters["q"])[:, : self.features]
        return {"attention": attention, "values": parameters["V"] @ world["features"].T}

    def samples(self, world: World, key: PRNGKeyArray, count: int) -> Example:
        """White X, a column a position, and y* with its noise."""
        for_samples, for_noise = jax.random.split(key)
        tokens = jax.random.normal(for_samples, (count, self.dimension, self.length))
        noise = jnp.sqrt(self.label_noise) * jax.random.normal(for_noise, (count, self.dimension))
        strengths = jnp.asarray(self.strengths, tokens.dtype)
        matrices = (strengths[:, None] * world["features"]).reshape(-1, self.dimension, self.dimension)
        truth = jnp.einsum("jab,nbj->na", matrices, tokens[..., : self.features]) + noise
        return Example(jnp.swapaxes(tokens, 1, 2), truth[:, None])

    def sample(self, world: World, key: PRNGKeyArray) -> Example:
        return jax.tree.map(lambda leaf: leaf[0], self.samples(world, key, 1))

    def answer(self, world: World, parameters: Parameters, example: Example) -> Float[Array, "1 dimension"]:
        """sum_k V_k X softmax(q_k)."""
        seen = jax.nn.softmax(parameters["q"]) @ example.inputs
        matrices = parameters["V"].reshape(-1, self.dimension, self.dimension)
        return jnp.einsum("kab,kb->a", matrices, seen)[None]
