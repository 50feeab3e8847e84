"""The runs beside the published numbers, read as the authors read their figures: by eye, off the KL curves.

Their first boundary lies where KL to rung 1 has risen again by about 2 % of its later rise, the second where KL to rung
2 has risen by about 13 % (0 to 30 %). Levels depend on the chain's entropy H, so they are compared at that of
Figure 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headway.published import PLATEAUS, STAGE_ENDS
from headway.records import Trajectory
from headway.report.document.tables import NamedRun

RISES = (0.02, 0.13)
"""Share of its later rise by which KL to rung 1, and to rung 2, has risen at the authors' boundaries."""
UP_TO = (0.02, 0.30)
"""The same, at most: how far their second boundary may lie along that rise."""
FIGURE_1 = 0.505
"""Entropy of the chain of the authors' figures, in nats."""

WORDS = f"""\
The authors placed their boundaries by eye, on one seed. We read ours in a similar way: boundary 1 where KL to rung 1
has made 2 % of its rise after the minimum, boundary 2 where KL to rung 2 has made 13 % (in brackets: the medians if it
is read at the minimum, and at 30 % of the rise). *Inside* means that the published number, up to rounding, lies between
the smallest and the largest of our seeds: 0.09 stands for 0.085 to 0.095, step 110 for 109.5 to 110.5. Levels of the
loss depend on the entropy H of the chain that a seed draws, so they are given at the H of the authors' chain
({FIGURE_1} nats) by a straight line through our seeds, with the correlation r."""


class Beside(NamedTuple):
    """One published number and what the seeds show."""

    run: str
    quantity: str
    published: float
    ours: np.ndarray
    note: str = ""

    @property
    def rounding(self) -> float:
        """How far the true number may be from the published one: half of its last digit, of steps or hundredths."""
        return 0.5 if self.quantity.startswith("boundary") else 0.005

    @property
    def verdict(self) -> str:
        known = self.ours[np.isfinite(self.ours)]
        if len(known) == 0:
            return "never"
        inside = known.min() - self.rounding <= self.published <= known.max() + self.rounding
        return "inside" if inside else "outside"


def risen_again(times: np.ndarray, kl: np.ndarray, share: float) -> float:
    """When a KL curve has first risen from its minimum by this share of the highest rise that follows, or NaN.

    By a straight line between the two evaluations beside it, also where the curve dips before it goes on rising.
    """
    lowest = int(np.argmin(kl))
    risen, when = kl[lowest:] - kl[lowest], times[lowest:]
    wanted = share * risen.max()
    if not wanted > 0:  # neither where it never rises nor where a seed diverged
        return float("nan")
    place = int(np.argmax(risen >= wanted))
    return float(np.interp(wanted, risen[place - 1 : place + 1], when[place - 1 : place + 1]))


def boundaries(trajectory: Trajectory, shares: tuple[float, float] = RISES) -> np.ndarray:
    """When KL to rung 1, and to rung 2, has risen again so far: (seed, 2)."""
    times = trajectory.times("kl_rungs")
    return np.array(
        [
            [risen_again(times, seed[:, rung], share) for rung, share in zip((1, 2), shares, strict=True)]
            for seed in np.asarray(trajectory["kl_rungs"], float)
        ]
    )


def at_entropy(levels: np.ndarray, entropy: np.ndarray, wanted: float = FIGURE_1) -> tuple[np.ndarray, float]:
    """Each seed's level moved along the regression line on H to the wanted H, and the correlation."""
    known = np.isfinite(levels) & np.isfinite(entropy)
    if known.sum() < 3 or np.ptp(entropy[known]) == 0:
        return levels, float("nan")
    slope, _ = np.polyfit(entropy[known], levels[known], 1)
    r = float(np.corrcoef(entropy[known], levels[known])[0, 1])
    return levels + slope * (wanted - entropy), r


def rows(runs: Sequence[NamedRun]) -> list[Beside]:
    """Every published number of these runs that is known."""
    found: list[Beside] = []
    for run in runs:
        place = (run.experiment, run.name)
        if run.grid != "as-run" or place not in STAGE_ENDS:
            continue
        ours, late = boundaries(run.trajectory), boundaries(run.trajectory, UP_TO)
        early = boundaries(run.trajectory, (0.02, 1e-6))
        for k, published in enumerate(STAGE_ENDS[place]):
            span = "" if k == 0 else f" ({np.nanmedian(early[:, k]):.0f} to {np.nanmedian(late[:, k]):.0f})"
            found.append(Beside(run.name, f"boundary {k + 1}", published, ours[:, k], span))
        found += _plateaus(run)
    return found


def _plateaus(run: NamedRun) -> list[Beside]:
    """Excess loss where KL to each rung is lowest, at the entropy of the authors' chain."""
    published = PLATEAUS.get((run.experiment, run.name), ())
    if not published:
        return []
    lowest = np.argmin(run.trajectory["kl_rungs"][:, :, 1:], axis=1)
    loss = np.take_along_axis(np.asarray(run.trajectory["excess_loss"], float), lowest, axis=1)
    entropy = np.asarray(run.trajectory.facts["entropy"], float)
    rows = []
    for k, level in enumerate(published):
        moved, r = at_entropy(loss[:, k], entropy)
        rows.append(Beside(run.name, f"plateau {k + 1}, at H = {FIGURE_1}", level, moved, f" (r = {r:.2f})"))
    return rows


def published_table(runs: Sequence[NamedRun]) -> str:
    """One row a published number: ours in the median, smallest and largest seed, and whether it lies inside."""
    lines = ["| run | number | published | ours: median | range over seeds | |", "|---|---|---|---|---|---|"]
    lines += [f"| {each.run} | {each.quantity} | {each.published:g} | {ours_in_words(each)} |" for each in rows(runs)]
    return "\n".join(lines)


def ours_in_words(each: Beside) -> str:
    """The last three cells of a row."""
    known = each.ours[np.isfinite(each.ours)]
    if len(known) == 0:
        return "never | | outside"
    digits = ".0f" if each.quantity.startswith("boundary") else ".2f"
    median, low, high = (format(value, digits) for value in (np.median(known), known.min(), known.max()))
    seeds = "" if len(known) == len(each.ours) else f", {len(known)} of {len(each.ours)} seeds"
    return f"{median}{each.note} | {low} to {high}{seeds} | {each.verdict}"
