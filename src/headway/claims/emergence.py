"""B5 to B7 on paper B's toy: a sharp transition, later for longer and larger inputs, sooner with repetition."""

from __future__ import annotations

import numpy as np

from headway.analysis.power_laws import fit_power_laws
from headway.claims.claim import AnyRun, Claim, judged
from headway.claims.toy_laws import NEAR
from headway.records import Finding
from headway.settings import ToySettings

EARLY = 0.9
"""Share of the first loss at which a plateau begins to end."""
MOVED = 0.1
"""Share of its way after which a quantity has moved."""
AGREES = 1.1
"""By which factor a prediction may miss."""

B5 = Claim(
    "B5",
    "The transition is sharp, and W moves before attention does.",
    f"In every case of the run the loss takes less time from {EARLY:.0%} of its start to the threshold than it took to "
    f"get to {EARLY:.0%}; and <W, W*>/d has come {MOVED:.0%} of its way from 0 to 1 before attention has come "
    f"{MOVED:.0%} of its way from B/T to 1.",
    "time of the fall, relative to the time before it; the longest of all cases",
)
B5_SAMPLES = B5.called("B5 samples", "The same with a training set instead of the expectation.")
B6 = Claim(
    "B6",
    "The longer the input and the more diverse its tokens, the later the transition: the plateau grows with T and d.",
    "The plateau is strictly longer for every larger T at the same d, and for every larger d at the same T.",
    "plateau at the largest T and d, relative to that at the smallest",
)
B6_CLOSED = Claim(
    "B6 closed form",
    "The plateau lasts sqrt(pi/2) sqrt(d) T (derived by us from the flow before it saturates).",
    f"For every d the plateau is within a factor of {AGREES} of that at the largest T, and no larger T is further off.",
    "plateau relative to the closed form, the furthest off of those at the largest T",
)
B6_LINEAR = Claim(
    "B6 escape time",
    "The escape time of the linearised flow, (sqrt(d) T / 2) arcsinh(0.8 sqrt(d) T), fits the plateau.",
    f"Least squares on logarithms: the exponent of the plateau in the escape time is within {NEAR} of 1.",
    "exponent of the plateau in the escape time",
)
_EFFICIENT = (
    "At every d and T the plateau is strictly shorter for every larger B and for every larger p; and a doubling of B "
    "shortens it by a larger factor than a doubling of p, on average over all doublings from the smallest B to the "
    "largest and from the smallest p above 0 to the largest."
)
B7 = Claim(
    "B7",
    "Repetition shortens the plateau, and repeating in the context is more efficient than across samples.",
    f"{_EFFICIENT} Where B changes, the gap between the logits is itself descended, as in the slides' reduced flow.",
    "by what factor a doubling of B shortens the plateau, relative to one of p (geometric means over d and T)",
)
B7_LOGITS = Claim(
    "B7 logits",
    "The same with the T logits as parameters, as in a model (asked by us).",
    f"{_EFFICIENT} The T logits are descended.",
    B7.quantity,
)


def reached(times: np.ndarray, values: np.ndarray, level: float) -> float:
    """When a curve first gets to a level from where it starts, between the points that were kept; infinite if never."""
    rising = level > values[0]
    there = np.flatnonzero(values >= level if rising else values <= level)
    if not len(there):
        return np.inf
    last = int(there[0])
    if last == 0:
        return float(times[0])
    before, after = values[last - 1], values[last]
    return float(times[last - 1] + (times[last] - times[last - 1]) * (level - before) / (after - before))


@judged
def sharp_and_in_order(claim: Claim, run: AnyRun) -> Finding:
    """t(threshold) - t(early) < t(early), and t(w moved) < t(attention moved), in every case."""
    _, trajectory = run
    times = trajectory.times("loss")
    if len(times) < 2:
        return claim.not_run("No curves were kept.")
    falls, ordered = np.full((2, *trajectory.facts["plateau"].shape), np.nan)
    for seed, case in np.ndindex(falls.shape):
        loss, attention, value = (trajectory[name][seed, :, case].astype(float) for name in ("loss", "focus", "value"))
        early = reached(times, loss, EARLY * loss[0])
        # The fact is exact; a curve may have too few points to show where it ends.
        end = trajectory.facts["plateau"][seed, case] / trajectory.facts["closed_form"][seed, case]
        falls[seed, case] = (end - early) / early if np.isfinite(early) else np.inf
        moved = reached(times, attention, attention[0] + MOVED * (1 - attention[0]))
        ordered[seed, case] = reached(times, value, MOVED) < moved
    sharp, order = np.all(falls < 1, axis=1), np.all(ordered == 1, axis=1)
    longest = np.where(np.isfinite(falls).all(axis=1), falls.max(axis=1), np.nan)
    return claim.finding([run], longest, sharp & order, parts={"sharp": sharp, "W first": order})


