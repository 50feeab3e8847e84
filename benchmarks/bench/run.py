"""Measure the parts that were asked for, one after the other."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

# JAX takes most of a GPU's memory when it starts, unless told before; PyTorch needs room beside it.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax

from benchmarks.bench import rivals
from benchmarks.bench.cases import PAPER, QUICK
from benchmarks.bench.headway_side import on_gpu
from benchmarks.bench.machine import describe, disturbance
from benchmarks.bench.parts import Bench, against_rivals, evaluation, reduction, scaling, start
from benchmarks.bench.record import BenchRecord
from headway.laboratory import device

MEASURES = {
    "rivals": against_rivals.measure,
    "scaling": scaling.measure,
    "start": start.measure,
    "evaluation": evaluation.measure,
    "reduction": reduction.measure,
}


def measure(
    what: Sequence[str],
    folder: Path,
    *,
    quick: bool,
    opponents: Sequence[str],
    rounds: int | None,
    options: str,
    say: Callable[[str], None],
) -> list[BenchRecord]:
    """Write a record for every part and case into `folder`, each as soon as there is something to write."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    # torch.compile keeps what it made on the disk, by itself outside of the folder that was given.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".torch-") as cache, _environment(cache, quick):
        bench = _bench(folder, quick, opponents, rounds, options, say)
        for part in what:
            made += MEASURES[part](bench)
    return made


def _bench(
    folder: Path, quick: bool, opponents: Sequence[str], rounds: int | None, options: str, say: Callable[[str], None]
) -> Bench:
    """The machine as it is, and the rivals that can take part on it."""
    gpu, machine = on_gpu(), describe(device())
    reasons = {name: rivals.absence(name, gpu) for name in opponents}
    for words in (disturbance(machine), *reasons.values()):
        if words is not None:
            say(words)
    return Bench(
        folder=folder,
        scale=QUICK if quick else PAPER,
        gpu=gpu,
        rivals=tuple(name for name, reason in reasons.items() if reason is None),
        rounds=rounds,
        options=options,
        machine=machine,
        say=say,
    )


@contextmanager
def _environment(cache: str, quick: bool) -> Generator[None]:
    """Settings of this process and of those that it starts, until the end; quickly, XLA compiles in a hurry."""
    wanted = {"TORCHINDUCTOR_CACHE_DIR": cache, **({"JAX_DISABLE_MOST_OPTIMIZATIONS": "1"} if quick else {})}
    before = {name: os.environ.get(name) for name in wanted}
    hurry = jax.config.read("jax_disable_most_optimizations")
    os.environ.update(wanted)
    jax.config.update("jax_disable_most_optimizations", quick or hurry)
    try:
        yield
    finally:
        jax.config.update("jax_disable_most_optimizations", hurry)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
