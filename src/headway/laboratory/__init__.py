"""From settings to numbers: what a cell of each kind computes."""

import jax

from headway.laboratory.group import Group, new_model, precision, problem, shape_of

__all__ = ["Group", "device", "new_model", "precision", "problem", "shape_of"]


def device() -> str:
    """The device that will be used, in words."""
    first = jax.devices()[0]
    return f"{first.platform}: {first.device_kind}"
