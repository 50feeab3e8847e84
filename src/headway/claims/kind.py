"""Another model, other data or another optimiser behaves the same in kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headway.claims.claim import Claim, Run, judged
from headway.claims.competition import masses, nobody_to_compete, overlap_humps
from headway.claims.ladder import in_order
from headway.records import Finding

SAME = "KL to the rungs reaches its minima in order (A1), and the heads compete, then cooperate (A4)"


def behaviour(run: Run, shares: Callable[[Run], np.ndarray] = masses) -> dict[str, np.ndarray]:
    """The two traits of each seed: (seed,) each; heads compete by these shares per head and block."""
    return {
        "minima in order": in_order(run[1]),
        "compete, then cooperate": np.array([bool(hump) for hump in overlap_humps(run, shares)]),
    }


@judged
def same_in_kind(claim: Claim, *runs: Run, names: tuple[str, ...] = ("",), run_by_run: bool = False) -> Finding:
    """Both traits in every run of the same seed; `names` distinguish the runs, and traits are counted, or runs."""
    why = nobody_to_compete(*runs)
    if why:
        return claim.not_run(why)
    traits = {name: behaviour(run) for name, run in zip(names, runs, strict=True)}
    if run_by_run:
        return claim.all_of(runs, {name: np.all(list(seen.values()), axis=0) for name, seen in traits.items()})
    flat = {(name, trait): shows for name, seen in traits.items() for trait, shows in seen.items()}
    return claim.all_of(runs, {": ".join(filter(None, words)): shows for words, shows in flat.items()})
