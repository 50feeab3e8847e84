"""Optimisers and schedules from optax, with PyTorch's conventions and rates that may differ between members."""

import inspect
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PyTree

from headway.settings import SettingsError, TrainingSettings
from headway.settings.given import given
from headway.settings.training import OWN_OPTIMISERS
from headway.training.data import Count
from headway.training.optimiser_names import factory_of

Number = Float[Array, ""] | float


class Rates(NamedTuple):
    """The numbers of an optimiser; traced, so that one program can train members with different ones."""

    learning_rate: Number
    weight_decay: Number
    momentum: Number
    clip: Number


def rates_may_differ(settings: TrainingSettings) -> bool:
    """Whether members of one program may have different rates: optimisers of others may look at theirs."""
    return settings.optimiser in OWN_OPTIMISERS


def optimiser(
    settings: TrainingSettings, rates: Rates, steps_per_epoch: Count
) -> optax.GradientTransformationExtraArgs:
    """Clip, optimise, schedule; its `update` wants the loss as `value` for the plateau schedule."""
    # Where nobody clips, nobody pays for it.
    clip = optax.identity() if settings.clip == 0 else optax.stateless(lambda grads, _: clipped(grads, rates.clip))
    method = _method(settings, rates)
    if settings.groups:
        # Every optimiser's step is proportional to its rate, decay included.
        method = optax.chain(method, _by_group(settings, 0))
    return optax.with_extra_args_support(optax.chain(clip, method, _schedule(settings, steps_per_epoch)))


def _method(settings: TrainingSettings, rates: Rates) -> optax.GradientTransformation:
    """Gradients to steps."""
    asked = settings.optimiser
    if asked == "adamw":
        numbers: dict[str, Any] = {"b1": 0.9, "b2": 0.999, "eps": 1e-8} | dict(settings.arguments)
        adam = optax.scale_by_adam(**numbers)
        return optax.chain(adam, _decay(settings, rates.weight_decay), optax.scale(-rates.learning_rate))
    if asked == "sgd":  # As in PyTorch, SGD's decay is part of the gradient and goes through the momentum.
        decay, momentum = _decay(settings, rates.weight_decay), optax.trace(rates.momentum)
        return optax.chain(decay, momentum, optax.scale(-rates.learning_rate))
    if not isinstance(asked, str):
        own = given(asked).use()
        return own if isinstance(own, optax.GradientTransformation) else own(settings.learning_rate)
    return named(settings)


def named(settings: TrainingSettings) -> optax.GradientTransformation:
    """An optimiser of optax. What it has arguments for is its own; weight decay that it has none for is added."""
    assert isinstance(settings.optimiser, str)
    factory = factory_of(settings.optimiser)
    taken = inspect.signature(factory).parameters
    arguments = {name: getattr(settings, name) for name in ("weight_decay", "momentum") if name in taken}
    if settings.groups and "weight_decay" in arguments:
        arguments["weight_decay"] = 0.0  # It would act on all parameters alike.
    own = factory(settings.learning_rate, **(arguments | dict(settings.arguments)))
    if ("weight_decay" in taken and not settings.groups) or settings.weight_decay == 0:
        return own
    return optax.chain(own, _decay(settings, -settings.learning_rate * settings.weight_decay))


def _decay(settings: TrainingSettings, decay: Number) -> optax.GradientTransformation:
    """updates + decay * weights, by group."""
    if not settings.groups:
        return optax.add_decayed_weights(decay)
    return optax.stateless(
        lambda updates, weights: jax.tree.map(
            lambda update, weight, factor: update + decay * factor * weight,
            updates,
            weights,
            factors(settings, weights, 1),
        )
    )


def _by_group(settings: TrainingSettings, which: int) -> optax.GradientTransformation:
    return optax.stateless(
        lambda updates, weights: jax.tree.map(jnp.multiply, updates, factors(settings, weights, which))
    )


def factors(settings: TrainingSettings, weights: PyTree, which: int) -> PyTree:
    """The factor on the learning rate (0) or on the weight decay (1) of every array, 1 where no group names it."""
    leaves, structure = jax.tree_util.tree_flatten_with_path(weights)
    paths = [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in leaves]
    for name, *_ in settings.groups:
        if not any(fnmatchcase(path, name) for path in paths):
            raise SettingsError(
                f"training.groups names {name!r}, but no parameter has this name. There are {', '.join(paths)}."
            )
    found = [next((own[which] for name, *own in settings.groups if fnmatchcase(path, name)), 1.0) for path in paths]
    return jax.tree.unflatten(structure, found)


def clipped(grads: optax.Updates, limit: Number) -> optax.Updates:
    """grads * min(1, limit / norm); a limit of 0 leaves them as they are."""
    norm = optax.tree.norm(grads)
    shrink = jnp.where((limit > 0) & (norm > limit), limit / norm, 1.0)
    return optax.tree.scale(shrink, grads)


def _schedule(settings: TrainingSettings, steps_per_epoch: Count) -> optax.GradientTransformationExtraArgs:
    """The factor on the learning rate."""
    if settings.schedule in ("plateau", "plateau-step"):
        # Ours: the papers do not say what the scheduler watches. It gets the mean training loss once an epoch.
        # optax acts on the `patience`-th bad epoch, PyTorch on the one after it. Two differences stay: a reduced rate
        # acts from the epoch's last step on, not from the one after it; and it may fall below PyTorch's floor of 1e-8.
        return optax.contrib.reduce_on_plateau(
            factor=settings.factor,
            patience=settings.patience + 1,
            rtol=1e-4,
            atol=0.0,
            accumulation_size=steps_per_epoch if settings.schedule == "plateau" else 1,
        )
    if settings.schedule == "cosine":
        return optax.with_extra_args_support(
            optax.scale_by_schedule(lambda step: _cosine(jnp.asarray(step), settings.steps))
        )
    return optax.with_extra_args_support(optax.identity())


def current_rate(settings: TrainingSettings, rates: Rates, state: Any) -> Float[Array, ""]:
    """The learning rate that the next step will use; `state` is that of `optimiser`."""
    _, _, schedule = state
    factor = jnp.ones(())
    if settings.schedule in ("plateau", "plateau-step"):
        factor = schedule.scale
    elif settings.schedule == "cosine":
        factor = _cosine(schedule.count, settings.steps)
    return rates.learning_rate * factor


def _cosine(step: Array, steps: int) -> Array:
    """From 1 to 0 in half a wave."""
    return 0.5 * (1 + jnp.cos(jnp.pi * step / steps))