@judged
def grows_with_length_and_dimension(claim: Claim, run: AnyRun) -> Finding:
    """Strictly, along both axes."""
    plateaus = _by_size(run)
    if min(plateaus.shape[1:]) < 2:
        return claim.not_run("It needs two lengths and two dimensions.")
    longer = _rises(plateaus, axis=2)
    larger = _rises(plateaus, axis=1)
    ratio = plateaus[:, -1, -1] / plateaus[:, 0, 0]
    return claim.finding([run], ratio, longer & larger, parts={"grows with T": longer, "grows with d": larger})


@judged
def closed_form_holds(claim: Claim, run: AnyRun) -> Finding:
    """plateau / (sqrt(pi/2) sqrt(d) T) -> 1."""
    ratio = _by_size(run) / _by_size(run, "closed_form")
    off = np.abs(np.log(ratio))
    if off.shape[2] < 2:
        return claim.not_run("It needs two lengths.")
    near = np.all(off[:, :, -1] <= np.log(AGREES), axis=1)
    nearer = np.all(np.diff(off, axis=2) <= 0, axis=(1, 2))
    worst = np.argmax(off[:, :, -1], axis=1)
    value = np.take_along_axis(ratio[:, :, -1], worst[:, None], axis=1)[:, 0]
    return claim.finding([run], value, near & nearer, parts={"near at the largest T": near, "ever nearer": nearer})


@judged
def proportional_to_the_escape_time(claim: Claim, run: AnyRun) -> Finding:
    """plateau ~ T_eps^1."""
    plateaus, linear = (run[1].facts[name] for name in ("plateau", "escape_time"))
    if len(np.unique(linear[0])) < 2:
        return claim.not_run("It needs two sizes.")
    found = fit_power_laws(linear[0][:, None], plateaus).exponents[:, 0]
    known = np.isfinite(plateaus)
    words = ""
    if known.any():
        words = f"The escape time is {np.median((linear / plateaus)[known]):.2g} times the plateau (median over sizes)."
    return claim.finding([run], found, np.abs(found - 1) <= NEAR, words)


@judged
def repetition_shortens(claim: Claim, copies: AnyRun, repeated: AnyRun) -> Finding:
    """B and p make the plateau shorter, and B does so faster."""
    by_copies, by_share = _by_repetition(copies), _by_repetition(repeated)
    numbers = np.array(_settings(copies).copies, float)
    shares = np.array(_settings(repeated).repeated)
    if len(numbers) < 2 or np.sum(shares > 0) < 2:
        return claim.not_run("It needs two numbers of copies and two shares above 0.")
    if (by_copies.shape[-1], by_share.shape[-1]) != (len(numbers), len(shares)):
        return claim.not_run("It needs a run in which only copies differ, and one in which only shares do.")
    fewer, rarer = _rises(by_copies[..., ::-1], axis=2), _rises(by_share[..., ::-1], axis=2)
    some = shares > 0
    per_copies = np.log(by_copies[..., 0] / by_copies[..., -1]) / np.log2(numbers[-1] / numbers[0])
    kept = by_share[..., some]
    per_share = np.log(kept[..., 0] / kept[..., -1]) / np.log2(shares[some][-1] / shares[some][0])
    faster = np.all(per_copies > per_share, axis=1)
    parts = {"shorter with B": fewer, "shorter with p": rarer, "B more efficient": faster}
    value = np.exp(np.mean(per_copies, axis=1) - np.mean(per_share, axis=1))
    typical = [f"{np.exp(np.median(each)):.2f}-fold" for each in (per_copies, per_share)]
    words = f"A doubling of B shortens the plateau {typical[0]}, one of p {typical[1]} (medians over sizes)."
    return claim.finding([copies, repeated], value, fewer & rarer & faster, words, parts)


def _settings(run: AnyRun) -> ToySettings:
    settings = run[0]
    if not isinstance(settings, ToySettings):
        raise TypeError(f"a run of {type(settings).__name__} was given, but the claim is about paper B's toy.")
    return settings


def _by_size(run: AnyRun, name: str = "plateau") -> np.ndarray:
    """(seed, dimension, length) of the cases with the fewest copies and the least repetition."""
    settings, (_, trajectory) = _settings(run), run
    shape = (len(settings.dimensions), len(settings.lengths), len(settings.copies), len(settings.repeated))
    return _ended(trajectory.facts[name]).reshape(-1, *shape)[..., 0, 0]


def _by_repetition(run: AnyRun) -> np.ndarray:
    """(seed, size, repetition): sizes are (d, T) together, repetition is the number of copies or the share."""
    settings, (_, trajectory) = _settings(run), run
    sizes, kinds = len(settings.dimensions) * len(settings.lengths), len(settings.copies) * len(settings.repeated)
    return _ended(trajectory.facts["plateau"]).reshape(-1, sizes, kinds)


def _ended(plateaus: np.ndarray) -> np.ndarray:
    """NaN for those that never ended: neither longer nor shorter than another."""
    return np.where(np.isfinite(plateaus), plateaus, np.nan)


def _rises(values: np.ndarray, axis: int) -> np.ndarray:
    """Which seeds rise strictly along an axis; what never ended does not."""
    steps = np.diff(values, axis=axis) > 0
    return np.array([bool(np.all(row)) for row in steps])
