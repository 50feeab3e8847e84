"""Every experiment's quick grid with made runs in the place of trained ones; whoever asks may make all of them odd."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.claims.made_flows import made_theory
from tests.experiments.tiny import small_text
from tests.report.made_any import made_of_any
from tests.report.made_emergence import made_emergence
from tests.report.made_flow import made_flow
from tests.report.made_portrait import made_portrait
from tests.report.made_run import FOUR, made_trajectory
from tests.report.made_stage_times import made_stage_times
from tests.report.made_toy import made_toy

from headway.experiments import find
from headway.presets import beside_ngrams
from headway.records import Cell, Trajectory
from headway.settings import FlowSettings, PortraitSettings, StageTimesSettings, ToyFlowSettings
from headway.store import Store
from headway.tasks.chain import Blocks, Chain
from headway.tasks.construction import ConstructionSettings
from headway.tasks.k_gram_points import KGramPointSettings
from headway.tasks.recall import Recall
from headway.tasks.regression import Regression
from headway.tasks.run import Settings
from headway.tasks.single_location import SingleLocation
from headway.tasks.text import Text
from headway.tasks.toy import Toy

Change = Callable[[Trajectory], Trajectory]

NOT_TRAINED: dict[type, Callable[..., Trajectory]] = {
    ToyFlowSettings: made_toy,
    FlowSettings: made_flow,
    PortraitSettings: made_portrait,
    StageTimesSettings: made_stage_times,
    KGramPointSettings: lambda settings, seeds: _points(settings, seeds),
}
"""Settings without blocks and heads that could be odd -> what makes a trajectory of them, for some seeds."""


def made_results(
    experiment: str,
    *,
    heads: int | None = None,
    blocks: Blocks | None = None,
    seeds: tuple[int, ...] = FOUR,
    diverged: dict[int, int] | None = None,
    change: Change = lambda trajectory: trajectory,
) -> dict[str, tuple[Any, Trajectory]]:
    """Name of a run -> its settings, with other heads or blocks where that is asked for, and a made trajectory.

    The n-gram model of a window that is longer than the blocks reach cannot be made, and is missing.
    """
    results = {}
    for name, quick in find(experiment).grids["quick"].items():
        if type(quick) in NOT_TRAINED:
            results[name] = quick, change(NOT_TRAINED[type(quick)](quick, seeds))
            continue
        if isinstance(quick.task, Regression):
            results[name] = quick, change(made_theory(quick, seeds=seeds)[1])
            continue
        if isinstance(quick.task, Toy):
            results[name] = quick, change(made_toy(quick, seeds, diverged))
            continue
        if isinstance(quick.task, (SingleLocation, Recall)):
            results[name] = quick, change(made_emergence(quick, seeds, diverged))
            continue
        if isinstance(quick.task, Text):
            # On a text that is here; settings that claims look at stay as they are.
            settings = small_text(quick)
            results[name] = settings, change(made_of_any(settings, seeds, diverged))
            continue
        if not isinstance(quick.task, Chain):
            results[name] = quick, change(made_of_any(quick, seeds, diverged))
            continue
        if blocks is not None and (quick.task.context or 0) > max(map(max, blocks)):
            continue
        task = quick.task if blocks is None else on_blocks(quick.task, blocks)
        if isinstance(quick, ConstructionSettings):
            settings = dataclasses.replace(quick, task=task)
            results[name] = settings, change(_construction(settings, seeds))
        else:
            settings = _changed(quick, task, heads)
            results[name] = settings, change(made_run(settings, seeds, diverged))
    return results


def on_blocks(task: Chain, blocks: Blocks) -> Chain:
    """The same chain on other blocks; where it has weights, the first lag of each has the largest."""
    weights = tuple(tuple(0.3 if place else 0.7 for place, _ in enumerate(block)) for block in blocks)
    return dataclasses.replace(task, blocks=blocks, weights=weights if task.weights else (), references=())


def _changed(settings: Settings, task: Chain, heads: int | None) -> Settings:
    model: dict[str, Any] = {} if heads is None else {"heads": heads}
    if settings.model.embedding == "one-hot":  # The blocks set its width, which heads may then not divide.
        model |= {"keys": False, "output": False}
    changed = settings.changed(task=dataclasses.replace(task, references=()), model=model)
    return beside_ngrams(changed) if settings.references else changed


def made_run(settings: Settings, seeds: tuple[int, ...] = FOUR, diverged: dict[int, int] | None = None) -> Trajectory:
    """All that a training measures: the halves of the test alike, blocks taken in, in any order."""
    made = made_trajectory(settings, seeds, diverged)
    rungs = len(settings.task.blocks)
    more = {"excess_halves": np.repeat(made["excess_loss"][..., None], 2, axis=2)}
    stageless = {"kl_stageless": np.full((len(seeds), rungs + 1), 0.3, np.float32)}
    if settings.evaluation.comparisons:
        sizes = [subset.bit_count() for subset in range(2**rungs)]
        more["kl_subsets"] = made["kl_rungs"][..., sizes]
        stageless["kl_stageless_subsets"] = stageless["kl_stageless"][:, sizes]
    whole = dataclasses.replace(
        made,
        arrays={**made.arrays, **more},
        clock_of={**made.clock_of, **dict.fromkeys(more, "evaluation")},
        facts={**made.facts, **stageless},
    )
    return whole if settings.evaluation.snapshots else only("snapshot", [])(whole)


def _construction(settings: ConstructionSettings, seeds: tuple[int, ...]) -> Trajectory:
    """exp(-sharpness), and a little more from seed to seed; nothing is trained, so that nothing can diverge."""
    sharpness = np.asarray(settings.sharpness)
    loss = np.stack([(1 + 0.1 * seed) * np.exp(-sharpness) for seed in seeds]).astype(np.float32)
    return Trajectory(seeds, {"sharpness": sharpness}, {"excess_loss": loss}, {"excess_loss": "sharpness"})


def _points(settings: KGramPointSettings, seeds: tuple[int, ...]) -> Trajectory:
    """Norms that fall like 1/T at the points of k-grams, and nowhere else."""
    lengths = np.asarray(settings.lengths)
    falling = np.ones((len(seeds), 1, settings.task.grams), np.float32) / lengths[:, None].astype(np.float32)
    level = np.full((len(seeds), len(lengths)), 0.4, np.float32)
    arrays = dict.fromkeys(("gradient_scores", "gradient_all", "loss", "rung_loss"), falling)
    arrays |= {"gradient_random": level}
    return Trajectory(seeds, {"length": lengths}, arrays, dict.fromkeys(arrays, "length"))


def only(clock: str, rows: list[int]) -> Change:
    """The trajectory at some of the times of a clock, where it has that clock and times."""

    def pick(trajectory: Trajectory) -> Trajectory:
        if not len(trajectory.clocks.get(clock, ())):
            return trajectory
        arrays = {
            name: values[:, rows] if trajectory.clock_of[name] == clock else values
            for name, values in trajectory.arrays.items()
        }
        return dataclasses.replace(
            trajectory, arrays=arrays, clocks={**trajectory.clocks, clock: trajectory.clocks[clock][rows]}
        )

    return pick


def place_quick_runs(store: Store) -> None:
    """Quick runs, made by formulas: all that stages, attention, ladder and construction need."""
    for name, run in (("ladder", "full"), ("ladder", "minimal"), ("construction", "construction")):
        seeds = tuple(range(find(name).seeds["quick"]))
        settings, trajectory = made_results(name, seeds=seeds)[run]
        with store.open(Cell(settings, seeds)) as work:
            work.place(trajectory, {"device": "none: made up"})
