"""What telemetry costs: a GPT-2 small trains with it and without it, in turns, in one process. Needs torch alone.

    PYTHONPATH=src python3 benchmarks/telemetry_overhead.py --out overhead.json

The model is written for this: 12 layers of 12 heads, T = 1024, vocabulary 50304, bf16, compiled. Telemetry has its
default schedule, a probe of 4 rows and a ladder of five orders. Every turn trains the same number of steps; the ratio
is that of the seconds of all turns with telemetry to those without, probes and saving included. The very first probe,
in which kernels are loaded, comes before the turns, and its seconds are given beside them. --bits tells instead whether
the weights of short trainings, one of them with telemetry, are the same bit for bit, eager and compiled.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - as everybody calls it
from torch import nn

import headway
from headway.telemetry import Schedule, Watch

VOCAB = 50304
ROUNDS = 2
FEW = 12
"""Steps of the trainings whose weights are compared."""


class Layer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, stream: torch.Tensor) -> torch.Tensor:
        batch, length, width = stream.shape
        parts = self.attend(self.first(stream)).split(width, dim=2)
        query, key, value = (each.view(batch, length, self.heads, -1).transpose(1, 2) for each in parts)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        stream = stream + self.project(mixed.transpose(1, 2).reshape(batch, length, width))
        return stream + self.down(F.gelu(self.up(self.second(stream)), approximate="tanh"))


class Model(nn.Module):
    """GPT-2: learned positions, norms before, tied embeddings."""

    def __init__(self, layers: int, width: int, heads: int, length: int) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCAB, width), nn.Embedding(length, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, VOCAB, bias=False)
        self.head.weight = self.tokens.weight
        for parameter in self.parameters():
            if parameter.ndim == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor | None = None) -> torch.Tensor:
        stream = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for layer in self.layers:
            stream = layer(stream)
        logits = self.head(self.norm(stream))
        return logits if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())


class Training:
    """One model, its compiled form, and its optimiser."""

    def __init__(self, options: argparse.Namespace, compiled: bool = True) -> None:
        torch.manual_seed(0)
        self.device = torch.device(options.device)
        model = Model(options.layers, options.width, options.heads, options.length).to(self.device)
        self.model, self.called = model, torch.compile(model) if compiled else model
        fused = self.device.type == "cuda"
        self.optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=fused)
        self.data = torch.from_numpy(text(64 * options.batch * (options.length + 1), 1)).to(self.device)
        self.data = self.data.view(64, options.batch, options.length + 1)

    def step(self, number: int) -> None:
        batch = self.data[number % len(self.data)]
        with torch.autocast(self.device.type, dtype=torch.bfloat16):
            loss = self.called(batch[:, :-1], batch[:, 1:])
        loss.backward()
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)

    def run(self, steps: int, watch: Watch | None = None) -> float:
        """Seconds for so many steps."""
        self.wait()
        began = time.perf_counter()
        for number in range(steps):
            if watch is not None:
                watch.step(number)
            self.step(number)
        if watch is not None:
            watch.finish()
        self.wait()
        return time.perf_counter() - began

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def text(count: int, seed: int) -> np.ndarray:
    """Tokens as rare as words are, each related to the one before: for time alone, not for learning."""
    random = np.random.default_rng(seed)
    rank = np.minimum((VOCAB ** random.random(count)).astype(np.int64), VOCAB - 1)
    return np.where(random.random(count) < 0.5, rank, np.roll(rank, 1) * 7 % VOCAB)


def watch_of(
    training: Training, options: argparse.Namespace, ladder: Any, folder: str, name: str, **more: Any
) -> Watch:
    probe = text(options.rows * options.length, 2).reshape(options.rows, options.length)
    return Watch(
        training.called, probe, ladder=ladder, folder=folder, name=name, autocast=torch.bfloat16, vocab=VOCAB, **more
    )  # fmt: skip


def weights_after(
    options: argparse.Namespace, ladder: Any, folder: str, watched: bool, compiled: bool
) -> list[torch.Tensor]:
    training = Training(options, compiled)
    every = Schedule(growth=None, every=3, share=None)
    training.run(FEW, watch_of(training, options, ladder, folder, "bits", schedule=every) if watched else None)
    return [parameter.detach().clone() for parameter in training.model.parameters()]


def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def identical(options: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Two trainings without telemetry, since some kernels differ from run to run by themselves, and one with."""
    # Kernels that add in any order differ from run to run by themselves, with or without telemetry.
    torch.use_deterministic_algorithms(True)
    found: dict[str, Any] = {"steps": FEW, **about(options)}
    ladder = ladder_of(options)
    for compiled in (False, True):
        ends = [
            weights_after(options, ladder, f"{folder}/{compiled}-{number}", watched, compiled)
            for number, watched in enumerate((False, False, True))
        ]
        kind = "compiled" if compiled else "eager"
        found[kind] = {"without_twice": same(ends[0], ends[1]), "with_and_without": same(ends[0], ends[2])}
    return found


