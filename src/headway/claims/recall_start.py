"""How the initial embedding of recall decides how long its plateau lasts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headway.claims.claim import AnyRun, Claim, judged
from headway.claims.plateau_laws import LONGEST, RECALL, censored, plateaus
from headway.records import Finding


def shorter_with_larger(claim: Claim, groups: Sequence[Sequence[AnyRun]]) -> Finding:
    """plateau(s) falls with s, at every size that all groups have; these come in the order of s."""
    by_size = [{_size(run): run for run in group} for group in groups]
    shared = [size for size in by_size[0] if all(size in group for group in by_size)]
    if not shared:
        return claim.not_run()
    places = np.arange(len(groups) * len(shared)).reshape(len(groups), len(shared))

    @judged
    def compare(claim: Claim, *runs: AnyRun) -> Finding:
        lasted = np.where(np.isnan(plateaus(runs)), np.inf, plateaus(runs))[:, places]
        falls = np.all(lasted[:, 1:] < lasted[:, :-1], axis=(1, 2))
        ratio = np.median(lasted[:, 0] / lasted[:, -1], axis=1)
        constants = [np.median(RECALL.constants([runs[place] for place in row])) for row in places]
        words = ", ".join(f"{each:.2g}" for each in constants)
        detail = (
            f"With the published exponents the constant at these {len(shared)} sizes is {words}, from the smallest to "
            f"the largest embedding (medians; published {RECALL.constant:g}). {censored(runs, LONGEST)}"
        )
        return claim.finding(runs, np.where(np.isfinite(ratio), ratio, np.nan), falls, detail.strip())

    return compare(claim, *(group[size] for group in by_size for size in shared))


def _size(run: AnyRun) -> tuple[int, int]:
    task = run[0].task
    return task.vocab, task.pairs
