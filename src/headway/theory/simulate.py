"""Many seeds of the flow as one `Trajectory`: loss, attention, values, parts of the loss, and when stages change."""

from collections.abc import Sequence

import jax
import numpy as np
from jaxtyping import Float

from headway.records import Trajectory
from headway.theory.flow import loss, loss_parts, plateaus, softmax
from headway.theory.problem import Numbers, Problem, State
from headway.theory.solve import Method, crossings, solve
from headway.theory.start import logit_starts
from headway.theory.weight_decay import logits_with


def simulate(
    problem: Problem,
    *,
    seeds: Sequence[int],
    noise: float,
    times: Float[np.ndarray, " time"],
    decay: float = 0.0,
    method: Method = "explicit",
    tolerance: float = 1e-9,
) -> Trajectory:
    """The flow from V = 0 and s near uniform, once a seed, on the clock "time"; with weight decay, if any.

        loss         (seed, time)
        attention    (seed, time, head, position)        s_k
        values       (seed, time, head, feature)         <V_k, V_j*>
        loss_parts   (seed, time, feature, position)     they sum to the loss
        boundaries   (seed, feature), a fact             when the loss is half-way from plateau i to plateau i + 1

    A boundary that is not met by the last time is infinite.
    """
    start = logit_starts(problem, seeds, noise)
    path = solve(logits_with(decay), problem, start, times, method=method, tolerance=tolerance)
    met = boundaries(problem, start, end=float(times[-1]), decay=decay, method=method, tolerance=tolerance)
    return record(problem, seeds, times, path, met)


def boundaries(
    problem: Problem,
    start: State,
    *,
    end: float,
    decay: float = 0.0,
    method: Method = "explicit",
    tolerance: float = 1e-9,
) -> Float[np.ndarray, "seed feature"]:
    """When the loss is half-way between plateaus, from logits (seed, ...); infinite if not by `end`."""
    levels = halfway(problem.strengths)
    return crossings(
        logits_with(decay), logit_loss, problem, start, levels, end=end, method=method, tolerance=tolerance
    )


def last_losses(problem: Problem, start: State, *, end: float, decay: float) -> Float[np.ndarray, " seed"]:
    """1/2 ||G - P||^2 at time `end`, from logits (seed, ...)."""
    path = solve(logits_with(decay), problem, start, np.array([0.0, end]), tolerance=1e-9)
    with jax.enable_x64(True):
        last = jax.tree.map(lambda part: part[:, -1], path)
        return np.asarray(jax.vmap(lambda state: logit_loss(problem, state))(last))


def halfway(strengths: Float[Numbers, " feature"]) -> Float[np.ndarray, " feature"]:
    """(L_i + L_{i+1}) / 2, i = 0 .. h - 1: the loss half-way between two plateaus."""
    with jax.enable_x64(True):
        levels = np.asarray(plateaus(strengths))
    return (levels[:-1] + levels[1:]) / 2


def logit_loss(problem: Problem, state: State) -> Float[Numbers, ""]:
    """1/2 ||G - P||^2 of a state whose `attention` holds logits."""
    return loss(problem, State(state.values, softmax(problem, state.attention)))


@jax.jit
def _measure(problem: Problem, path: State) -> dict[str, Numbers]:
    def one(state: State) -> dict[str, Numbers]:
        state = State(state.values, softmax(problem, state.attention))
        return {
            "loss": loss(problem, state),
            "attention": state.attention,
            "values": state.values @ problem.features.T,
            "loss_parts": loss_parts(problem, state),
        }

    return jax.vmap(jax.vmap(one))(path)


def record(
    problem: Problem,
    seeds: Sequence[int],
    times: Float[np.ndarray, " time"],
    path: State,
    boundaries: Float[np.ndarray, "seed feature"],
) -> Trajectory:
    """What `simulate` returns, from the path of logits (seed, time, ...)."""
    with jax.enable_x64(True):
        arrays = {name: np.asarray(values) for name, values in _measure(problem, path).items()}
    return Trajectory(
        seeds=tuple(seeds),
        clocks={"time": np.asarray(times)},
        arrays=arrays,
        clock_of=dict.fromkeys(arrays, "time"),
        facts={"boundaries": boundaries},
    )
