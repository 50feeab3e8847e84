"""The same in-context regression by softmax attention, which no moments describe: sequences are read one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from headway.lazily import Array, Float, PRNGKeyArray, jax, jnp
from headway.records import About
from headway.settings.checks import require_number, require_whole, settle
from headway.tasks.task import Example

if TYPE_CHECKING:
    from headway.tasks.run import Settings


@dataclass(frozen=True)
class SoftmaxRegression:
    """y_q from N pairs: y = sum_i v_i sum_n softmax_n(x_n^T U_i x_q) y_n, U_i merged or k_i q_i^T.

    The query stands among the keys, with y = 0. The rungs are those of linear attention, regression on the first m
    principal components, with beta the mean over the pairs.
    """

    NAME: ClassVar[str] = "softmax-regression"

    spectrum: tuple[float, ...] = (4.0, 3.0, 2.0, 1.0)
    """Eigenvalues of L, the largest first, in these ratios; they add up to 1."""
    pairs: int = 31
    """N."""
    heads: int = 8
    """H."""
    parts: Literal["merged", "separate"] = "merged"
    """What keys and queries are made of."""
    start: float = 0.005
    """Standard deviation of every parameter at the start."""

    def __post_init__(self) -> None:
        settle(self, "task.")
        require_whole("task.pairs", self.pairs, 1)
        require_whole("task.heads", self.heads, 1)
        require_number("task.start", self.start, above=0)

    @classmethod
    def usual(cls) -> Settings[SoftmaxRegression, None]:
        """Whole-batch descent on a training set. Ours: rate, start and steps, of which nothing is known."""
        from headway.settings import EvaluationSettings
        from headway.settings.training import plain_descent
        from headway.tasks.run import Settings

        training = plain_descent(
            learning_rate=1.0,
            steps=2500,
            batch=1000,
            samples=1000,
            test_samples=1000,
        )
        return Settings(cls(), None, training, EvaluationSettings(every=20, growth=0.03, snapshots=0, losses="mean"))

    @property
    def dimension(self) -> int:
        """D."""
        return len(self.spectrum)

    @property
    def rungs(self) -> tuple[str, ...]:
        counts = range(1, self.dimension + 1)
        return ("no component", *(f"{m} component{'s' if m > 1 else ''}" for m in counts))

    def about(self) -> About:
        return About(
            title=f"In-context regression in {self.dimension} dimensions by softmax attention, {self.parts} keys",
            rungs=self.rungs,
            loss="squared error",
            unit="",
        )

    @property
    def _eigenvalues(self) -> Float[Array, " dimension"]:
        return jnp.asarray(self.spectrum) / sum(self.spectrum)

    def sample(self, key: PRNGKeyArray) -> Example:
        """Rows (x_n, y_n) and (x_q, 0)."""
        weights_key, inputs_key = jax.random.split(key)
        w = jax.random.normal(weights_key, (self.dimension,))
        x = jax.random.normal(inputs_key, (self.pairs + 1, self.dimension)) * jnp.sqrt(self._eigenvalues)
        y = x @ w
        return Example(jnp.concatenate([x, y.at[-1].set(0)[:, None]], axis=1), y[-1][None, None])

    def loss(self, outputs: Float[Array, "1 1"], example: Example) -> Float[Array, ""]:
        """(y - y_q)^2."""
        return jnp.sum((outputs - example.targets) ** 2)

    def ladder(self, example: Example) -> Float[Array, "rung 1 1"]:
        """sum_{d <= m} beta_d x_d / (l_d c_d)."""
        x, y = example.inputs[:, :-1], example.inputs[:, -1]
        noisy = 1 + (1 + 1 / self._eigenvalues) / self.pairs
        terms = (y @ x / self.pairs) * x[-1] / (self._eigenvalues * noisy)
        return jnp.append(0, jnp.cumsum(terms))[:, None, None]

    def parameters(self, key: PRNGKeyArray) -> dict[str, Array]:
        """N(0, start^2)."""
        value_key, key_key, query_key = jax.random.split(key, 3)
        drawn = {"v": jax.random.normal(value_key, (self.heads,))}
        if self.parts == "merged":
            drawn["U"] = jax.random.normal(key_key, (self.heads, self.dimension, self.dimension))
        else:
            drawn["k"] = jax.random.normal(key_key, (self.heads, self.dimension))
            drawn["q"] = jax.random.normal(query_key, (self.heads, self.dimension))
        return {name: self.start * each for name, each in drawn.items()}

    def answer(self, parameters: dict[str, Array], example: Example) -> Float[Array, "1 1"]:
        """Without attention for the page: the order of the pairs means nothing."""
        x, y = example.inputs[:, :-1], example.inputs[:, -1]
        if self.parts == "merged":
            scores = jnp.einsum("nd,hde,e->hn", x, parameters["U"], x[-1])
        else:
            scores = jnp.einsum("nd,hd,h->hn", x, parameters["k"], parameters["q"] @ x[-1])
        attention = jax.nn.softmax(scores, axis=1)
        return (parameters["v"] @ (attention @ y))[None, None]
