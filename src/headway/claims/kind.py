"""A6, A11, A12, A18 and A19: another model, other data or another optimiser behaves the same in kind."""

from __future__ import annotations

import numpy as np

from headway.analysis import clarity, over_seeds
from headway.claims.claim import Claim, Run, judged
from headway.claims.competition import nobody_to_compete, overlap_humps
from headway.claims.ladder import in_order
from headway.records import Finding, Trajectory

SAME = "the rungs are met in order (A1) and the heads compete, then cooperate (A4)"

A6 = Claim(
    "A6",
    "Without embedding, norm, residual, MLP, key and output matrices the behaviour is the same in kind.",
    f"With the same seed, in the full and in the minimal model, {SAME}.",
    "how many of the four hold",
)
A11 = Claim(
    "A11",
    "With fresh data at every step the behaviour is the same in kind.",
    f"With new sequences at every step {SAME}.",
    "how many of the two hold",
)
A12 = Claim(
    "A12",
    "With the furthest block the most important the behaviour is the same in kind, and easier to see.",
    f"With the order of importance reversed {SAME}; and the least clear of its plateaus (docs/measures.md) is "
    f"clearer than "
    "with the newest block first, same seed.",
    "clarity of the least clear plateau minus that with the newest block first",
)
A18 = Claim(
    "A18",
    "Under SGD the behaviour is the same in kind.",
    f"With SGD and momentum {SAME}.",
    "how many of the two hold",
)
A19 = Claim(
    "A19",
    "No single component matters: without norm, residual, MLP, key, output or embedding matrices learning is "
    "incremental.",
    f"With the same seed, for each component removed alone, {SAME}.",
    "for how many of the removed components both hold",
)


def behaviour(run: Run) -> dict[str, np.ndarray]:
    """The two traits of each seed: (seed,) each."""
    return {
        "in order": in_order(run[1]),
        "compete, then cooperate": np.array([bool(hump) for hump in overlap_humps(run)]),
    }


@judged
def same_in_kind(claim: Claim, *runs: Run, names: tuple[str, ...] = ()) -> Finding:
    """Both traits in every run of the same seed; `names` tell the runs apart."""
    why = nobody_to_compete(*runs)
    if why:
        return claim.not_run(why)
    columns = {
        f"{name}: {trait}" if name else trait: seen
        for name, run in zip(names or ("",) * len(runs), runs, strict=True)
        for trait, seen in behaviour(run).items()
    }
    table = np.stack(list(columns.values()), axis=1)
    return claim.finding(runs, table.sum(axis=1), table.all(axis=1), parts=columns)


@judged
def same_and_clearer(claim: Claim, run: Run, usual: Run) -> Finding:
    """Both traits, and a clearer least clear plateau than in the usual order."""
    why = nobody_to_compete(run, usual)
    if why:
        return claim.not_run(why)
    traits = behaviour(run)
    here, there = least_clear(run[1]), least_clear(usual[1])
    clearer = here > there
    return claim.finding(
        [run, usual],
        here - there,
        np.all([*traits.values(), clearer], axis=0),
        clarity_in_words(here, there),
        {**traits, "clearer": clearer},
    )


@judged
def no_part_matters(claim: Claim, *runs: Run, names: tuple[str, ...]) -> Finding:
    """Both traits without each component."""
    why = nobody_to_compete(*runs)
    if why:
        return claim.not_run(why)
    columns = {
        f"without {name}": np.all(list(behaviour(run).values()), axis=0) for name, run in zip(names, runs, strict=True)
    }
    table = np.stack(list(columns.values()), axis=1)
    return claim.finding(runs, table.sum(axis=1), table.all(axis=1), parts=columns)


def plateau_clarity(trajectory: Trajectory) -> np.ndarray:
    """How clearly each seed's loss waits on each plateau: (seed, h - 1)."""
    times = trajectory.times("excess_loss")
    return np.stack(
        [clarity(times, loss, kl) for loss, kl in zip(trajectory["excess_loss"], trajectory["kl_rungs"], strict=True)]
    )


def clarity_in_words(here: np.ndarray, there: np.ndarray) -> str:
    """Both medians over seeds, and in how many seeds there is no plateau to look at."""
    ours, theirs = over_seeds(here), over_seeds(there)
    if not (ours.seeds and theirs.seeds):
        return "No seed has all plateaus in both runs."
    missing = f" {ours.missing} seeds lack a plateau." if ours.missing else ""
    return f"Clarity {ours.median:.2f} against {theirs.median:.2f} (medians over seeds).{missing}"


def least_clear(trajectory: Trajectory) -> np.ndarray:
    """The clarity of each seed's least clear plateau; NaN if one is not known."""
    found = plateau_clarity(trajectory)
    return found.min(axis=1) if found.shape[1] else np.full(len(found), np.nan)
