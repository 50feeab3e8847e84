"""The gradient flow learns position after position, in stages far apart, and its heads end up helping each other.

For a trajectory of kind "flow" (docs/theory.md): values[k, j] = <V_k, V_j*>,
attention[k, p] = s_k at the position of feature p, loss_parts[j, p], boundaries b_1 .. b_h.
"""

from __future__ import annotations

import numpy as np

from headway.analysis import over_seeds
from headway.analysis.crossings import first_at_most
from headway.claims.claim import Claim, judged
from headway.records import Finding, Trajectory
from headway.settings import FlowSettings

FlowRun = tuple[FlowSettings, Trajectory]


@judged
def learns_in_order_and_cooperates(
    claim: Claim, run: FlowRun, *, factor: float, mostly: float, cancelled: float, by_feature: bool = True
) -> Finding:
    """Order, pace, separation, competition, specialisation and offset, in every seed.

    Boundaries by more than `factor` apart are separated, a head with the share `mostly` is mostly there, and of a cross
    term that is offset less than the share `cancelled` is left. A head belongs to the position where it holds most of
    that position's feature; or, unless `by_feature`, where it looks most.
    """
    settings, trajectory = run
    heads = settings.head_count
    if settings.features < 2 or heads != settings.features:
        return claim.not_run(
            f"The claim is about as many heads as features, two or more; this run has {heads} heads and "
            f"{settings.features} features."
        )
    ends = np.asarray(trajectory.facts["boundaries"])
    heads_of = carriers(trajectory) if by_feature else favourites(trajectory)
    specialised = all_differ(heads_of) if by_feature else specialises(trajectory)
    parts = {
        "positions in order": in_order(trajectory, settings),
        "each stage slower": slower(ends),
        "clearly separated": separated(ends, factor),
        "all at position 1 first": together_first(trajectory, mostly),
        "one head per position": specialised,
        "remaining attention is offset": specialised & offsets(trajectory, settings, cancelled, heads_of),
    }
    return claim.all_of([run], parts, _detail(trajectory, ends), boundary_ratios(ends).min(axis=1))


def in_order(trajectory: Trajectory, settings: FlowSettings) -> np.ndarray:
    """Half of feature j is learned at position j later for every further j, and for all of them: (seed,).

    Its part of the loss is a quarter by then.
    """
    own = np.diagonal(trajectory["loss_parts"], axis1=2, axis2=3)
    return rising(first_at_most(trajectory.times("loss_parts"), own, 0.25 * 0.5 * np.square(settings.strengths)))


def rising(times: np.ndarray) -> np.ndarray:
    """t_1 < t_2 < .. < t_h, all of them reached: (seed,) of (seed, feature), NaN where one is not."""
    return np.isfinite(times).all(axis=1) & np.all(times[:, 1:] > times[:, :-1], axis=1)


def slower(ends: np.ndarray) -> np.ndarray:
    """b_1 < b_2 - b_1 < .. < b_h - b_(h-1), all of them reached: (seed,)."""
    return np.all(np.diff(np.diff(known(ends), axis=1, prepend=0.0), axis=1) > 0, axis=1)


def known(ends: np.ndarray) -> np.ndarray:
    """NaN in the place of boundaries that were never met."""
    return np.where(np.isfinite(ends), ends, np.nan)


def separated(ends: np.ndarray, factor: float) -> np.ndarray:
    """b_(i+1) > factor b_i for every i, all of them reached: (seed,)."""
    return np.isfinite(ends).all(axis=1) & np.all(boundary_ratios(ends) > factor, axis=1)


def boundary_ratios(ends: np.ndarray) -> np.ndarray:
    """b_(i+1) / b_i, (seed, i): NaN where one is not reached."""
    met = np.where(ends > 0, known(ends), np.nan)
    return met[:, 1:] / met[:, :-1]


def together_first(trajectory: Trajectory, mostly: float) -> np.ndarray:
    """Whether every head is mostly on position 1 at one time before b_2: (seed,)."""
    together = np.all(trajectory["attention"][..., 0] >= mostly, axis=2)
    early = trajectory.times("attention") < np.asarray(trajectory.facts["boundaries"])[:, 1:2]
    return np.any(together & early, axis=1)


