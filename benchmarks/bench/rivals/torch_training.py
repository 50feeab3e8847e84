"""The PyTorch training loop: zero_grad, forward, backward, clip, AdamW; nothing in it waits for the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bench.contestant import Contestant
from benchmarks.bench.machine import cores
from benchmarks.bench.rivals import Arrays, Rival
from benchmarks.bench.rivals.torch_models import FullModel, MinimalModel, full_layout, minimal_layout
from headway.tasks.run import Settings

if TYPE_CHECKING:
    torch: Any = ...  # so that types can be checked where PyTorch is not installed
    functional: Any = ...
else:
    import torch
    import torch.nn.functional as functional


def has_gpu() -> bool:
    """Whether this PyTorch can use a GPU."""
    return torch.cuda.is_available()


def peak_on_gpu() -> int:
    """Bytes that tensors took at most."""
    return torch.cuda.max_memory_allocated()


def torch_rival(
    settings: Settings, weights: Arrays, sequences: np.ndarray, steps: int, compiled: bool, gpu: bool
) -> Rival:
    """A model at `weights` and its loop, on all cores that the process may use or on the GPU."""
    training, horizon = settings.training, settings.task.horizon
    torch.set_num_threads(cores())
    # A setting of the whole process: set before every use, because the rivals of one process may differ in it.
    matmul = "high" if training.precision == "tf32" else "highest"
    device = "cuda" if gpu else "cpu"
    minimal = settings.model.embedding == "one-hot"
    layout = minimal_layout if minimal else full_layout
    model = (MinimalModel if minimal else FullModel)(settings).to(device)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.as_tensor(np.array(layout(weights)[name])))
    forward = torch.compile(model) if compiled else model
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=training.learning_rate, betas=(0.9, 0.999), eps=1e-8, weight_decay=training.weight_decay
    )
    rows = torch.as_tensor(np.array(sequences), dtype=torch.long, device=device)
    waiting: list[Any] = []

    def loss(batch: Any) -> Any:
        logits = forward(batch[:, :-1])[:, -horizon:]
        return functional.cross_entropy(logits.flatten(0, 1), batch[:, -horizon:].flatten())

    def advance() -> np.ndarray:
        torch.set_float32_matmul_precision(matmul)
        losses = []
        for _ in range(steps):
            if not waiting:
                waiting.extend(torch.randperm(len(rows), device=device).split(training.batch))
            optimiser.zero_grad(set_to_none=True)
            value = loss(rows[waiting.pop(0)])
            value.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), training.clip)
            optimiser.step()
            losses.append(value.detach())
        if gpu:
            torch.cuda.synchronize()
        return torch.stack(losses).cpu().numpy()[None]

    def gradient(batch: np.ndarray) -> tuple[float, dict[str, np.ndarray]]:
        torch.set_float32_matmul_precision("highest")
        model.eval()
        optimiser.zero_grad(set_to_none=True)
        value = loss(torch.as_tensor(np.array(batch), dtype=torch.long, device=device))
        value.backward()
        model.train()
        return float(value.detach()), {name: p.grad.cpu().numpy() for name, p in model.named_parameters()}

    name = "torch-compile" if compiled else "torch"
    return Rival(Contestant(name, 1, steps, advance), gradient, layout)
