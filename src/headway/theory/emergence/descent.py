"""y <- y + eta field(y): full-batch gradient descent on any of the systems, until its plateau has ended.

A run is looked at after given steps. It stops once the loss has been at most `threshold` and the time of that, the
plateau, has passed `tail` times, or after the most steps that it may take: what is censored has an infinite plateau.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from headway.theory.emergence.toy import Scalar

Field = Callable[[Any, Any], Any]
Measure = Callable[[Any, Any], dict[str, Scalar]]


class Rule(NamedTuple):
    """When a run ends."""

    threshold: Scalar
    tail: Scalar
    most: Int[Array, ""] | int
    """Steps."""


class Descent(NamedTuple):
    """What was seen of a run."""

    seen: dict[str, Float[Array, " time"]]
    """By name, NaN behind the end of the run."""
    plateau: Float[Array, ""]
    """The first step with a loss of at most the threshold; infinite if there was none, NaN if the run blew up."""


def descend(
    field: Field,
    measure: Measure,
    problem: Any,
    start: Any,
    rate: Scalar,
    looks: Int[Array, " time"],
    rule: Rule,
) -> Descent:
    """The run from `start`, seen after `looks` steps; `measure` must give the "loss"."""
    never = jnp.iinfo(jnp.int32).max

    def last(plateau: Array) -> Array:
        """The step behind which nothing more is done."""
        ended = (rule.tail * plateau.astype(jnp.float32)).astype(jnp.int32)
        return jnp.where(plateau == never, rule.most, jnp.minimum(ended, rule.most))

    def unfinished(carry: Any, until: Array) -> Array:
        step, _, plateau = carry
        return (step < until) & (step < last(plateau))

    def advance(carry: Any) -> Any:
        step, state, plateau = carry
        state = jax.tree.map(lambda part, speed: part + rate * speed, state, field(problem, state))
        there = measure(problem, state)["loss"] <= rule.threshold
        return step + 1, state, jnp.where(there & (plateau == never), step + 1, plateau)

    def go(carry: Any, until: Array) -> Any:
        return jax.lax.while_loop(lambda carry: unfinished(carry, until), advance, carry)

    def look(carry: Any, until: Array) -> Any:
        carry = go(carry, until)
        step, state, _ = carry
        numbers = measure(problem, state)
        return carry, {name: jnp.where(step == until, number, jnp.nan) for name, number in numbers.items()}

    begin = (jnp.int32(0), start, jnp.int32(never))
    carry, seen = jax.lax.scan(look, begin, looks)
    _, state, plateau = go(carry, jnp.int32(rule.most))
    sound = jnp.isfinite(measure(problem, state)["loss"])
    return Descent(seen, jnp.where(sound, jnp.where(plateau == never, jnp.inf, plateau), jnp.nan))
