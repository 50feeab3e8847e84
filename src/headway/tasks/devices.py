"""Where what is traced now will be computed."""

from __future__ import annotations

from headway.lazily import jax


def on_cpu() -> bool:
    """Whether that is a CPU: the device chosen by `jax.default_device`, or else JAX's first."""
    chosen = getattr(jax.config, "jax_default_device")  # noqa: B009 (no type checker knows it)
    if chosen is None:
        chosen = jax.devices()[0]
    return getattr(chosen, "platform", chosen) == "cpu"
