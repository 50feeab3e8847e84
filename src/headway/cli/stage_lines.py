"""How far the seeds of a run came, for the terminal: by stages, and by minima where that count is another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.analysis.seed_stages import ladder_stages
from headway.analysis.stages import Stages
from headway.claims.ladder import in_order
from headway.experiments.outcome import Outcome
from headway.records import Trajectory

MOST_RUNS = 4
"""Runs that get a line each; of more, the page and the verdicts say it."""
WHY = (
    "entering a stage takes more than approaching its rung: KL to its rung must fall and KL to the rung before rise, "
    "each by more than 3 % of its fall, and the stage must last (docs/ladder.md)"
)
"""In words that agree with the last line about the training (`Screen`)."""


def stage_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """One line for each run with a ladder of two rungs or more, if there are few of them."""
    runs = [
        (name, record.trajectory)
        for outcome in outcomes
        for name, record in outcome.usable.items()
        if "kl_rungs" in record.trajectory and record.trajectory["kl_rungs"].shape[2] > 2
    ]
    return [f"{name}: {stages_in_words(trajectory)}" for name, trajectory in runs] if len(runs) <= MOST_RUNS else []


def stages_in_words(trajectory: Trajectory) -> str:
    """How many seeds entered the last stage, which ended earlier or took another way, and why minima count more."""
    top, seeds = trajectory["kl_rungs"].shape[2] - 1, trajectory.seeds
    found = ladder_stages(trajectory)
    entered = sum(top in each.rungs for each in found)
    words = [f"{entered} of {len(seeds)} seeds entered stage {top} of {top}", *_departures(found, seeds, top)]
    passed = sum(each.rungs == tuple(range(1, top + 1)) for each in found)
    ordered = int(in_order(trajectory).sum())
    if ordered != passed:
        words.append(f"KL minima are in order in {ordered} of {len(seeds)}: {WHY}")
    return "; ".join(words)


def _departures(found: Sequence[Stages], seeds: Sequence[int], top: int) -> Iterator[str]:
    """Of the seeds that did not go through all stages in order: what they did, in which seeds."""
    others = [(each, seed) for each, seed in zip(found, seeds, strict=True) if each.rungs != tuple(range(1, top + 1))]
    others.sort(key=lambda each: each[0].reached)
    ways = [(_departure(each, top), str(seed)) for each, seed in others]
    for way in dict(ways):
        own = [seed for each, seed in ways if each == way]
        yield f"{way} in {'seed' if len(own) == 1 else 'seeds'} {', '.join(own)}"


def _departure(stages: Stages, top: int) -> str:
    """The same words as at the top of the page (`departure` in stages.js)."""
    if top not in stages.rungs:
        return f"training ended in stage {stages.reached}" if stages.reached else "training ended before stage 1"
    if stages.rungs[-1] != top:
        return f"training returned to stage {stages.rungs[-1]}"
    if stages.skipped:
        names = " and ".join(map(str, stages.skipped))
        return f"no turn to {'stage' if len(stages.skipped) == 1 else 'stages'} {names}"
    if tuple(dict.fromkeys(stages.rungs)) == tuple(range(1, top + 1)):
        return "training went back to an earlier stage on the way"
    return "training went through the stages in another order"
