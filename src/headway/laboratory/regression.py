"""y = sum_k V_k X softmax(q_k), fitted step by step from the starts of the gradient flow, all seeds at once."""

import functools
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from headway.records import Cell, Trajectory
from headway.settings import RegressionSettings, TrainingSettings
from headway.theory import Problem, State, full_problem, geometric, near_uniform, stack
from headway.theory.flow import softmax
from headway.theory.simulate import halfway, logit_loss
from headway.training import program
from headway.training.optimisers import Rates, optimiser
from headway.training.program import ROOM, Member, Program
from headway.training.randomness import TRAINING_SET, key_of

MEASURED = ("loss", "attention", "values")


class Posed(NamedTuple):
    """What a seed is given: its features, and where it starts."""

    problem: Problem
    start: State


def regression(cell: Cell) -> Trajectory:
    """What `laboratory.flow` gives, from training: loss, attention, values and the fact `boundaries`.

    The loss is the population's, 1/2 ||G - P||^2, whatever the gradient is taken of. The clock of gd and sgd is the
    flow's: "time", learning rate times step. AdamW divides every gradient by its own size, so that no product with its
    rate is a time: its clock, and the unit of its boundaries, is the step ("evaluation").
    """
    settings: RegressionSettings = cell.settings
    ticks = log_steps(settings.steps, settings.points)
    with jax.enable_x64(settings.optimiser == "gd"):  # samples are far noisier than single precision
        training = Program(_posed(settings.optimiser, settings.batch), _members(settings, cell.seeds), len(cell.seeds))
        training.begin()
        losses, measured = [], [training.probe()]
        for before, tick in pairwise(ticks.tolist()):
            for start in range(before, tick, ROOM):
                losses.append(training.advance(start, min(start + ROOM, tick)))
            measured.append(training.probe())
        diverged = training.diverged_at()
    arrays = {name: np.stack([each[name] for each in measured], axis=1).astype(np.float32) for name in MEASURED}
    levels = halfway(geometric(settings.features, settings.ratio, settings.base))
    boundaries = crossings(np.concatenate([*losses, measured[-1]["loss"][:, None]], axis=1), levels)
    clock, unit = ("evaluation", None) if settings.optimiser == "adamw" else ("time", settings.learning_rate)
    return Trajectory(
        seeds=cell.seeds,
        clocks={clock: ticks if unit is None else ticks * unit},
        arrays=arrays,
        clock_of=dict.fromkeys(arrays, clock),
        facts={"boundaries": boundaries if unit is None else boundaries * unit, "diverged_at": diverged},
    )


def crossings(
    losses: Float[np.ndarray, "seed step"], levels: Float[np.ndarray, " level"]
) -> Float[np.ndarray, "seed level"]:
    """When the loss first went through each level, by a line between the losses before and after the step; or never."""
    found = np.full((len(losses), len(levels)), np.inf)
    for row, level in np.ndindex(found.shape):
        below = np.flatnonzero(losses[row, 1:] <= levels[level])
        if len(below):
            before, after = (float(each) for each in losses[row, below[0] : below[0] + 2])
            found[row, level] = below[0] + (before - levels[level]) / (before - after)
    return found


def log_steps(steps: int, points: int) -> Int[np.ndarray, " tick"]:
    """0, and about `points` whole numbers from 1 to `steps`, evenly spaced on a logarithmic axis, none twice."""
    return np.unique([0, *np.rint(np.geomspace(1, steps, points)).astype(int)])


def sample_loss(
    problem: Problem,
    state: State,
    samples: Float[Array, "batch size position"],
    noise: Float[Array, "batch size"],
) -> Float[Array, ""]:
    """1/2 mean ||sum_k V_k X softmax(q_k) - sum_j m_j V_j* x_j - noise||^2 over a batch of X in R^{d x T}."""
    size = samples.shape[1]
    seen = jnp.einsum("nbt,kt->nkb", samples, softmax(problem, state.attention))
    guess = jnp.einsum("kab,nkb->na", jnp.reshape(state.values, (-1, size, size)), seen)
    wanted = jnp.reshape(problem.strengths[:, None] * problem.features, (-1, size, size))
    truth = jnp.einsum("jab,nbj->na", wanted, samples[..., : problem.count]) + noise
    return 0.5 * jnp.mean(jnp.sum((guess - truth) ** 2, axis=1))


