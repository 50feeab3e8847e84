"""For every claim runs whose seeds all show it: what one seed of each run measured."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from tests.claims.made import FIGURE_2, OFTEN, TIMES, bottoming_at, climbing, heads_on, made_run, made_settings

from headway.claims.attention_patterns import (
    checkered,
    newest_is_spared,
    pictures_in_order,
    published_pictures,
    spared_less_without_residual,
)
from headway.claims.claim import Run
from headway.claims.clarity import first_stage_less_marked, same_and_clearer
from headway.claims.competition import compete_then_cooperate
from headway.claims.data import choosing_the_length_pays, early_stopping_picks_the_rung, fewer_samples_fewer_stages
from headway.claims.incremental import minima_in_order, staircase_survives, still_incremental
from headway.claims.kind import same_in_kind
from headway.claims.ladder import meets_ngrams_in_order, meets_rungs_in_order, nearer_than_stageless
from headway.experiments import NAMES, find
from headway.experiments.construction import reaches_the_entropy
from headway.experiments.differences import plateau_schedule_stops_at_saddles
from headway.experiments.hierarchy import stages_follow_the_hierarchy
from headway.experiments.init_scale import smaller_start_is_later
from headway.experiments.weight_decay import decay_hardly_matters
from headway.records import Finding
from headway.tasks.construction import ConstructionSettings

CLAIMS = {claim.name: claim for name in NAMES for claim in find(name).claims}
SETTINGS = made_settings()
IN_ORDER = bottoming_at(10, 60, 300)
SHARED = heads_on(FIGURE_2, SETTINGS)
REACHABLE = (0, 1, 1, 0)
"""KL to rungs 0 to 3 that confidence alone reaches; seeds in order come to 0.01."""


class Example(NamedTuple):
    """A claim, its runs in the order in which its predicate wants them, and what one seed of each measured."""

    judge: Callable[..., Finding]
    seeds: tuple[tuple[Any, Mapping[str, Any]], ...]

    def runs(
        self, seeds: Sequence[int] = (0, 1, 2), diverged: Mapping[int, Mapping[int, int]] | None = None
    ) -> list[Any]:
        """The runs with these seeds; `diverged` has the number of a run -> seed -> step."""
        return [
            made_run(settings, seeds, (diverged or {}).get(number), **measured)
            for number, (settings, measured) in enumerate(self.seeds)
        ]


def sized(samples: int | None, context: int | None = None) -> Any:
    """Settings of a training set of this size, or of fresh data; batches of 500."""
    data = {"data": "fresh"} if samples is None else {"samples": samples}
    return SETTINGS.changed(training={"batch": 500, **data}, task={"context": context})


def started(scale: float) -> Any:
    return SETTINGS.changed(model={"initialisation": "uniform", "scale": scale})


def related(ratio: float) -> Any:
    return SETTINGS.changed(task={"ratio": ratio})


def scheduled(schedule: str) -> Any:
    return SETTINGS.changed(training={"schedule": schedule})


def lowest_at(step: int, times: np.ndarray = TIMES) -> np.ndarray:
    """A loss whose lowest value is at this step: 0.01 if that is one of the times."""
    return np.abs(np.log((times + 1) / (step + 1))) + 0.01


def halves(even: float, odd: float) -> np.ndarray:
    """The excess loss of both halves of the test sequences: these at step 60, more before and after."""
    return lowest_at(60)[:, None] - 0.01 + np.array([even, odd])


def combinations(order: Sequence[int], steps: Sequence[int] = (10, 60, 300)) -> np.ndarray:
    """KL to every combination of three blocks over TIMES, for a seed that takes them in, in this order, and is
    nearest to the combinations on its way at these steps; it comes nowhere near the others: (time, combination)."""
    kl = np.full((len(TIMES), 8), 5.0)
    known = 0
    for block, step in zip(order, steps, strict=True):
        known += 2 ** (block - 1)
        kl[:, known] = lowest_at(step)
    return kl


def falling_rate(step: int | None) -> np.ndarray:
    """A rate of 0.08 over OFTEN that is a hundredth of that from a step on."""
    return np.full(len(OFTEN), 0.08) if step is None else np.where(step <= OFTEN, 0.0008, 0.08)


SPARED = SHARED * np.where(np.arange(SHARED.shape[-1]) == 0, 0.9, 1.0)
"""Lag 1 a little below its mate."""
UNEVEN = SETTINGS.changed(task={"weighting": "given", "weights": ((0.7, 0.3), (0.3, 0.7), (0.7, 0.3))})
CHECKERED = SHARED * np.resize([1.2, 0.8, 0.8, 1.2, 1.2, 0.8], SHARED.shape[-1])
"""More attention to the lags 1, 4 and 5, whose weights are larger."""
BOTH = {"kl": IN_ORDER, "attention": SHARED}
NEAR = {"kl": IN_ORDER, "stageless": REACHABLE}
CLEAR, BLURRED = climbing(20, 150, 900), climbing(20, 150, 900, blur=0.25)
OFTEN_SHARED = heads_on(FIGURE_2, SETTINGS, OFTEN)

_SHOWN: dict[str, tuple[Callable[..., Finding], Any]] = {
    "A1": (meets_rungs_in_order, ((SETTINGS, {"kl": IN_ORDER}),)),
    "A1 nearer": (nearer_than_stageless, ((SETTINGS, NEAR),)),
    "A2": (
        meets_ngrams_in_order,
        ((made_settings(references=(2, 4, 6)), {"against_ngrams": IN_ORDER}),),
    ),
    "A3": (partial(pictures_in_order, near_uniform=0.1, mostly=0.5), ((SETTINGS, {"attention": SHARED}),)),
    "A3 published steps": (
        partial(published_pictures, near_uniform=0.1, mostly=0.5),
        ((SETTINGS, {"attention": SHARED}),),
    ),
    "A4": (compete_then_cooperate, ((SETTINGS, {"attention": SHARED}),)),
    "A5": (newest_is_spared, ((SETTINGS, {"attention": SPARED}),)),
    "A5 residual": (
        spared_less_without_residual,
        ((SETTINGS, {"attention": SPARED}), (SETTINGS, {"attention": SHARED})),
    ),
    "A6": (partial(same_in_kind, names=("full", "minimal")), ((SETTINGS, BOTH), (SETTINGS, BOTH))),
    "A7": (
        smaller_start_is_later,
        (
            (started(1e-3), climbing(20, 60, 300)),
            (started(1e-6), climbing(20, 150, 600)),
            (started(0), climbing(20)),
        ),
    ),
    "A8 plateaus": (
        stages_follow_the_hierarchy,
        (
            (related(1.0), climbing(20, 300)),
            (related(1.3), climbing(20, 150, 900, blur=0.2)),
            (related(1.5), CLEAR),
        ),
    ),
    "A9": (
        fewer_samples_fewer_stages,
        (
            (sized(100), climbing(20)),
            (sized(1000), climbing(20, 60)),
            (sized(None), climbing(20, 60, 300)),
        ),
    ),
    "A10": (
        early_stopping_picks_the_rung,
        (
            (sized(100), climbing(20, 60, 300) | {"loss": lowest_at(40, OFTEN)}),
            (sized(1000), climbing(20, 60, 300) | {"loss": lowest_at(150, OFTEN)}),
            (sized(None), climbing(20, 60, 300) | {"loss": lowest_at(900, OFTEN)}),
        ),
    ),
    "A10 adaptive": (
        choosing_the_length_pays,
        (
            (sized(100), {"halves": halves(0.5, 0.5)}),
            (sized(100, context=2), {"halves": halves(0.2, 0.2)}),
            (sized(100, context=4), {"halves": halves(0.9, 0.9)}),
        ),
    ),
    "A11": (same_in_kind, ((sized(None), BOTH),)),
    "A12": (
        same_and_clearer,
        ((SETTINGS, CLEAR | {"attention": OFTEN_SHARED}), (SETTINGS, BLURRED | {"attention": OFTEN_SHARED})),
    ),
    "A13": (
        decay_hardly_matters,
        (
            (SETTINGS, climbing(20, 60, 300)),
            (SETTINGS.changed(training={"weight_decay": 0.0}), climbing(20, 60, 300)),
        ),
    ),
    "A15": (
        first_stage_less_marked,
        ((SETTINGS.changed(model={"layers": 2}), BLURRED), (SETTINGS, CLEAR)),
    ),
    "A16": (checkered, ((UNEVEN, {"kl": IN_ORDER, "attention": CHECKERED}),)),
    "A17": (minima_in_order, ((SETTINGS, {"kl": IN_ORDER}),)),
    "A17 nearer": (
        still_incremental,
        ((SETTINGS, {"kl": IN_ORDER, "subsets": combinations((2, 1, 3)), "stageless": REACHABLE}),),
    ),
    "A18": (same_in_kind, ((SETTINGS.changed(training={"optimiser": "sgd"}), BOTH),)),
    "A19": (partial(minima_in_order, names=("norm", "residual")), ((SETTINGS, BOTH), (SETTINGS, BOTH))),
    "A19 heads": (
        partial(same_in_kind, names=("norm", "residual"), run_by_run=True),
        ((SETTINGS, BOTH), (SETTINGS, BOTH)),
    ),
    "A20": (
        reaches_the_entropy,
        ((ConstructionSettings(sharpness=(0, 5)), {"loss": np.array([2, 1e-4]), "times": np.array([0, 5])}),),
    ),
    "H1": (partial(staircase_survives, names=("learned", "alibi")), ((SETTINGS, NEAR), (SETTINGS, NEAR))),
    "H2": (partial(staircase_survives, names=("1 layer", "2 layers")), ((SETTINGS, NEAR), (SETTINGS, NEAR))),
    "H3": (
        plateau_schedule_stops_at_saddles,
        (
            (scheduled("constant"), climbing(20, 60, 300) | {"rates": falling_rate(None)}),
            (scheduled("plateau"), climbing(20) | {"rates": falling_rate(40)}),
        ),
    ),
    "H3 every step": (
        plateau_schedule_stops_at_saddles,
        (
            (scheduled("constant"), climbing(20, 60, 300) | {"rates": falling_rate(None)}),
            (scheduled("plateau-step"), climbing(20) | {"rates": falling_rate(40)}),
        ),
    ),
}
EXAMPLES = {name: Example(partial(judge, CLAIMS[name]), seeds) for name, (judge, seeds) in _SHOWN.items()}
"""By the name of the claim."""


def other(name: str, number: int = 0, seeds: Sequence[int] = (0,), settings: Any = None, **measured: Any) -> list[Run]:
    """The runs of an example, of which one measured, or is, something else."""
    changed = [
        (settings or chosen, {**seen, **measured}) if place == number else (chosen, seen)
        for place, (chosen, seen) in enumerate(EXAMPLES[name].seeds)
    ]
    return [made_run(chosen, seeds, **seen) for chosen, seen in changed]
