"""A small transformer's training in PyTorch, as a user writes it: one seed, fused AdamW, batches drawn beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bench.contestant import Contestant
from benchmarks.bench.machine import cores
from benchmarks.bench.rivals import Arrays
from benchmarks.bench.rivals.small_torch import SmallTransformer, small_layout
from headway.tasks.run import Settings
from headway.tasks.task import shape_of

if TYPE_CHECKING:
    torch: Any = ...  # so that types can be checked where PyTorch is not installed
    functional: Any = ...
else:
    import torch
    import torch.nn.functional as functional

Drawn = tuple[np.ndarray, np.ndarray]
"""Inputs and targets, (batch number, row, ..)."""


def small_rival(name: str, settings: Settings, weights: Arrays, drawn: Drawn, steps: int, gpu: bool) -> Contestant:
    """A model at `weights` and its loop; eager, compiled, or compiled with CUDA graphs."""
    device, training = ("cuda" if gpu else "cpu"), settings.training
    torch.set_num_threads(cores())
    predicted = shape_of(settings.task).predicted
    # A setting of the whole process: set before every use, because the rivals of one process may differ in it.
    matmul = "high" if training.precision == "tf32" else "highest"
    model = loaded(settings, weights).to(device)
    mode = "reduce-overhead" if name == "torch-graphs" else None
    forward = model if name == "torch" else torch.compile(model, mode=mode)
    optimiser = torch.optim.AdamW(
        model.parameters(), training.learning_rate, weight_decay=training.weight_decay, fused=gpu
    )
    inputs, targets = (torch.as_tensor(np.array(values)).to(device) for values in drawn)
    done = 0

    def loss(batch: Any, wanted: Any) -> Any:
        logits = forward(batch)[:, -predicted:]
        if wanted.is_floating_point():
            return functional.mse_loss(logits, wanted)
        return functional.cross_entropy(logits.flatten(0, 1), wanted.flatten().long())

    def advance() -> np.ndarray:
        nonlocal done
        torch.set_float32_matmul_precision(matmul)
        losses = []
        for _ in range(steps):
            value = loss(inputs[done % len(inputs)], targets[done % len(inputs)])
            value.backward()
            if training.clip:
                torch.nn.utils.clip_grad_norm_(model.parameters(), training.clip)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            losses.append(value.detach().clone())
            done += 1
        return torch.stack(losses).cpu().numpy()[None]

    return Contestant(name, 1, steps, advance)


def loaded(settings: Settings, weights: Arrays) -> Any:
    """The PyTorch model with Headway's weights."""
    model = SmallTransformer(settings.model, shape_of(settings.task))
    own = {name: torch.as_tensor(np.array(values)) for name, values in small_layout(weights).items()}
    model.load_state_dict(own)
    return model


def torch_logits(settings: Settings, weights: Arrays, inputs: np.ndarray) -> np.ndarray:
    """What it predicts from one batch, in float32."""
    torch.set_float32_matmul_precision("highest")
    with torch.no_grad():
        logits = loaded(settings, weights)(torch.as_tensor(np.array(inputs)))
    return logits[:, -shape_of(settings.task).predicted :].numpy()
