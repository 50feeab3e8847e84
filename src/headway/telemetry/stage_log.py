"""The stage that a run is at while it goes on, and which stages have ended."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headway.analysis.stages import stages_from_ladder


class StageLog:
    """Stages from the ladder after every probe; each end of a stage is reported once.

    KL to a rung is known to have reached its minimum when it rises again, some probes later. The boundary between two
    stages depends on how near the model will come to the next rung, so that only the record's end can tell it.
    """

    def __init__(self, rungs: Sequence[str]) -> None:
        self.rungs = tuple(rungs)
        self.stage = ""
        self._told: set[tuple[int, int]] = set()

    def update(self, steps: Sequence[int], kl: Sequence[np.ndarray]) -> list[str]:
        """Sentences about the stages that are seen to have ended since the last call."""
        known = [k for k, row in enumerate(kl) if np.isfinite(row).all()]
        if not known:
            return []
        found = stages_from_ladder(np.asarray(steps)[known], np.asarray(kl)[known])
        self.stage = self.rungs[found.rungs[-1] if found.rungs else found.reached]
        news = []
        for (before, after), time in zip(found.crossings, found.leavings, strict=True):
            if (before, after) not in self._told:
                self._told.add((before, after))
                news.append(
                    f"the stage {self.rungs[before]!r} ends: KL to it reached its minimum at step {time:.0f} and rises "
                    f"since; the model moves towards {self.rungs[after]!r}"
                )
        return news
