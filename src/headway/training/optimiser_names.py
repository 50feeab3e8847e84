"""Optimisers by name: two of PyTorch's conventions, and whatever optax offers."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from typing import Any

import optax

from headway.settings.checks import refuse
from headway.settings.training import OWN_OPTIMISERS


def require_known(name: str, arguments: Mapping[str, Any]) -> None:
    """Refuse a name that is no optimiser, and arguments that it does not take."""
    if name in OWN_OPTIMISERS:
        if arguments.keys() - set(OWN_OPTIMISERS[name]):
            more = f" and the arguments {', '.join(OWN_OPTIMISERS[name])}" if OWN_OPTIMISERS[name] else ""
            refuse(
                f'training.arguments are {dict(arguments)}, but "{name}" has settings of its own (learning_rate, '
                f"momentum, weight_decay){more}. Use those, or an optimiser of optax."
            )
        return
    factory = factory_of(name)
    taken = inspect.signature(factory).parameters
    for each in arguments:
        if each not in taken or each == "learning_rate":
            others = ", ".join(other for other in taken if other != "learning_rate")
            refuse(f"optax's {name} takes no argument {each!r} here. It takes {others}.")


def factory_of(name: str) -> Any:
    """optax.NAME or optax.contrib.NAME: a function from a learning rate, and more, to a transformation."""
    for home in (optax, optax.contrib):
        found = getattr(home, name, None) if name.isidentifier() and not name.startswith("_") else None
        if inspect.isfunction(found) and "learning_rate" in inspect.signature(found).parameters:
            return found
    known = names()
    near = difflib.get_close_matches(name, known, 1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    refuse(
        f'training.optimiser is "{name}", but optax has no optimiser of that name.{hint} There are {", ".join(known)}.'
    )


def names() -> list[str]:
    """Every optimiser that can be named."""
    found = {
        name
        for home in (optax, optax.contrib)
        for name, value in vars(home).items()
        if inspect.isfunction(value) and not name.startswith("_") and _is_optimiser(value)
    }
    return sorted({*OWN_OPTIMISERS, *found})


def _is_optimiser(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return next(iter(parameters), "") == "learning_rate" and not function.__name__.startswith("scale_by")