def specialises(trajectory: Trajectory) -> np.ndarray:
    """Whether the heads' favourite positions at the end are those of the features, each once: (seed,)."""
    last = trajectory["attention"][:, -1]
    favourites = np.sort(np.argmax(last, axis=-1), axis=-1)
    on_features = np.all(last.max(axis=-1) > trajectory["attention_elsewhere"][:, -1], axis=-1)
    return on_features & np.all(favourites == np.arange(last.shape[-1]), axis=-1)


def favourites(trajectory: Trajectory) -> np.ndarray:
    """The head that looks most at position j at the end, where there is one head per position: (seed, feature)."""
    return np.argsort(np.argmax(trajectory["attention"][:, -1], axis=-1), axis=1)


def all_differ(heads: np.ndarray) -> np.ndarray:
    """Whether every feature has a head of its own: (seed,) of (seed, feature)."""
    return np.array([len(set(row)) == len(row) for row in heads.tolist()])


def offsets(trajectory: Trajectory, settings: FlowSettings, cancelled: float, heads: np.ndarray) -> np.ndarray:
    """Whether the first feature's head cancels what the last feature's head would add there at the end: (seed,).

    `heads` (seed, feature) is the head of each feature.
    """
    leftover, added, offset, together = cross_term(trajectory, heads)
    gone = (offset < 0) & (np.abs(together) < cancelled * added)
    return (leftover > 1 / settings.length) & gone


def cross_term(trajectory: Trajectory, heads: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The last feature at position 1 at the end, with `heads` (seed, feature) the head of each feature; each (seed,):
    attention of the last head there; what it puts there; what the head of feature 1 does; what all heads do together.
    """
    attention, values = (np.asarray(trajectory[name][:, -1], float) for name in ("attention", "values"))
    rows, first, last = np.arange(len(heads)), heads[:, 0], heads[:, -1]
    put = attention[:, :, 0] * values[:, :, -1]
    return attention[rows, last, 0], put[rows, last], put[rows, first], put.sum(axis=1)


def carriers(trajectory: Trajectory) -> np.ndarray:
    """The head that puts most of feature j at position j at the end: (seed, feature)."""
    return np.argmax(trajectory["attention"][:, -1] * trajectory["values"][:, -1], axis=1)


def shared_position(trajectory: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Before b_2: the largest share that every head has on position 1 at once, and whether it is ever the favourite
    position of all: each (seed,).
    """
    attention = trajectory["attention"]
    early = trajectory.times("attention") < np.asarray(trajectory.facts["boundaries"])[:, 1:2]
    shares = np.where(early, attention[..., 0].min(axis=2), 0.0)
    others = np.maximum(attention[..., 1:].max(axis=-1), trajectory["attention_elsewhere"])
    return shares.max(axis=1), np.any(early & np.all(attention[..., 0] > others, axis=2), axis=1)


def _detail(trajectory: Trajectory, ends: np.ndarray) -> str:
    """Boundaries, and what was looked at afterwards, to understand the parts that do not hold."""
    medians = [over_seeds(column) for column in ends.T]
    times = ", ".join(f"{over.median:.3g}" if over.seeds else "(never)" for over in medians)
    shares, favoured = shared_position(trajectory)
    heads = carriers(trajectory)
    differ = all_differ(heads)
    leftover, added, offset, _ = cross_term(trajectory, heads)
    count = len(heads)
    return (
        f"Boundaries at times {times} (medians over seeds). Before the second boundary, all heads attend most to "
        f"position 1 at once in {favoured.sum()} of {count} seeds; the largest share that every head has there at once "
        f"is {np.median(shares):.2f} (median). The heads that put most of feature j at position j all differ at the "
        f"end in {differ.sum()} of {count} seeds; the last one's remaining attention to position 1 is "
        f"{np.median(leftover):.2g}, adds {np.median(added):.2g} of its feature there, and the first one adds "
        f"{np.median(offset):.2g} (medians)."
    )
