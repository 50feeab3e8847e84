"""y(t) at given times, from dy/dt = field(problem, y): adaptive, in float64, many starts in one call."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix
from jaxtyping import Array, Float

from headway.theory.problem import Numbers

Tree = TypeVar("Tree")
Field = Callable[[Any, Any], Any]
Method = Literal["implicit", "explicit"]
STEPS = 200_000
"""A solve that needs more steps than that says so."""


def log_times(first: float, last: float, count: int) -> Float[np.ndarray, " time"]:
    """0 and then `count` times from `first` to `last`, evenly spaced on a logarithmic axis."""
    return np.concatenate([[0.0], np.geomspace(first, last, count)])


def solve(
    field: Field,
    problem: eqx.Module | Sequence[eqx.Module],
    start: Tree,
    times: Float[np.ndarray, " time"],
    *,
    method: Method = "explicit",
    tolerance: float = 1e-10,
) -> Tree:
    """The states at `times`: every array of `start` is (seed, ...) and comes back as (seed, time, ...), in NumPy.

    One problem serves all starts, or each start has its own. `explicit` (Dormand-Prince, order 8) takes steps of about
    1 / H, which is cheap as long as the end lies below 10^5 or so; `implicit` (Kvaerno, order 5) walks over longer
    waits, but solves a linear system in the whole state at every step: for reduced flows with few positions.
    The state at `times[0]` is `start`. `tolerance` is relative and, a hundredfold smaller, absolute.
    """
    with jax.enable_x64(True):
        each = not isinstance(problem, eqx.Module)
        problems = jax.tree.map(lambda *parts: jnp.stack(parts), *problem) if each else problem
        states, completed = _solve(field, method, problems, each, _double(start), jnp.asarray(times), tolerance)
        _require_success(completed, f"up to time {times[-1]:g}", method)
        return jax.tree.map(np.asarray, states)


def crossings(
    field: Field,
    quantity: Callable[[Any, Any], Any],
    problem: eqx.Module,
    start: Any,
    levels: Float[Numbers, " level"],
    *,
    end: float,
    method: Method = "explicit",
    tolerance: float = 1e-10,
) -> Float[np.ndarray, "seed level"]:
    """The times at which a falling `quantity` reaches each of `levels`, the highest first; infinite if not by `end`."""
    if np.any(np.diff(levels) >= 0):
        raise ValueError(f"the levels {np.asarray(levels).tolist()} do not fall. Give the highest first.")
    with jax.enable_x64(True):
        times, completed = _cross(
            field, quantity, method, problem, _double(start), jnp.asarray(levels), jnp.asarray(end), tolerance
        )
        _require_success(completed, "while looking for crossings", method)
        return np.asarray(times)


@functools.partial(jax.jit, static_argnums=(0, 1, 3, 6))
def _solve(
    field: Field, method: Method, problems: eqx.Module, each: bool, start: Any, times: Array, tolerance: float
) -> Any:
    def one(problem: eqx.Module, state: Any) -> Any:
        saved = diffrax.SaveAt(ts=times)
        solution = _integrate(field, method, problem, state, times[0], times[-1], tolerance, saved, None)
        return solution.ys, solution.result == diffrax.RESULTS.successful

    return jax.vmap(one, in_axes=(0 if each else None, 0))(problems, start)


@functools.partial(jax.jit, static_argnums=(0, 1, 2, 7))
def _cross(
    field: Field,
    quantity: Callable[[Any, Any], Any],
    method: Method,
    problem: eqx.Module,
    start: Any,
    levels: Array,
    end: Array,
    tolerance: float,
) -> Any:
    def one(state: Any) -> Any:
        def next_level(carry: Any, level: Array) -> Any:
            time, y = carry
            event = diffrax.Event(
                lambda t, y, args, **_: quantity(args, y) - level, optimistix.Newton(rtol=1e-10, atol=1e-10)
            )
            # A level above the current value is reached already, and one beyond the end is never looked for.
            passed = quantity(problem, y) <= level
            saved = diffrax.SaveAt(t1=True)
            solution = _integrate(
                field, method, problem, y, time, jnp.where(passed, time, end), tolerance, saved, event
            )
            met = jnp.any(jnp.asarray(jax.tree.leaves(solution.event_mask))) | passed
            good = (solution.result == diffrax.RESULTS.successful) | (solution.result == diffrax.RESULTS.event_occurred)
            reached = jnp.where(passed, time, jnp.asarray(solution.ts)[-1])
            y = jax.tree.map(lambda old, new: jnp.where(passed, old, new[-1]), y, solution.ys)
            return (reached, y), (jnp.where(met, reached, jnp.inf), good | passed)

        _, (times, good) = jax.lax.scan(next_level, (jnp.zeros(()), state), levels)
        return times, good

    return jax.vmap(one)(start)


def _integrate(
    field: Field,
    method: Method,
    problem: eqx.Module,
    state: Any,
    begin: Array,
    end: Array,
    tolerance: float,
    saved: diffrax.SaveAt,
    event: diffrax.Event | None,
) -> diffrax.Solution:
    control = diffrax.PIDController(rtol=tolerance, atol=tolerance / 100)
    if saved.subs.ts is not None:  # a step ends at every saved time: between steps the solution is less accurate
        control = diffrax.ClipStepSizeController(control, step_ts=saved.subs.ts)
    return diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: field(args, y)),
        diffrax.Kvaerno5() if method == "implicit" else diffrax.Dopri8(),
        begin,
        end,
        None,
        state,
        args=problem,
        saveat=saved,
        event=event,
        stepsize_controller=control,
        adjoint=diffrax.ForwardMode(),  # nobody differentiates through a run, and this compiles faster
        max_steps=STEPS,
        throw=False,
    )


def _double(start: Tree) -> Tree:
    return jax.tree.map(lambda part: jnp.asarray(part, jnp.float64), start)


def _require_success(completed: Array, where: str, method: Method) -> None:
    bad = np.flatnonzero(~np.asarray(completed).reshape(len(completed), -1).all(axis=1))
    if len(bad):
        raise RuntimeError(
            f"the {method} solver gave up {where} at start(s) {bad.tolist()}: it needed more than {STEPS} steps, or "
            "its steps became too small. End earlier, loosen the tolerance, or use the other method."
        )
