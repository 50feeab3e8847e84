"""Small transformers of paper B and of text, many seeds in one program, beside PyTorch: seconds per seed and step.

    PYTHONPATH=src python -m benchmarks.small_transformers --out small.json

The rival is the same model as a PyTorch user writes it (fused projections, `scaled_dot_product_attention`, fused
AdamW), eager, compiled, or compiled with CUDA graphs; it trains one seed. Its batches are drawn beforehand, Headway
draws its own. Both have the same arithmetic: float32, or TF32 where the run asks for it. First the logits of both are
compared, then they take turns. With --lock FILE, several measurements on one machine wait for each other while they
time, not while they compile.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from benchmarks.bench.alternate import alternate, spread, warm_up
from benchmarks.bench.contestant import Contestant
from benchmarks.bench.headway_side import Begun, begin, on_gpu
from benchmarks.bench.machine import cores, describe
from benchmarks.bench.rivals.small_torch import SmallTransformer, small_layout
from headway.experiments import find
from headway.tasks.run import Settings
from headway.tasks.task import as_example, functions_of, has_shared, shape_of
from headway.training.problem import new_model, precision

if TYPE_CHECKING:
    torch: Any = ...  # so that types can be checked where PyTorch is not installed
    functional: Any = ...
else:
    import torch
    import torch.nn.functional as functional

POOL = 16
"""Batches that the rival trains on, again and again."""
AGREE = 2e-3
"""How far logits may lie apart, as a share of their size."""


def cases() -> dict[str, Settings]:
    text = find("text").grids["paper"]
    recall = find("recall-appendix").grids["paper"]
    one = find("transformer-appendix").grids["paper"]
    return {
        "text": text["speeches, characters, 1 layer"].changed(model={"layers": 2}),
        "text, MLP": text["speeches, characters, MLP"],
        "text, 4 layers": text["speeches, characters, 4 layers"],
        "text, 256 tokens": text["speeches, characters, 256 tokens"],
        "recall": next(iter(recall.values())),
        "single-location": next(iter(one.values())),
    }


def batches(settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets, (batch number, row, ..)."""
    task, count = settings.task, POOL * settings.training.batch
    functions = functions_of(task)
    world = jax.tree.map(jax.numpy.asarray, task.shared()) if has_shared(task) else functions.world(jax.random.key(0))
    drawn = functions.samples(world, jax.random.key(1), count)
    examples = jax.vmap(lambda each: as_example(task, each))(drawn)
    shaped = lambda values: np.asarray(values).reshape(POOL, settings.training.batch, *values.shape[1:])  # noqa: E731
    return shaped(examples.inputs), shaped(examples.targets)


def rival(settings: Settings, begun: Begun, drawn: tuple[np.ndarray, np.ndarray], steps: int, how: str) -> Contestant:
    """A model at Headway's first weights and its loop."""
    device, training = ("cuda" if on_gpu() else "cpu"), settings.training
    predicted, tf32 = shape_of(settings.task).predicted, training.precision == "tf32"
    model = loaded(settings, begun.weights).to(device)
    mode = "reduce-overhead" if how == "torch.compile, CUDA graphs" else None
    forward = model if how == "PyTorch" else torch.compile(model, mode=mode)
    optimiser = torch.optim.AdamW(
        model.parameters(), training.learning_rate, weight_decay=training.weight_decay, fused=device == "cuda"
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
        torch.set_float32_matmul_precision("high" if tf32 else "highest")
        losses = []
        for _ in range(steps):
            value = loss(inputs[done % POOL], targets[done % POOL])
            value.backward()
            if training.clip:
                torch.nn.utils.clip_grad_norm_(model.parameters(), training.clip)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            losses.append(value.detach().clone())
            done += 1
        return torch.stack(losses).cpu().numpy()[None]

    return Contestant(how, 1, steps, advance)


def loaded(settings: Settings, weights: Any) -> Any:
    model = SmallTransformer(settings.model, shape_of(settings.task))
    own = {name: torch.as_tensor(np.array(values)) for name, values in small_layout(weights).items()}
    model.load_state_dict(own)
    return model


def disagreement(settings: Settings, begun: Begun, inputs: np.ndarray) -> float:
    """Largest difference of the logits of one batch, as a share of their largest."""
    predicted = shape_of(settings.task).predicted
    model = new_model(settings, jax.numpy.asarray(0), settings.model.scale)
    with jax.default_matmul_precision("highest"), torch.no_grad():
        torch.set_float32_matmul_precision("highest")
        ours = np.asarray(jax.vmap(lambda row: model(row, predicted))(inputs))
        theirs = loaded(settings, begun.weights)(torch.as_tensor(np.array(inputs)))[:, -predicted:].numpy()
    return float(np.abs(ours - theirs).max() / np.abs(ours).max())


@contextlib.contextmanager
def alone(lock: Path | None) -> Generator[None]:
    """Nobody else who was given the same file is timing meanwhile."""
    if lock is None:
        yield
        return
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def measured(settings: Settings, options: argparse.Namespace) -> dict[str, Any]:
    begun = begin(settings, options.seeds)
    drawn = batches(settings)
    apart = disagreement(settings, begun, drawn[0][0])
    if not apart <= AGREE:
        raise SystemExit(f"the logits of PyTorch and Headway differ by {apart:.1e} of their size: not the same model.")
    headway = begun.contestant(options.steps)
    rivals = [rival(settings, begun, drawn, options.steps, how) for how in options.rivals]
    compiling = {each.name: warm_up(each) for each in (headway, *rivals)}
    with alone(options.lock):
        rounds = list(alternate(headway, rivals, options.rounds))
    found = {}
    for number, each in enumerate(rivals):
        pairs = [pairs[number] for pairs in rounds]
        found[each.name] = {
            "milliseconds": spread([1000 * pair.seconds for pair in pairs])._asdict(),
            "ratio": spread([pair.seconds / pair.headway for pair in pairs])._asdict(),
        }
    own = spread([1000 * pair.headway for pairs in rounds for pair in pairs])._asdict()
    return {"logits_apart": apart, "headway_milliseconds": own, "rivals": found, "seconds_before": compiling}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="also write the JSON to this file")
    parser.add_argument("--case", action="append", choices=cases(), help="only this one (may be repeated)")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--steps", type=int, default=30 if on_gpu() else 3)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rivals", nargs="+", default=["PyTorch", "torch.compile"], help="eager, compiled, ..")
    parser.add_argument("--lock", type=Path, help="hold this file's lock while timing")
    options = parser.parse_args()
    torch.set_num_threads(cores())
    results = {}
    for name, settings in cases().items():
        if options.case and name not in options.case:
            continue
        with precision(settings):
            results[name] = measured(settings, options)
        told = {who: round(each["ratio"]["median"], 2) for who, each in results[name]["rivals"].items()}
        own = results[name]["headway_milliseconds"]["median"]
        print(f"{name}: {own:.3g} ms a seed and step; times as long: {told}", flush=True)
        kept = {"seeds": options.seeds, "machine": describe(device()), "cases": results}
        if options.out is not None:
            options.out.write_text(json.dumps(kept, indent=1) + os.linesep, encoding="utf-8")


def device() -> str:
    return f"{jax.devices()[0].platform}: {jax.devices()[0].device_kind}"


if __name__ == "__main__":
    main()
