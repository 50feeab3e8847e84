"""When to look: log-spaced evaluations, the steps that were asked for, and the snapshots among them."""

import numpy as np

from headway.settings import EvaluationSettings


def evaluation_steps(settings: EvaluationSettings, steps: int) -> list[int]:
    """0, about `points` log-spaced steps, the listed ones up to the end, and the end."""
    return sorted({0, steps, *_log_spaced(settings.points, steps), *(s for s in settings.also if s <= steps)})


def snapshot_steps(settings: EvaluationSettings, steps: int) -> list[int]:
    """The evaluations at which whole attention matrices are kept: evenly many of them, and the listed ones."""
    evaluations = evaluation_steps(settings, steps)
    listed = {step for step in settings.also if step <= steps}
    count = min(settings.snapshots, len(evaluations))
    picked = {evaluations[i] for i in np.linspace(0, len(evaluations) - 1, count).round().astype(int)}
    return sorted(picked | listed)


def _log_spaced(points: int, steps: int) -> list[int]:
    return [int(step) for step in np.unique(np.geomspace(1, steps, points).round())] if points else []
