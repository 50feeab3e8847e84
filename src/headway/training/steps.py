"""What a program computes for its members: how they begin, step and are measured, compiled once for a problem."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.stages import Wrapped
from jaxtyping import Array, Bool, Float, Int, Integer, PRNGKeyArray, PyTree

from headway.models.gradient import BatchGradient

EXPLODED = 1e4
"""A loss beyond this, or one that is not a number, counts as divergence."""
ROOM = 64
"""Steps that one call of the compiled program makes at most."""
_LEVEL = "xla_backend_optimization_level"
_TRITON = "xla_gpu_enable_triton_gemm"
"""Products by Triton take XLA three to five times as long to compile, because it tries many; ours are not sooner."""
_EMITTERS = "xla_cpu_use_fusion_emitters"
_HAS_EMITTERS = jax.version.__version_info__ < (0, 12)
"""Later there is no such choice, and one that is not known is an error."""
MOST_KEPT = 4
"""Problems whose compiled functions stay when nobody uses them: the next program may be about the same one."""


class Member(NamedTuple):
    """One run of a program: its seed, its own numbers, and whatever else it is given."""

    seed: Integer[Array, ""]
    numbers: Any
    given: PyTree
    world: PyTree = ()
    """What it has to learn, where that was drawn outside of the program."""
    shared: PyTree = ()
    """What all members have in common, without an axis of theirs; filled in where a program computes."""


@dataclass(frozen=True)
class Problem:
    """What a member minimises and what is measured: pure functions for one member.

    A new measurement is a new key in `probe`.
    """

    begin: Callable[[Member], tuple[PyTree, PyTree]]
    """Member -> (model, data), both functions of the member alone; without what `compare` adds."""
    draw: Callable[[Member, PyTree, Int[Array, ""]], tuple[PyTree, Bool[Array, " batch"]]]
    """(member, data, step) -> the step's examples, and which of them are real."""
    gradient: Callable[[Member], BatchGradient]
    optimiser: Callable[[Member], optax.GradientTransformationExtraArgs]
    rate: Callable[[Member, optax.OptState], Float[Array, ""]]
    probe: Callable[[PyTree, Member, PyTree], dict[str, Array]]
    """(model, member, data) -> named measurements."""
    facts: Callable[[Member, PyTree], dict[str, Array]]
    """(member, data) -> what does not change along the run."""
    noise_key: Callable[[Member, Int[Array, ""]], PRNGKeyArray]
    """The key of a noisy step."""
    noisy_every: int
    """0: no step has noise, 1: every step, n: the first of every n steps."""
    tokens: bool = False
    """Examples are rows of tokens."""
    compare: Callable[[Member, PyTree], PyTree] | None = None
    """(member, data) -> the data with what the models that it was given say, if it is compared with some."""


class State(NamedTuple):
    """What a checkpoint has to hold; every leaf has a leading member axis."""

    model: PyTree
    optimiser: optax.OptState
    diverged_at: Int[Array, ""]
    gradient_norm: Float[Array, ""]
    """Of the last step of a call, before it was clipped; not a number before the first."""


class Compiled(NamedTuple):
    """The functions below for one problem; when no program is left that needs them, their code goes, too."""

    begin: Wrapped
    compare: Wrapped
    """The end of the beginning, where the rest of it was computed elsewhere (`drawing`)."""
    advance: Wrapped
    probe: Wrapped
    facts: Wrapped


@lru_cache(MOST_KEPT)
def compiled(problem: Problem) -> Compiled:
    """Once for a problem, whichever program asks: an equal problem is the same problem."""
    cpu = jax.devices()[0].platform == "cpu"
    usual = {} if cpu else _unless_chosen({_TRITON: False})
    begun = quickly_compiled(problem) if cpu else usual
    found = _unless_chosen({_LEVEL: 0}) if cpu else usual
    functions = {_begin: begun, _compare: usual, _advance: usual, _probe: usual, _facts: found}
    return Compiled(*(jax.jit(partial(each, problem), compiler_options=own) for each, own in functions.items()))


def quickly_compiled(problem: Problem) -> dict[str, int]:
    """What is called once is not worth optimising: on a CPU that takes half of the time to compile it, or less.

    At level 1, which saves a third, sampling takes as long as ever and gives the same bits; at level 0 five times.
    """
    # A third sooner with the former emitters: with the same bits for rows of tokens, but not for every other task.
    plain = {_EMITTERS: False} if problem.tokens and _HAS_EMITTERS else {}
    return _unless_chosen({_LEVEL: 1, **plain})


def _unless_chosen(options: Mapping[str, int]) -> dict[str, int]:
    """Who chose a level, or what computes products, keeps it."""
    chosen = os.environ.get("XLA_FLAGS", "")
    return {} if any(name in chosen for name in (_LEVEL, _TRITON)) else dict(options)


def _over(function: Callable, stacked: PyTree) -> Any:
    """For every member of a pack; a single one without an axis of its own, which some products would pay for."""
    if len(jax.tree.leaves(stacked)[0]) > 1:
        return jax.vmap(function)(stacked)
    found = function(jax.tree.map(lambda leaf: leaf[0], stacked))
    return jax.tree.map(lambda leaf: leaf[None], found)


