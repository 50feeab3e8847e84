"""y = sum_k V_k X softmax(q_k), fitted step by step from the starts of the gradient flow, all seeds at once."""

import functools
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from headway.records import Cell, Trajectory
from headway.settings import RegressionSettings, TrainingSettings
from headway.theory import Problem, State, full_problem, geometric, near_uniform, stack
from headway.theory.flow import softmax
from headway.theory.simulate import halfway, logit_loss
from headway.training.optimisers import Rates, optimiser
from headway.training.randomness import TRAINING_SET, key_of


class Fit(NamedTuple):
    """One seed on its way: V_k and q_k, what the optimiser remembers, the loss, and when the levels were met."""

    state: State
    memory: optax.OptState
    loss: Float[Array, ""]
    met: Float[Array, " feature"]


def regression(cell: Cell) -> Trajectory:
    """What `laboratory.flow` gives, from training: loss, attention, values and the fact `boundaries`.

    The loss is the population's, 1/2 ||G - P||^2, whatever the gradient is taken of. The clock of gd and sgd is the
    flow's: "time", learning rate times step. AdamW divides every gradient by its own size, so that no product with its
    rate is a time: its clock, and the unit of its boundaries, is the step ("evaluation").
    """
    settings: RegressionSettings = cell.settings
    ticks = log_steps(settings.steps, settings.points)
    with jax.enable_x64(settings.optimiser == "gd"):  # samples are far noisier than single precision
        fit, problems, measured = _start(settings, cell.seeds), _problems(settings, cell.seeds), []
        keys = jnp.stack([key_of(seed, TRAINING_SET) for seed in cell.seeds])
        levels = jnp.asarray(halfway(geometric(settings.features, settings.ratio, settings.base)), fit.loss.dtype)
        rates = _rates(settings, fit.loss.dtype)
        how = (settings.optimiser, settings.batch)
        for before, tick in pairwise([0, *ticks.tolist()]):
            fit = _advance(how, problems, levels, settings.label_noise, rates, keys, fit, before, tick)
            measured.append(jax.tree.map(np.asarray, _measure(problems, fit)))
        boundaries = np.asarray(fit.met, np.float64)
    with np.errstate(over="ignore"):  # what diverged may be too large for single precision, too
        arrays = {name: np.stack([each[name] for each in measured], axis=1).astype(np.float32) for name in measured[0]}
    finite = np.isfinite(arrays["loss"])
    clock, unit = ("evaluation", None) if settings.optimiser == "adamw" else ("time", settings.learning_rate)
    return Trajectory(
        seeds=cell.seeds,
        clocks={clock: ticks if unit is None else ticks * unit},
        arrays=arrays,
        clock_of=dict.fromkeys(arrays, clock),
        facts={
            "boundaries": boundaries if unit is None else boundaries * unit,
            "diverged_at": np.where(finite.all(axis=1), -1, ticks[np.argmin(finite, axis=1)]),
        },
    )


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


@functools.partial(jax.jit, static_argnums=0)
def _advance(
    how: tuple[str, int],
    problems: Problem,
    levels: Float[Array, " feature"],
    label_noise: Any,
    rates: Rates,
    keys: Key[Array, " seed"],
    fits: Fit,
    first: Any,
    last: Any,
) -> Fit:
    """From step `first` to step `last`; both are traced, so that one program walks every stretch."""
    method, batch = _method(how[0], rates), how[1]

    def one(problem: Problem, key: PRNGKeyArray, fit: Fit) -> Fit:
        def objective(state: State, number: Any) -> Float[Array, ""]:
            if how[0] == "gd":
                return jnp.asarray(logit_loss(problem, state))
            drawn = draw(problem, jax.random.fold_in(key, number), batch, label_noise, levels.dtype)
            return sample_loss(problem, state, *drawn)

        def step(number: Any, fit: Fit) -> Fit:
            updates, memory = method.update(jax.grad(objective)(fit.state, number), fit.memory, fit.state)
            state: Any = optax.apply_updates(fit.state, updates)
            loss = jnp.asarray(logit_loss(problem, state))
            # A line between the losses before and after the step says when it went through a level.
            when = number + (fit.loss - levels) / (fit.loss - loss)
            met = jnp.where(jnp.isinf(fit.met) & (loss <= levels), when, fit.met)
            return Fit(state, memory, loss, met)

        return jax.lax.fori_loop(first, last, step, fit)

    return jax.vmap(one)(problems, keys, fits)


@jax.jit
def _measure(problems: Problem, fits: Fit) -> dict[str, Array]:
    def one(problem: Problem, fit: Fit) -> dict[str, Any]:
        return {
            "loss": fit.loss,
            "attention": softmax(problem, fit.state.attention)[:, : problem.count],
            "values": fit.state.values @ problem.features.T,
        }

    return jax.vmap(one)(problems, fits)


def _method(word: str, rates: Rates) -> optax.GradientTransformationExtraArgs:
    plain = TrainingSettings(optimiser="adamw" if word == "adamw" else "sgd", schedule="constant")
    return optimiser(plain, rates, 1)


def _rates(settings: RegressionSettings, dtype: Any) -> Rates:
    """No momentum and no clipping: the flow has neither."""
    return Rates(*(jnp.asarray(rate, dtype) for rate in (settings.learning_rate, settings.weight_decay, 0.0, 0.0)))


def _problems(settings: RegressionSettings, seeds: tuple[int, ...]) -> Problem:
    """One problem a seed, each with features of its own, stacked; in the precision of the moment."""
    problems = [_problem(settings, seed) for seed in seeds]
    return jax.tree.map(lambda *parts: jnp.stack([jnp.asarray(part) for part in parts]), *problems)


def _problem(settings: RegressionSettings, seed: int) -> Problem:
    strengths = geometric(settings.features, settings.ratio, settings.base)
    return full_problem(
        strengths, length=settings.length, heads=settings.heads, dimension=settings.dimension, seed=seed
    )


def _start(settings: RegressionSettings, seeds: tuple[int, ...]) -> Fit:
    """V_k = 0 and q_k = log s_k, the s_k of the flow's own start."""
    drawn = [near_uniform(_problem(settings, seed), seed, noise=settings.noise**0.5) for seed in seeds]
    state = jax.tree.map(jnp.asarray, stack([State(each.values, np.log(each.attention)) for each in drawn]))
    method = _method(settings.optimiser, _rates(settings, state.values.dtype))
    loss = jnp.asarray(jax.vmap(logit_loss)(_problems(settings, seeds), state))
    met = jnp.full((len(seeds), settings.features), jnp.inf, loss.dtype)
    return Fit(state, jax.vmap(method.init)(state), loss, met)
