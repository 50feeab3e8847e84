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
WHY = "a stage also requires a turn that lasts (docs/ladder.md)"


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
    """In how many seeds training entered the last stage in order, where the others ended, and why minima count more."""
    top, seeds = trajectory["kl_rungs"].shape[2] - 1, trajectory.seeds
    found = ladder_stages(trajectory)
    passed = sum(each.rungs == tuple(range(1, top + 1)) for each in found)
    astray = any(top in each.rungs and each.rungs != tuple(range(1, top + 1)) for each in found)
    words = [f"{passed} of {len(seeds)} seeds entered stage {top} of {top}{' in order' if astray else ''}"]
    words += _ends(found, seeds, top)
    ordered = int(in_order(trajectory).sum())
    if ordered != passed:
        words.append(f"KL minima are in order in {ordered} of {len(seeds)}: {WHY}")
    return "; ".join(words)


def _ends(found: Sequence[Stages], seeds: Sequence[int], top: int) -> Iterator[str]:
    """Of the seeds that did not reach the last stage in order: training ended in stage k, in which seeds."""
    short = {seed: each for seed, each in zip(seeds, found, strict=True) if each.rungs != tuple(range(1, top + 1))}
    for end in sorted({each.reached for each in short.values()}):
        own = [str(seed) for seed, each in short.items() if each.reached == end]
        where = "training ended before stage 1" if end == 0 else f"training ended in stage {end}"
        skipped = " without having gone through all before it" if end == top else ""
        yield f"{where}{skipped} in {'seed' if len(own) == 1 else 'seeds'} {', '.join(own)}"
