"""PyTorch's optimisers as its documentation publishes them, in NumPy, and PyTorch itself where it is installed.

Each function takes the parameters, the gradients of every step and the rates, and gives the parameters
after every step: (step, parameter).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from headway.training.optimisers import Rates

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8

Method = Callable[[np.ndarray, np.ndarray, Rates], np.ndarray]


def adamw(theta: np.ndarray, gradients: np.ndarray, rates: Rates) -> np.ndarray:
    """torch.optim.AdamW: the decay is taken off the parameters and never enters the moments."""
    m, v, path = np.zeros_like(theta), np.zeros_like(theta), []
    for t, g in enumerate(gradients, start=1):
        theta = theta - rates.learning_rate * rates.weight_decay * theta
        m = BETA1 * m + (1 - BETA1) * g
        v = BETA2 * v + (1 - BETA2) * g**2
        theta = theta - rates.learning_rate * (m / (1 - BETA1**t)) / (np.sqrt(v / (1 - BETA2**t)) + EPSILON)
        path.append(theta)
    return np.stack(path)


def sgd(theta: np.ndarray, gradients: np.ndarray, rates: Rates) -> np.ndarray:
    """torch.optim.SGD with momentum and no dampening: the decay is part of the gradient."""
    buffer, path = None, []
    for g in gradients:
        g = g + rates.weight_decay * theta
        buffer = g if buffer is None else rates.momentum * buffer + g
        theta = theta - rates.learning_rate * buffer
        path.append(theta)
    return np.stack(path)


def clip(gradients: np.ndarray, limit: float) -> np.ndarray:
    """torch.nn.utils.clip_grad_norm_, step by step; its 1e-6 keeps it from dividing by zero."""
    norms = np.sqrt(np.sum(gradients**2, axis=1, keepdims=True))
    return gradients * np.minimum(1, limit / (norms + 1e-6))


def plateau(losses: Sequence[float], patience: int, factor: float, rate: float = 1.0) -> list[float]:
    """torch.optim.lr_scheduler.ReduceLROnPlateau, mode "min", relative threshold 1e-4: the rate after each epoch."""
    best, bad, path = np.inf, 0, []
    for loss in losses:
        if loss < best * (1 - 1e-4):
            best, bad = loss, 0
        else:
            bad += 1
        if bad > patience:
            rate, bad = rate * factor, 0
        path.append(rate)
    return path


def _torch_optimiser(make: Callable[[Any, Any, Rates], Any]) -> Method:
    def run(theta: np.ndarray, gradients: np.ndarray, rates: Rates) -> np.ndarray:
        torch: Any = importlib.import_module("torch")
        parameter = torch.nn.Parameter(torch.tensor(theta, dtype=torch.float64))
        optimiser = make(torch.optim, [parameter], rates)
        path = []
        for g in gradients:
            parameter.grad = torch.tensor(g, dtype=torch.float64)
            optimiser.step()
            path.append(parameter.detach().numpy().copy())
        return np.stack(path)

    return run


def _torch_clip(gradients: np.ndarray, limit: float) -> np.ndarray:
    torch: Any = importlib.import_module("torch")
    clipped = []
    for g in gradients:
        parameter = torch.nn.Parameter(torch.zeros(len(g), dtype=torch.float64))
        parameter.grad = torch.tensor(g, dtype=torch.float64)
        torch.nn.utils.clip_grad_norm_([parameter], limit)
        clipped.append(parameter.grad.numpy())
    return np.stack(clipped)


def _torch_plateau(losses: Sequence[float], patience: int, factor: float, rate: float = 1.0) -> list[float]:
    torch: Any = importlib.import_module("torch")
    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=rate)
    # With its default eps PyTorch leaves a rate of 1e-8 as it is; ours goes on falling.
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, patience=patience, factor=factor, eps=0)
    path = []
    for loss in losses:
        scheduler.step(loss)
        path.append(optimiser.param_groups[0]["lr"])
    return path


ADAMW: dict[str, Method] = {"published": adamw}
SGD: dict[str, Method] = {"published": sgd}
CLIP = {"published": clip}
PLATEAU = {"published": plateau}

if importlib.util.find_spec("torch"):
    ADAMW["torch"] = _torch_optimiser(
        lambda optim, parameters, r: optim.AdamW(parameters, lr=r.learning_rate, weight_decay=r.weight_decay)
    )
    SGD["torch"] = _torch_optimiser(
        lambda optim, parameters, r: optim.SGD(
            parameters, lr=r.learning_rate, weight_decay=r.weight_decay, momentum=r.momentum
        )
    )
    CLIP["torch"] = _torch_clip
    PLATEAU["torch"] = _torch_plateau