def _begin(problem: Problem, shared: PyTree, members: Member) -> tuple[State, PyTree]:
    state, data = draw(problem, shared, members)
    return state, data if problem.compare is None else _compare(problem, shared, members, data)


def draw(problem: Problem, shared: PyTree, members: Member) -> tuple[State, PyTree]:
    """The beginning up to what needs other models to be read."""

    def one(member: Member) -> tuple[State, PyTree]:
        member = member._replace(shared=shared)
        model, data = problem.begin(member)
        memory = problem.optimiser(member).init(model)
        return State(model, memory, jnp.asarray(-1, jnp.int32), jnp.asarray(jnp.nan, jnp.float32)), data

    return _over(one, members)


def _compare(problem: Problem, shared: PyTree, members: Member, data: PyTree) -> PyTree:
    assert problem.compare is not None, "the problem has models to be compared with"
    compare = problem.compare
    return _over(lambda each: compare(each[0]._replace(shared=shared), each[1]), (members, data))


def _probe(problem: Problem, shared: PyTree, states: State, members: Member, data: PyTree) -> dict[str, Array]:
    def one(everything: tuple[State, Member, PyTree]) -> dict[str, Array]:
        state, member, data = everything
        member = member._replace(shared=shared)
        rate = problem.rate(member, state.optimiser)
        return {
            **problem.probe(state.model, member, data),
            "learning_rate": rate,
            "gradient_norm": state.gradient_norm,
        }

    return _over(one, (states, members, data))


def _facts(problem: Problem, shared: PyTree, members: Member, data: PyTree) -> dict[str, Array]:
    return _over(lambda each: problem.facts(each[0]._replace(shared=shared), each[1]), (members, data))


def _advance(
    problem: Problem, shared: PyTree, states: State, members: Member, data: PyTree, start, stop
) -> tuple[State, Array]:
    """Steps start .. stop-1; the bounds are traced, so that any number of steps shares one compilation."""

    def step_all(step, carry):
        states, losses = carry

        # The step is shared by all members, so that a branch on it stays a branch.
        def one(each: tuple[State, Member, PyTree]) -> tuple[State, Array]:
            state, member, data = each
            return _step(problem, step, step == stop - 1, state, member._replace(shared=shared), data)

        states, loss = _over(one, (states, members, data))
        return states, losses.at[:, step - start].set(loss)

    losses = jnp.zeros((len(members.seed), ROOM), jnp.result_type(float))
    ended, losses = jax.lax.fori_loop(start, stop, step_all, (states, losses))
    return _over(lambda each: _finite_or_before(stop, *each), (ended, states)), losses


def _step(problem: Problem, step, last, state: State, member: Member, data: PyTree) -> tuple[State, Float[Array, ""]]:
    examples, real = problem.draw(member, data, step)
    value, grads = _gradient(problem, step, state.model, member, examples, real)
    optimiser = problem.optimiser(member)
    updates, inner = optimiser.update(grads, state.optimiser, state.model, value=value)
    model = optax.apply_updates(state.model, updates)
    # Small models of many matrices would pay a tenth of their time for it at every step. A gradient that overflows
    # before the last shows in the next loss, and its weights below.
    norm = jax.lax.cond(last, lambda: optax.tree.norm(grads).astype(jnp.float32), lambda: jnp.zeros((), jnp.float32))
    sound = jnp.isfinite(value) & (value < EXPLODED) & jnp.isfinite(norm)
    diverged_at = jnp.where((state.diverged_at < 0) & ~sound, step + 1, state.diverged_at).astype(jnp.int32)
    # A diverged member stands still before the step, with finite weights; the others do not notice.
    alive = diverged_at < 0
    keep = lambda new, old: jnp.where(alive, new, old)  # noqa: E731
    new = State(
        jax.tree.map(keep, model, state.model),
        jax.tree.map(keep, inner, state.optimiser),
        diverged_at,
        norm,
    )
    return new, value.astype(jnp.result_type(float))


def _finite_or_before(stop, ended: State, before: State) -> State:
    """Weights that overflowed, which the loss shows only a step later, are those from before this call again.

    Looked at once a call and not at every step: small models would pay a tenth of their time for it.
    """
    sound = _all_finite(ended.model)
    keep = lambda new, old: jnp.where(sound, new, old)  # noqa: E731
    diverged_at = jnp.where(sound | (ended.diverged_at >= 0), ended.diverged_at, stop).astype(jnp.int32)
    model, memory = (jax.tree.map(keep, getattr(ended, name), getattr(before, name)) for name in ("model", "optimiser"))
    return State(model, memory, diverged_at, ended.gradient_norm)


def _gradient(problem: Problem, step, model, member, examples, real):
    def gradient(key):
        dtype = jax.tree.leaves(model)[0].dtype
        return problem.gradient(member)(model, examples, real.astype(dtype), key)

    every = problem.noisy_every
    if every == 0:
        return gradient(None)
    key = problem.noise_key(member, step)
    if every == 1:
        return gradient(key)
    return jax.lax.cond(step % every == 0, gradient, lambda _: gradient(None), key)


def _all_finite(tree: PyTree) -> Bool[Array, ""]:
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(tree)]))
