"""y <- y + eta field(y): gradient descent on theory's flow of the toy, what the program that trains is held against.

A run is looked at after given steps. It stops once the loss has been at most `threshold` and the time of that, the
plateau, has passed `tail` times, or after the most steps that it may take: what is censored has an infinite plateau.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from headway.theory.emergence import sample
from headway.theory.emergence.simulate import Seen, Times, measure, nothing, units_of
from headway.theory.emergence.toy import Scalar, Toy

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


def by_descent(
    toys: Sequence[Toy], times: Times, *, rate: float, threshold: float, tail: float, longest: float
) -> Seen:
    """Gradient descent with steps of `rate`, all toys in one program."""
    with jax.enable_x64(True):
        units = units_of(toys)
        looks = np.round(times[None] * units[:, None] / rate).astype(np.int32)
        most = np.ceil(longest * units / rate).astype(np.int32)
        found = _descend(stack(toys), rate, jnp.asarray(looks), threshold, tail, jnp.asarray(most))
        return {name: np.asarray(values).T for name, values in found.seen.items()}, np.asarray(found.plateau) * rate


def stack(toys: Sequence[Toy]) -> Toy:
    """All toys as one, whose numbers have an axis."""
    return jax.tree.map(lambda *parts: jnp.stack(parts), *toys)


@functools.partial(jax.jit, static_argnums=(1, 3, 4))
def _descend(toys: Toy, rate: float, looks: Array, threshold: float, tail: float, most: Array) -> Descent:
    def one(toy: Toy, looks: Array, most: Array) -> Descent:
        return descend(sample.flow, measure, toy, nothing(), rate, looks, Rule(threshold, tail, most))

    return jax.vmap(one)(toys, looks, most)
