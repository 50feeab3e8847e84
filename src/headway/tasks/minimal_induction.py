"""The minimal model of statistical induction (Edelman et al. 2024): k^2 + T numbers on in-context Markov chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from headway.lazily import Array, Float, PRNGKeyArray, jax, jnp
from headway.records import About
from headway.settings.checks import require
from headway.settings.training import EvaluationSettings, plain_descent
from headway.tasks.in_context_chain import InContextChain
from headway.tasks.task import Answer, Example

SHOWN = 8
"""Distances whose codes are kept."""


@dataclass(frozen=True)
class MinimalInduction(InContextChain):
    """y_i = sum_j softmax_{j <= i}(v_{i-j}) e_{x_j}, logits_t = sum_{i <= t} (e_{x_t}^T W y_i) e_{x_i}.

    Layer 1 attends by distance alone, layer 2 compares what it found with the present token. An induction head is
    v = large at distance 1, W = large on its diagonal.
    """

    NAME: ClassVar[str] = "minimal-induction"

    masked: bool = True
    """Layer 1 sees nothing of the future, as printed; the published code lets it see everything."""
    start: float = 0.01
    """What every entry of W is at first; v is 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.order == 1,
            f"task.order is {self.order}, but the minimal model knows what the last token was, and no more. Use 1.",
        )

    @classmethod
    def usual(cls) -> Any:
        """SGD, v a hundred times as fast as W, as published."""
        from headway.tasks.run import Settings

        training = plain_descent(
            learning_rate=1.0,
            groups=(("W", 0.01, 1.0),),
            steps=2000,
            batch=128,
            data="fresh",
            test_samples=512,
        )
        return Settings(cls(), None, training, EvaluationSettings(every=20, snapshots=4, losses="mean"))

    def about(self) -> About:
        usual = super().about()
        return About(
            title=f"{usual.title}, minimal model{'' if self.masked else ' without a mask'}",
            rungs=usual.rungs,
            loss=usual.loss,
            measures=(
                ("attention_back_1", "attention of layer 1 on the token before"),
                ("gain_same", "W's diagonal"),
                ("gain_other", "W beside its diagonal"),
            ),
        )

    def parameters(self, key: PRNGKeyArray) -> dict[str, Array]:
        """Nothing is random: seeds differ in their data alone."""
        distances = self.length if self.masked else 2 * self.length - 1
        return {"W": jnp.full((self.states, self.states), self.start), "v": jnp.zeros(distances)}

    def answer(self, parameters: dict[str, Array], example: Example) -> Answer:
        attention = self.attention(parameters["v"])
        tokens = jax.nn.one_hot(example.inputs, self.states)
        found = tokens @ parameters["W"] @ (attention @ tokens).T
        return Answer(jnp.tril(found) @ tokens, attention[None, None])

    def attention(self, v: Float[Array, " distance"]) -> Float[Array, "time time"]:
        """softmax over j of v_{i-j}, j <= i or all of them; v_0 comes first, or in the middle."""
        place = jnp.arange(self.length)
        far = place[:, None] - place
        if not self.masked:
            return jax.nn.softmax(v[far + self.length - 1])
        return jax.nn.softmax(jnp.where(far >= 0, v[jnp.maximum(far, 0)], -jnp.inf))

    def measures(self, example: Example, reading: Any) -> dict[str, Array]:
        return {"attention_back_1": jnp.mean(jnp.diagonal(reading.attention, -1, 2, 3), axis=-1)}

    def parameter_measures(self, parameters: dict[str, Array]) -> dict[str, Array]:
        """W's diagonal and the rest, in the mean, and v_0 .. v_7."""
        same, every = jnp.mean(jnp.diagonal(parameters["W"])), jnp.mean(parameters["W"])
        first = 0 if self.masked else self.length - 1
        return {
            "gain_same": same,
            "gain_other": (self.states * every - same) / (self.states - 1),
            "codes": jax.lax.dynamic_slice_in_dim(parameters["v"], first, min(SHOWN, self.length)),
        }
