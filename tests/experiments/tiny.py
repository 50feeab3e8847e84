"""The command line with quick grids that a test can wait for: chains of four tokens, three dozen steps, two seeds.

Every run of every quick grid is there, with its own blocks, parts, encoding, schedule and data; only sizes are
smaller. Everything else is as users have it. Run as a program it is `headway`:

    python tiny.py run all --into FOLDER

The variable ONLY of the environment names experiments, with commas: others then have no quick grid, so that `all`
leaves them out.
"""

import functools
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from headway import presets
from headway.experiments import NAMES, find
from headway.settings import (
    EvaluationSettings,
    FlowSettings,
    PortraitSettings,
    StageTimesSettings,
    ToyFlowSettings,
)
from headway.tasks.chain import Chain
from headway.tasks.construction import ConstructionSettings
from headway.tasks.in_context_chain import InContextChain
from headway.tasks.k_gram_points import KGramPointSettings
from headway.tasks.minimal_induction import MinimalInduction
from headway.tasks.recall import Recall
from headway.tasks.regression import Regression
from headway.tasks.run import Settings
from headway.tasks.single_location import SingleLocation
from headway.tasks.sub_n_grams import SubNGrams
from headway.tasks.sub_n_grams_simple import SimpleSubNGrams
from headway.tasks.text import Text
from headway.tasks.toy import Toy

SEEDS = 2
BATCH = 8
SAMPLES = {100: 4, 200: 8, 400: 12, 1000: 16}
"""Quick size of a training set -> ours: one is smaller than a batch, and the others share a program."""
MOST_SAMPLES = 20

# Compiling takes almost all of the time, so that what need not differ is the same: 7 tokens and 1 more hold every
# block of the grids, and with the 4 tokens make one-hot vectors of 12, which three and four heads divide.
TASK = {"vocab": 4, "order": 7, "horizon": 2}


def small(settings: Settings) -> Settings:
    """The same run on a small chain; deep models have two blocks, and none has dropout: both take long to compile."""
    model, training = settings.model, settings.training
    evaluation = EvaluationSettings(
        points=10, snapshots=min(settings.evaluation.snapshots, 5), comparisons=settings.evaluation.comparisons
    )
    return settings.changed(
        task={**TASK, "references": settings.task.references[:2]},  # each n-gram model is a program
        model={"width": 12, "mlp": min(model.mlp, 4), "layers": min(model.layers, 2), "dropout": 0.0},
        training={
            "steps": 36,
            "batch": BATCH,
            "samples": SAMPLES.get(training.samples, MOST_SAMPLES),
            "test_samples": 16,
            "dropout": "always",
        },
        evaluation=evaluation,
    )


def small_construction(settings: ConstructionSettings) -> ConstructionSettings:
    return replace(settings, task=replace(settings.task, **TASK), sharpness=(0.0, 10.0, 20.0), test_samples=16)


def small_flow(settings: FlowSettings) -> FlowSettings:
    return replace(settings, length=4, last=60.0, points=8)


def small_regression(settings: Settings) -> Settings:
    """On the positions of the small flow; runs that differ in the batch alone become one."""
    return settings.changed(
        task={"length": 4, "dimension": 2}, training={"batch": 4, "steps": 40}, evaluation={"points": 8}
    )


def small_portrait(settings: PortraitSettings) -> PortraitSettings:
    return replace(settings, columns=2, rows=2, last=60.0, points=8)


def small_stage_times(settings: StageTimesSettings) -> StageTimesSettings:
    return replace(settings, length=4, last=30.0)  # one length: every other one is another program


