"""Optimisers and schedules from optax, with PyTorch's conventions and rates that may differ between members."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from headway.settings import TrainingSettings
from headway.training.data import Count

Number = Float[Array, ""] | float


class Rates(NamedTuple):
    """The numbers of an optimiser; traced, so that one program can train members with different ones."""

    learning_rate: Number
    weight_decay: Number
    momentum: Number
    clip: Number


def optimiser(
    settings: TrainingSettings, rates: Rates, steps_per_epoch: Count
) -> optax.GradientTransformationExtraArgs:
    """Clip, optimise, schedule; its `update` wants the loss as `value` for the plateau schedule."""
    clip = optax.stateless(lambda grads, _: clipped(grads, rates.clip))
    if settings.optimiser == "adamw":
        method = optax.chain(optax.scale_by_adam(0.9, 0.999, 1e-8), optax.add_decayed_weights(rates.weight_decay))
    else:  # As in PyTorch, SGD's decay is part of the gradient and goes through the momentum.
        method = optax.chain(optax.add_decayed_weights(rates.weight_decay), optax.trace(rates.momentum))
    return optax.with_extra_args_support(
        optax.chain(clip, method, _schedule(settings, steps_per_epoch), optax.scale(-rates.learning_rate))
    )


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
    _, _, schedule, _ = state
    factor = jnp.ones(())
    if settings.schedule in ("plateau", "plateau-step"):
        factor = schedule.scale
    elif settings.schedule == "cosine":
        factor = _cosine(schedule.count, settings.steps)
    return rates.learning_rate * factor


def _cosine(step: Array, steps: int) -> Array:
    """From 1 to 0 in half a wave."""
    return 0.5 * (1 + jnp.cos(jnp.pi * step / steps))
