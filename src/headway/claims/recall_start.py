"""How the initial embedding of recall decides how long its plateau lasts."""

from __future__ import annotations

import numpy as np

from headway.claims.claim import AnyRun, Claim, judged
from headway.claims.plateau_laws import LONGEST, RECALL, censored, lasting
from headway.records import Finding


@judged
def shorter_with_larger(claim: Claim, *runs: AnyRun, embeddings: int) -> Finding:
    """plateau(s) falls with s at every size; the runs of the smallest of the embeddings s come first, size by size."""
    places = np.arange(len(runs)).reshape(embeddings, -1)
    lasted = lasting(runs)[:, places]
    falls = np.all(lasted[:, 1:] < lasted[:, :-1], axis=(1, 2))
    ratio = np.median(lasted[:, 0] / lasted[:, -1], axis=1)
    constants = [np.median(RECALL.constants([runs[place] for place in row])) for row in places]
    words = ", ".join(f"{each:.2g}" for each in constants)
    detail = (
        f"With the published exponents the constant at these {places.shape[1]} sizes is {words}, from the smallest to "
        f"the largest embedding (medians; published {RECALL.constant:g}). {censored(runs, LONGEST)}"
    )
    return claim.finding(runs, np.where(np.isfinite(ratio), ratio, np.nan), falls, detail.strip())