def small_toy_flow(settings: ToyFlowSettings) -> ToyFlowSettings:
    """A fourth of every size; all curves have the same few points, so that one program solves all flows."""
    sizes = {"dimension": settings.dimension // 4, "length": settings.length // 4}
    return replace(settings, **sizes, points=min(settings.points, 6))


def small_toy(settings: Settings) -> Settings:
    """The same of descents, and one size of what is trained in full, each of which is a program."""
    task = settings.task
    few = {} if settings.training.data == "exact" else {"batch": 16, "samples": 16}
    sizes = {"dimension": task.dimension // 4, "length": task.length // 4}
    if task.trained == "matrices":
        few |= {"steps": 250}
    return settings.changed(task=sizes, training=few)


WAITING = {"learning_rate": 0.01, "batch": 4, "steps": 20, "test_samples": 8}
SELDOM = {"every": 10, "growth": 0.0}


def small_location(settings: Settings) -> Settings:
    """Two lengths and two dimensions of the quick ones, and too few steps to find anything; as in the appendix, one."""
    task = settings.task
    sizes = {"length": 2 if task.length == 8 else 3, "dimension": task.dimension // 4, "copies": min(task.copies, 3)}
    if task.read_at == "last":
        sizes |= {"length": 3, "dimension": 1}
    return settings.changed(
        task=sizes, model={"width": 4, "heads": 1, "mlp": 0, "layers": 1}, training=WAITING, evaluation=SELDOM
    )


def small_recall(settings: Settings) -> Settings:
    """The same of recall, whose two layers are what it is about."""
    task, pairs = settings.task, settings.task.pairs // 2
    sizes = {"vocab": 4 if task.vocab == 64 else 5, "pairs": pairs, "copies": min(task.copies, float(pairs))}
    if task.mapping == "permutation":
        sizes |= {"vocab": 4, "pairs": 2}
    waiting = {**WAITING, "threshold": 0.3, "until": None}
    return settings.changed(task=sizes, model={"width": 4, "heads": 1, "mlp": 0}, training=waiting, evaluation=SELDOM)


def small_points(settings: KGramPointSettings) -> KGramPointSettings:
    return replace(settings, lengths=(4, 8), samples=16)


def small_chains(settings: Settings) -> Settings:
    """In-context chains and n-grams of eight tokens."""
    return small_of_any(settings.changed(task={"length": 8}))


FILE = Path(__file__).parents[1] / "data" / "speeches.txt"


def small_text(settings: Settings) -> Settings:
    """Sixteen characters of a small text, whatever the tokens: the corpus and the byte pairs need packages."""
    task = settings.task
    small = {"text": str(FILE), "tokeniser": "characters", "vocab": 20 if task.tokeniser == "characters" else 21}
    small |= {"length": 16, "orders": 4, "lags": min(task.lags, 2), "probes": 8}
    mlp = min(settings.model.mlp, 8)
    return settings.changed(
        task=small,
        model={"width": 8, "heads": 2, "mlp": mlp},
        training={"batch": 4, "steps": 20, "test_samples": 8},
        evaluation={"points": 6, "snapshots": 2},
    )


def small_of_any(settings: Settings) -> Settings:
    """Too few steps to find anything."""
    waiting = {"batch": 4, "steps": 20, "test_samples": 8}
    return settings.changed(training=waiting, evaluation={"every": 10, "growth": 0.0, "snapshots": 2})


SMALL: dict[type, Callable[..., Any]] = {
    KGramPointSettings: small_points,
    **dict.fromkeys((InContextChain, MinimalInduction, SubNGrams, SimpleSubNGrams), small_chains),
    SingleLocation: small_location,
    Recall: small_recall,
    Chain: small,
    Toy: small_toy,
    ToyFlowSettings: small_toy_flow,
    ConstructionSettings: small_construction,
    FlowSettings: small_flow,
    PortraitSettings: small_portrait,
    StageTimesSettings: small_stage_times,
    Regression: small_regression,
    Text: small_text,
}
"""A task, or settings of a kind that is not trained -> the same with small sizes."""


def made_small(settings: Any) -> Any:
    if isinstance(settings, Settings):
        return SMALL.get(type(settings.task), small_of_any)(settings)
    return SMALL[type(settings)](settings)


MINIMAL = small(presets.minimal_quick())


@functools.cache
def grid(name: str) -> dict[str, Any]:
    """The quick grid of an experiment, made small."""
    return {run: made_small(settings) for run, settings in find(name).grids["quick"].items()}


def main() -> None:
    from headway.cli import main

    only = os.environ.get("ONLY", ",".join(NAMES)).split(",")
    experiments = {name: find(name) for name in NAMES}  # all before one is changed: some take over others' runs
    for name, experiment in experiments.items():
        if name not in only:
            del experiment.grids["quick"]
            continue
        experiment.grids["quick"] = grid(name)
        experiment.seeds["quick"] = SEEDS
    main()


if __name__ == "__main__":
    main()
