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
from benchmarks.bench.cases import PAPER, QUICK, names
from benchmarks.bench.headway_side import on_gpu
from benchmarks.bench.machine import describe, disturbance
from benchmarks.bench.parts import Bench, against_rivals, evaluation, forms, reduction, scaling, start, transformers
from benchmarks.bench.record import BenchError, BenchRecord
from headway.training.chunks import device

MEASURES = {
    "rivals": against_rivals.measure,
    "transformers": transformers.measure,
    "forms": forms.measure,
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
    only: Sequence[str] = (),
    processes: int = 1,
    say: Callable[[str], None],
) -> list[BenchRecord]:
    """Write a record for every part and case into `folder`, each as soon as there is something to write."""
    scale = QUICK if quick else PAPER
    what = _parts_with(only, what, scale)
    folder.mkdir(parents=True, exist_ok=True)
    # torch.compile keeps what it made on the disk, by itself outside of the folder that was given.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".torch-") as cache, _environment(cache, quick):
        gpu, machine = on_gpu(), describe(device())
        reasons = {name: rivals.absence(name, gpu) for name in opponents}
        for words in filter(None, (disturbance(machine), *reasons.values())):
            say(words)
        present = tuple(name for name, reason in reasons.items() if reason is None)
        bench = Bench(folder, scale, gpu, present, rounds, options, machine, say, tuple(only), processes)
        for part in what:
            MEASURES[part](bench)
    return list(bench.made.values())


def _parts_with(only: Sequence[str], what: Sequence[str], scale: str) -> Sequence[str]:
    """The parts that have one of these cases; a case that none of them has is a BenchError."""
    if not only:
        return what
    known = {part: names(part, scale) for part in what}
    missing = set(only).difference(*known.values())
    if missing:
        there = "; ".join(f"{part}: {', '.join(own)}" for part, own in known.items() if own)
        raise BenchError(f"there is no case {', '.join(sorted(missing))} in what is to be measured. There are {there}.")
    return [part for part, own in known.items() if set(own) & set(only)]


@contextmanager
def _environment(cache: str, quick: bool) -> Generator[None]:
    """Settings of this process and of those that it starts, until the end; quickly, XLA compiles in a hurry."""
    before, hurry = dict(os.environ), jax.config.read("jax_disable_most_optimizations")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
    # Processes that torch.compile starts beside JAX's threads were seen to wait for ever, on a GPU.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    if quick:
        os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"
    jax.config.update("jax_disable_most_optimizations", quick or hurry)
    try:
        yield
    finally:
        jax.config.update("jax_disable_most_optimizations", hurry)
        os.environ.clear()
        os.environ.update(before)
