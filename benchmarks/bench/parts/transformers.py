"""Many seeds of a small transformer in one program: seconds per seed and step beside PyTorch's, and beside the floor.

The floor is the time that the matrix products of a step alone take at the rate of one large product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from benchmarks.bench import rivals
from benchmarks.bench.alternate import alternate, seconds_per_step
from benchmarks.bench.cases import QUICK, Case
from benchmarks.bench.contestant import Contestant
from benchmarks.bench.headway_side import Begun, begin
from benchmarks.bench.machine import Others
from benchmarks.bench.parts import Bench
from benchmarks.bench.parts.against_rivals import warm_up_all
from benchmarks.bench.record import BenchError
from benchmarks.bench.small import absent, batches
from benchmarks.floor import ROUNDS, of_step, rates
from headway.tasks.run import Settings
from headway.tasks.task import shape_of
from headway.training.problem import new_model, precision

AGREE = 2e-3
"""How far logits may lie apart, as a share of their largest."""


def measure(bench: Bench) -> None:
    """All cases: first that both are the same model, then who takes how long."""
    for case in bench.cases("transformers"):
        lack = absent(case.name)
        if lack is not None:
            bench.say(f"{case.name} is left out: {lack}")
            continue
        with precision(case.settings):
            _measure(bench, case, bench.rivals_of("transformers"))


def _measure(bench: Bench, case: Case, names: tuple[str, ...]) -> None:
    begun, drawn = begin(case.settings, case.seeds), batches(case.settings)
    bench.say(f"{case.name}: counting operations and measuring the rate of a large product")
    measured: dict[str, Any] = {
        "operations": of_step(case.settings),
        "operations_per_second": max(rates(1 if bench.scale == QUICK else ROUNDS).values()),
        "differences": {},
        "compile_seconds": {},
        "rounds": [],
        "headway": [],
        "others": [],
    }
    opponents = []
    if names:
        from benchmarks.bench.rivals.transformer_training import transformer_rival

        measured["differences"] = {"logits": _agreed(case.settings, begun, drawn[0][0])}
        steps = case.pace.rival_steps
        opponents = [transformer_rival(name, case.settings, begun.weights, drawn, steps, bench.gpu) for name in names]
    headway = begun.contestant(case.pace.headway_steps)
    measured["compile_seconds"] = warm_up_all(bench, case, (headway, *opponents))
    in_turn(bench, "transformers", case, headway, opponents, measured)


def in_turn(
    bench: Bench,
    part: str,
    case: Case,
    headway: Contestant,
    opponents: Sequence[Contestant],
    measured: dict[str, Any],
) -> None:
    """Round by round, each rival and then Headway; written after each of them."""
    others = Others()
    for number, pairs in enumerate(alternate(headway, opponents, case.pace.rounds), start=1):
        measured["rounds"].append([pair._asdict() for pair in pairs])
        # Without a rival to take turns with, Headway's time alone.
        measured["headway"].append(pairs[-1].headway if pairs else seconds_per_step(headway))
        measured["others"].append(others.share())
        bench.keep(part, case, measured)
        ratios = ", ".join(f"{rivals.TITLES[pair.rival]} {pair.seconds / pair.headway:.1f}x" for pair in pairs)
        bench.say(f"{case.name}: round {number} of {case.pace.rounds}, {ratios or 'Headway alone'}")


def _agreed(settings: Settings, begun: Begun, inputs: np.ndarray) -> float:
    """max |ours - PyTorch's| / max |ours| of a batch's logits; too large is a BenchError."""
    from benchmarks.bench.rivals.transformer_training import torch_logits

    model = new_model(settings, jax.numpy.asarray(0), settings.model.scale)
    predicted = shape_of(settings.task).predicted
    with jax.default_matmul_precision("highest"):
        ours = np.asarray(jax.vmap(lambda row: model(row, predicted))(inputs))
    theirs = torch_logits(settings, begun.weights, inputs)
    apart = float(np.abs(ours - theirs).max() / np.abs(ours).max())
    if not apart <= AGREE:
        raise BenchError(
            f"the logits of PyTorch and Headway differ by {apart:.1e} of their size: not the same model, and times of "
            "different computations cannot be compared. One of the two has a fault: please report it."
        )
    return apart