def ladder_of(options: argparse.Namespace) -> Any:
    return headway.ngrams(text(options.ladder_tokens, 3), orders=5, vocab=VOCAB)


def about(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "settings": {name: value for name, value in vars(options).items() if name != "out"},
        "device": torch.cuda.get_device_name() if options.device.startswith("cuda") else "cpu",
        "versions": {"torch": torch.__version__, "headway": headway.__version__},
    }


def measured(options: argparse.Namespace, folder: str) -> dict[str, Any]:
    ladder, training = ladder_of(options), Training(options)
    began = time.perf_counter()
    training.run(5)
    compiling = time.perf_counter() - began
    one = training.run(10) / 10
    first = watch_of(training, options, ladder, folder, "first", schedule=Schedule(growth=None, at=(0,)))
    before = time.perf_counter()
    first.measure(0)
    first_probe = time.perf_counter() - before
    first.finish()
    steps = max(20, int(options.seconds / (2 * ROUNDS) / one))
    peak_before = _peak(training)
    turns, told = [], []
    for turn in range(ROUNDS):
        without = training.run(steps)
        watch = watch_of(training, options, ladder, folder, f"turn {turn}", steps=steps)
        turns.append((without, training.run(steps, watch)))
        print(json.dumps({"turn": turn, "steps": steps, "seconds_without_and_with": turns[-1]}), flush=True)
        assert watch.path is not None and not watch.failures, watch.failures
        told.append(headway.load(watch.path))
    without, with_it = (sum(each) for each in zip(*turns, strict=True))
    probes = [record.provenance["telemetry"] for record in told]
    one_probe = statistics.median(np.concatenate([record.trajectory["probe_seconds"][0] for record in told]))
    return {
        "ratio": with_it / without,
        "turns": [{"steps": steps, "seconds_without": a, "seconds_with": b, "ratio": b / a} for a, b in turns],
        "seconds_a_step": without / (ROUNDS * steps),
        "seconds_a_probe": float(one_probe),
        "seconds_of_the_first_probe": first_probe,
        "probes_a_turn": [each["probes"] for each in probes],
        "found": probes[0]["found"],
        "seconds_compiling": compiling,
        "peak_bytes_without_and_with": [peak_before, _peak(training)],
        **about(options),
    }


def _peak(training: Training) -> int:
    return torch.cuda.max_memory_allocated() if training.device.type == "cuda" else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="also write the JSON to this file")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seconds", type=float, default=20.0, help="of training, with and without together")
    for name, value in {"layers": 12, "width": 768, "heads": 12, "length": 1024, "batch": 16, "rows": 4}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--ladder-tokens", type=int, default=300_000)
    parser.add_argument("--bits", action="store_true", help="compare the weights of short trainings instead")
    options = parser.parse_args()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # what PyTorch asks for where sums have one order
    with tempfile.TemporaryDirectory() as folder:
        found = json.dumps((identical if options.bits else measured)(options, folder), indent=1)
    print(found)
    if options.out is not None:
        options.out.write_text(found + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
