"""A transformer's training in PyTorch, as a user writes it: one seed, fused AdamW, batches drawn beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bench.contestant import Contestant
from benchmarks.bench.machine import cores
from benchmarks.bench.rivals import Arrays
from benchmarks.bench.rivals.torch_layout import torch_layout
from benchmarks.bench.rivals.torch_transformer import TorchTransformer, ends_with_heads
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


def transformer_rival(
    name: str,
    settings: Settings,
    weights: Arrays,
    drawn: Drawn,
    steps: int,
    gpu: bool,
    asking: int | None = None,
) -> Contestant:
    """A model at `weights` and its loop; eager, compiled, or compiled with CUDA graphs.

    Only the last `asking` positions go on behind the last heads; all of them if not given.
    """
    device, training = ("cuda" if gpu else "cpu"), settings.training
    torch.set_num_threads(cores())
    predicted = shape_of(settings.task).predicted if asking is None else asking
    # A setting of the whole process: set before every use, because the rivals of one process may differ in it.
    matmul = "high" if training.precision == "tf32" else "highest"
    model = loaded(settings, weights, asking).to(device)
    mode = "reduce-overhead" if name == "torch-graphs" else None
    forward = model if name == "torch" else torch.compile(model, mode=mode)
    optimiser = torch.optim.AdamW(
        model.parameters(), training.learning_rate, weight_decay=training.weight_decay, fused=gpu
    )
    inputs, targets = (torch.as_tensor(np.array(values)).to(device) for values in drawn)
    noisy_every = 1 if training.dropout == "always" else training.steps_per_epoch
    done = 0

    def advance() -> np.ndarray:
        nonlocal done
        torch.set_float32_matmul_precision(matmul)
        losses = []
        for _ in range(steps):
            noisy = done % noisy_every == 0
            if model.training != noisy:  # whether dropout acts
                model.train(noisy)
            value = loss(forward(inputs[done % len(inputs)]), targets[done % len(inputs)], predicted)
            value.backward()
            if training.clip:
                torch.nn.utils.clip_grad_norm_(model.parameters(), training.clip)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            losses.append(value.detach().clone())
            done += 1
        return torch.stack(losses).cpu().numpy()[None]

    return Contestant(name, 1, steps, advance)


def loss(logits: Any, wanted: Any, predicted: int) -> Any:
    """The mean cross-entropy of tokens at the last positions, or squared error of numbers."""
    if wanted.is_floating_point():
        return functional.mse_loss(logits[:, -predicted:], wanted)
    return functional.cross_entropy(logits[:, -predicted:].flatten(0, 1), wanted.flatten().long())


def laid_out(settings: Settings, arrays: Arrays) -> dict[str, np.ndarray]:
    """Headway's weights or gradients by PyTorch's names."""
    return torch_layout(arrays, settings.task.vocab if ends_with_heads(settings.model) else None)


def loaded(settings: Settings, weights: Arrays, asking: int | None = None) -> Any:
    """The PyTorch model with Headway's weights."""
    model = TorchTransformer(settings.model, shape_of(settings.task), asking)
    own = {name: torch.as_tensor(np.array(values)) for name, values in laid_out(settings, weights).items()}
    model.load_state_dict(own)
    return model


def torch_logits(settings: Settings, weights: Arrays, inputs: np.ndarray) -> np.ndarray:
    """What it predicts from one batch, in float32."""
    torch.set_float32_matmul_precision("highest")
    with torch.no_grad():
        logits = loaded(settings, weights).eval()(torch.as_tensor(np.array(inputs)))
    return logits[:, -shape_of(settings.task).predicted :].numpy()


def torch_gradient(
    settings: Settings, weights: Arrays, inputs: np.ndarray, targets: np.ndarray, asking: int, gpu: bool
) -> tuple[float, dict[str, np.ndarray]]:
    """Loss and gradients of one batch in float32, without dropout."""
    torch.set_float32_matmul_precision("highest")
    device = "cuda" if gpu else "cpu"
    model = loaded(settings, weights, asking).eval().to(device)
    rows, wanted = (torch.as_tensor(np.array(values)).to(device) for values in (inputs, targets))
    value = loss(model(rows), wanted, asking)
    value.backward()
    return float(value.detach()), {name: each.grad.cpu().numpy() for name, each in model.named_parameters()}


def give_memory_back(gpu: bool) -> None:
    """Tensors that are gone leave their memory on the GPU to others."""
    if gpu:
        torch.cuda.empty_cache()
