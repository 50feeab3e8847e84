"""Many toys at once, each on its own time scale: by their flow, or by an approximation of it.

Times count `escape.plateau`, the closed form of each toy's plateau. Every function returns the curves, (time, toy),
and when the loss reached the threshold, infinite where it did not.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from headway.theory.emergence import escape, late, sample
from headway.theory.emergence.sample import Triple
from headway.theory.emergence.toy import Scalar, Toy, focus
from headway.theory.solve import crossings, solve

Times = Float[np.ndarray, " time"]
Seen = tuple[dict[str, np.ndarray], np.ndarray]
"""Name -> (time, toy), and plateaus (toy,) in true time."""


def measure(toy: Toy, state: Triple) -> dict[str, Scalar]:
    """What is kept of a state: the loss without cross-sample repetition, attention, W along W*, also where repeated."""
    along = state.repeated + jnp.sqrt(toy.dimension - 1) * state.other
    return {
        "loss": sample.tested(toy, state),
        "attention_relevant": focus(toy, state.gap),
        "gain": along / toy.dimension,
        "gain_repeated": state.repeated,
    }


def nothing() -> Triple:
    """W = 0 and a = 0."""
    return Triple(*(jnp.zeros((), jnp.float64) for _ in range(3)))


def by_flow(toys: Sequence[Toy], times: Times, *, threshold: float, longest: float) -> Seen:
    """The three-variable flow, solved."""
    with jax.enable_x64(True):
        zero = jax.tree.map(lambda part: np.zeros(1), nothing())
        return _solved(_sample_flow, measure, sample.tested, toys, zero, times, threshold, longest)


def by_line(toys: Sequence[Toy], times: Times, *, threshold: float) -> Seen:
    """The linearised flow and its loss: good at the start, and continued."""
    with jax.enable_x64(True):
        curves = []
        for toy, unit in zip(toys, units_of(toys), strict=True):
            state = escape.linearised(toy, times * unit)
            # The loss is that of the linearised formula, and not of the linearised state.
            curves.append({**measure(toy, state), "loss": escape.linearised_loss(toy, times * unit)})
        ends = [float(escape.escape_time(toy, 1 - 2 * threshold)) for toy in toys]
        return {name: np.stack([np.asarray(each[name]) for each in curves], axis=1) for name in curves[0]}, np.array(
            ends
        )


def by_late_phase(toys: Sequence[Toy], times: Times, *, threshold: float, longest: float) -> Seen:
    """W at its best for the attention that there is, from the start on: good once attention is no longer small."""
    with jax.enable_x64(True):
        return _solved(_late_flow, _measure_late, late.loss, toys, np.zeros(1), times, threshold, longest)


def _measure_late(toy: Toy, gap: Scalar) -> dict[str, Scalar]:
    value = late.best_value(toy, gap) / jnp.sqrt(toy.dimension)
    return {"loss": late.loss(toy, gap), "attention_relevant": focus(toy, gap), "gain": value, "gain_repeated": value}


def units_of(toys: Sequence[Toy]) -> Float[np.ndarray, " toy"]:
    """The closed form of each plateau."""
    return np.array([float(escape.plateau(toy)) for toy in toys])


def _sample_flow(toy: Toy, state: Triple) -> Triple:
    """In units of the plateau, so that all toys are seen at the same times."""
    return jax.tree.map(lambda speed: escape.plateau(toy) * speed, sample.flow(toy, state))


def _late_flow(toy: Toy, gap: Scalar) -> Scalar:
    return escape.plateau(toy) * late.flow(toy, gap)


def _solved(
    field: Callable,
    seen: Callable,
    loss: Callable,
    toys: Sequence[Toy],
    start: Any,
    times: Times,
    threshold: float,
    longest: float,
) -> Seen:
    """Toy by toy, because a program for one serves any number of them, and takes longest to compile."""
    curves, ends = [], []
    for toy in toys:
        path = solve(field, toy, start, times) if len(times) else jax.tree.map(lambda part: part[:, None][:, :0], start)
        curves.append(jax.vmap(seen, in_axes=(None, 0))(toy, jax.tree.map(lambda part: part[0], path)))
        ends.append(crossings(field, loss, toy, start, np.array([threshold]), end=longest)[0, 0])
    together = {name: np.stack([np.asarray(each[name]) for each in curves], axis=1) for name in curves[0]}
    return together, np.array(ends) * units_of(toys)
