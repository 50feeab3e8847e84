"""Parts of a model that keep the weights they were given: those of a run that was trained before."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import PyTree

from headway.settings.checks import require


def with_parts_of(model: PyTree, donor: PyTree, names: tuple[str, ...]) -> PyTree:
    """The model with the parts of these names, whatever they hold, from another of the same shape."""
    require_parts(model, names)
    own = jax.tree_util.tree_leaves_with_path(model)
    # Leaf by leaf: settings that the two carry along may differ in what is no weight.
    leaves = zip(own, jax.tree.leaves(donor), jax.tree.leaves(_held(model, names)), strict=True)
    return jax.tree.unflatten(
        jax.tree.structure(model), [theirs if hold else mine for (_, mine), theirs, hold in leaves]
    )


def require_parts(model: PyTree, names: tuple[str, ...]) -> None:
    """Refuse names that no part of the model has; its shapes are enough."""
    parts = sorted({word for path, _ in jax.tree_util.tree_leaves_with_path(model) for word in _words(path)})
    missing = [name for name in names if name not in parts]
    require(
        not missing,
        f"training.frozen has {', '.join(missing)}, but the model has no such part. It has {', '.join(parts)}.",
    )


def holding(
    optimiser: optax.GradientTransformationExtraArgs, names: tuple[str, ...]
) -> optax.GradientTransformationExtraArgs:
    """The same optimiser, whose steps leave the parts of these names where they are, weight decay included."""
    if not names:
        return optimiser

    def update(updates: Any, state: Any, params: Any = None, **more: Any) -> tuple[Any, Any]:
        steps, state = optimiser.update(updates, state, params, **more)
        still = jax.tree.map(lambda step, hold: jnp.zeros_like(step) if hold else step, steps, _held(steps, names))
        return still, state

    return optax.GradientTransformationExtraArgs(optimiser.init, update)


def _held(tree: PyTree, names: tuple[str, ...]) -> PyTree:
    return jax.tree_util.tree_map_with_path(lambda path, _: not set(names).isdisjoint(_words(path)), tree)


def _words(path: Any) -> list[str]:
    """What a path through attributes and dictionaries is called on its way."""
    return [str(part) for key in path for part in [getattr(key, "name", getattr(key, "key", None))] if part is not None]
