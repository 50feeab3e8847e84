"""What there is to wait for before the first step, and how much memory training takes, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax

from benchmarks.bench.cases import QUICK, Case
from benchmarks.bench.contestant import HEADWAY
from benchmarks.bench.parts import Bench
from benchmarks.bench.record import BenchError
from headway.tasks.run import Settings
from headway.training.checkpoint import flatten
from headway.training.problem import new_model

CHECKOUT = Path(__file__).parents[3]
SEEN = {"line": "training", "step": "step"}
"""What is waited for, and the word with which its line begins."""


def measure(bench: Bench) -> None:
    """Every case and contestant alone, and the whole command up to its first step."""
    cases = bench.cases("start")
    for case in cases:
        alone = {}
        for name in (HEADWAY, *bench.rivals_of("start")):
            bench.say(f"{case.name}: {name} alone in a process")
            alone[name] = _alone(bench, case, name)
            bench.keep("start", case, {"alone": alone})
    _first_step(bench, cases[0])


def _alone(bench: Bench, case: Case, contestant: str) -> dict[str, Any]:
    """What `benchmarks.bench.alone` says about one contestant."""
    task = {
        "case": case.name,
        "scale": bench.scale,
        "gpu": bench.gpu,
        "contestant": contestant,
        "shapes": _shapes(case.settings),
        "started": time.time(),
    }
    outcome = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench.alone", json.dumps(task)],
        capture_output=True,
        text=True,
        env=checkout_environment(),
    )
    if outcome.returncode:
        last = (outcome.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise BenchError(f"{contestant} alone on {case.name} ended with {outcome.returncode}: {last}")
    return json.loads(outcome.stdout.splitlines()[-1])


def _shapes(settings: Settings) -> dict[str, list[int]]:
    """Of the model's arrays; a rival's process gets other numbers in the same shapes."""
    model = jax.jit(lambda: new_model(settings, jax.numpy.uint32(0), 1.0))()
    return {name: list(leaf.shape) for name, leaf in flatten(model).items()}


def _first_step(bench: Bench, minimal: Case) -> None:
    """The main job as a user starts it, up to the line that tells of its first step; quickly, in small shapes.

    Each round it is started twice: with nothing that an earlier run compiled, and then with what the first one did.
    """
    taken: dict[str, list[float]] = {f"{which}_{what}_seconds": [] for which in ("new", "again") for what in SEEN}
    for _ in range(1 if bench.scale == QUICK else 3):
        with tempfile.TemporaryDirectory(dir=bench.folder, prefix=".start-") as folder:
            for which in ("new", "again"):
                bench.say(f"the main job, up to its first step{', again' if which == 'again' else ''}")
                seen = _main_job(bench, minimal, Path(folder), which)
                for what, word in SEEN.items():
                    taken[f"{which}_{what}_seconds"].append(seen[word])
        bench.keep("start", replace(minimal, name="main-job"), taken)


def _main_job(bench: Bench, minimal: Case, folder: Path, into: str) -> dict[str, float]:
    """Seconds from its start until the first line that begins with each word."""
    # One step, because the last step is told at once; what is compiled is the same.
    command = [*_launcher(), "run", "stages", "--training.steps", "1", "--no-page", "--into", str(folder / into)]
    command += ["--on", "here"]  # workers report their steps in other lines
    command += _small(minimal) if bench.scale == QUICK else []
    environment = checkout_environment() | {"XDG_CACHE_HOME": str(folder / "cache")}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)  # who chose a place of their own would find programs there
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    seen: dict[str, float] = {}
    for line in process.stderr:
        word = line.split()[0] if line.split() else ""
        seen.setdefault(word, time.perf_counter() - began)
    if process.wait() or not seen.keys() >= set(SEEN.values()):
        raise BenchError(f"`{' '.join(command)}` ended with {process.returncode} before its first step.")
    return seen


def _small(minimal: Case) -> list[str]:
    """The shapes of the quick case as options."""
    task, training = minimal.settings.task, minimal.settings.training
    shapes = {"--task.vocab": task.vocab, "--task.horizon": task.horizon, "--training.batch": training.batch}
    shapes |= {"--training.samples": training.samples, "--training.test-samples": training.test_samples, "--seeds": 1}
    return [word for name, value in shapes.items() for word in (name, str(value))]


def _launcher() -> list[str]:
    """`./run` where this process belongs to its environment, else this Python."""
    if Path(sys.prefix) == CHECKOUT / ".venv":
        return [str(CHECKOUT / "run")]
    return [sys.executable, "-m", "headway"]


def checkout_environment() -> dict[str, str]:
    """This process's, in which the same package and these benchmarks are found."""
    places = [str(CHECKOUT / "src"), str(CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
