"""A model as it was: modes, buffers, random states, compiled programs and autocast, whatever happens in between."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Generator
from typing import Any

import numpy as np
import torch


def bare(model: Any) -> torch.nn.Module:
    """The module itself, without torch.compile and data parallel wrappers, which would compile or wait for others."""
    while True:
        inner = getattr(model, "_orig_mod", None)
        if inner is None and isinstance(model, (torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel)):
            inner = model.module
        if inner is None:
            return model
        model = inner


def device_of(model: torch.nn.Module) -> torch.device:
    found = next(model.parameters(), None)
    return torch.device("cpu") if found is None else found.device


@contextlib.contextmanager
def undisturbed(model: torch.nn.Module, dtype: torch.dtype | None) -> Generator[None]:
    """Evaluation mode without gradients and uncompiled; with autocast to `dtype`, or as around the caller."""
    device = device_of(model)
    modes = [(module, module.training) for module in model.modules()]
    buffers = [(buffer, buffer._version, buffer.clone()) for buffer in model.buffers()]
    states = (torch.get_rng_state(), random.getstate(), np.random.get_state())  # noqa: NPY002 - the user's
    on_device = _device_states(device)
    enabled = torch.is_autocast_enabled(device.type) if dtype is None else True
    used = torch.get_autocast_dtype(device.type) if dtype is None else dtype
    try:
        # A cast that is remembered without its gradient would be used in training, too: no cache.
        with (
            torch.no_grad(),
            torch.autocast(device.type, dtype=used, enabled=enabled, cache_enabled=False),
            torch.compiler.set_stance("force_eager"),
        ):
            for module, _ in modes:
                module.training = False
            yield
    finally:
        for module, mode in modes:
            module.training = mode
        with torch.no_grad():
            for buffer, version, copy in buffers:
                if buffer._version != version:
                    buffer.copy_(copy)
        torch.set_rng_state(states[0])
        random.setstate(states[1])
        np.random.set_state(states[2])  # noqa: NPY002
        if on_device is not None:
            torch.get_device_module(device).set_rng_state_all(on_device)


def _device_states(device: torch.device) -> list[torch.Tensor] | None:
    if device.type == "cpu":
        return None
    module = torch.get_device_module(device)
    return module.get_rng_state_all() if hasattr(module, "get_rng_state_all") else None


def wait_for(device: torch.device) -> None:
    """Until the accelerator has done what it was given."""
    if device.type != "cpu":
        torch.get_device_module(device).synchronize(device)
