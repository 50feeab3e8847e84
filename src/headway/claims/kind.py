"""A6: the minimal model behaves like the full one."""

from __future__ import annotations

import numpy as np

from headway.claims.ladder import meets_rungs_in_order
from headway.claims.looking import compete_then_cooperate
from headway.claims.seeds import finding, not_run
from headway.records import Finding, Trajectory
from headway.settings import Settings

Run = tuple[Settings, Trajectory]

STATEMENT = "Without embedding, norm, residual, MLP, key and output matrices the behaviour is the same in kind."
DEFINITION = (
    "With the same seed, both the full and the minimal model meet the rungs in order (A1) "
    "and their heads compete, then cooperate (A4)."
)
QUANTITY = "how many of the four hold"


def same_in_kind(full: Run, minimal: Run | None, claim: str = "A6") -> Finding:
    """A1 and A4 hold for the full and for the minimal model of the same seed."""
    if minimal is None:
        return not_run(claim, STATEMENT, DEFINITION, QUANTITY, "The minimal model was not run beside the full one.")
    shared = [seed for seed in full[1].seeds if seed in minimal[1].seeds]
    if not shared:
        return not_run(claim, STATEMENT, DEFINITION, QUANTITY, "The two models share no seed.")
    columns = {}
    for name, (settings, trajectory) in (("full", full), ("minimal", minimal)):
        rows = [trajectory.seeds.index(seed) for seed in full[1].seeds if seed in shared]
        for words, test in (
            ("in order", meets_rungs_in_order),
            ("compete, then cooperate", compete_then_cooperate),
        ):
            found = test(settings, trajectory)
            if found.verdict == "not run":
                return not_run(claim, STATEMENT, DEFINITION, QUANTITY, found.detail)
            columns[f"{name}: {words}"] = np.asarray([found.holds[row] for row in rows])
    table = np.stack(list(columns.values()), axis=1)
    trajectory = full[1] if len(shared) == len(full[1].seeds) else _only(full[1], shared)
    return finding(
        claim,
        STATEMENT,
        DEFINITION,
        QUANTITY,
        trajectory,
        table.sum(axis=1),
        table.all(axis=1),
        parts=columns,
    )


def _only(trajectory: Trajectory, seeds: list[int]) -> Trajectory:
    """The trajectory of some of its seeds."""
    rows = [trajectory.seeds.index(seed) for seed in seeds]
    return Trajectory(
        tuple(seeds),
        trajectory.clocks,
        {name: values[rows] for name, values in trajectory.arrays.items()},
        trajectory.clock_of,
        {name: values[rows] for name, values in trajectory.facts.items()},
    )