def draw(
    problem: Problem, key: PRNGKeyArray, batch: int, label_noise: Any, dtype: Any
) -> tuple[Float[Array, "batch size position"], Float[Array, "batch size"]]:
    """White X, and the noise of y*."""
    size = round(problem.size**0.5)
    for_samples, for_noise = jax.random.split(key)
    samples = jax.random.normal(for_samples, (batch, size, problem.length), dtype)
    return samples, jnp.sqrt(label_noise) * jax.random.normal(for_noise, (batch, size), dtype)


@functools.cache
def _posed(word: str, batch: int) -> program.Problem:
    """As the one program takes it: what is minimised is sampled or not, what is reported is the population's loss."""

    def draw_samples(member: Member, data: Posed, step: Any) -> tuple[Any, Array]:
        if word == "gd":
            return data.problem, jnp.ones(1, bool)
        key = jax.random.fold_in(key_of(member.seed, TRAINING_SET), step)
        label_noise, dtype = member.numbers[1], data.start.values.dtype
        return (data.problem, draw(data.problem, key, batch, label_noise, dtype)), jnp.ones(batch, bool)

    def gradient(_member: Member) -> Any:
        def of_batch(state: State, drawn: Any, _weights: Array, _key: Any) -> tuple[Float[Array, ""], State]:
            problem = drawn if word == "gd" else drawn[0]
            value, slope = jax.value_and_grad(lambda state: jnp.asarray(logit_loss(problem, state)))(state)
            if word == "gd":
                return value, slope
            return value, jax.grad(lambda state: sample_loss(problem, state, *drawn[1]))(state)

        return of_batch

    def measure(state: State, _member: Member, data: Posed) -> dict[str, Any]:
        problem = data.problem
        return {
            "loss": jnp.asarray(logit_loss(problem, state)),
            "attention": softmax(problem, state.attention)[:, : problem.count],
            "values": state.values @ problem.features.T,
        }

    plain = TrainingSettings(optimiser="adamw" if word == "adamw" else "sgd", schedule="constant", clip=0.0)
    return program.Problem(
        begin=lambda member: (member.given.start, member.given),
        draw=draw_samples,
        gradient=gradient,
        optimiser=lambda member: optimiser(plain, member.numbers[0], 1),
        rate=lambda member, _state: member.numbers[0].learning_rate,
        probe=measure,
        facts=lambda _member, _data: {},
        noise_key=lambda member, _step: key_of(member.seed, TRAINING_SET),
        noisy_every=0,
    )


def _members(settings: RegressionSettings, seeds: tuple[int, ...]) -> Member:
    """One problem a seed, each with features of its own, and V_k = 0 and q_k = log s_k, the s_k of the flow's start."""
    strengths = geometric(settings.features, settings.ratio, settings.base)
    sizes: dict[str, Any] = {"length": settings.length, "heads": settings.heads, "dimension": settings.dimension}
    problems = [full_problem(strengths, seed=seed, **sizes) for seed in seeds]
    drawn = [near_uniform(each, seed, noise=settings.noise**0.5) for each, seed in zip(problems, seeds, strict=True)]
    start = jax.tree.map(jnp.asarray, stack([State(each.values, np.log(each.attention)) for each in drawn]))
    posed = jax.tree.map(lambda *parts: jnp.stack([jnp.asarray(part) for part in parts]), *problems)
    # No momentum and no clipping: the flow has neither.
    rates = Rates(*(jnp.full(len(seeds), rate) for rate in (settings.learning_rate, settings.weight_decay, 0.0, 0.0)))
    noise = jnp.full(len(seeds), settings.label_noise)
    return Member(jnp.asarray(seeds, jnp.uint32), (rates, noise), Posed(posed, start))
