"""A published number outside of our seeds, read off the same curves in other ways: is it a matter of reading?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from headway.published import PLATEAUS, STAGE_ENDS
from headway.report.document.published_table import Beside, at_entropy, boundaries, ours_in_words, risen_again, rows
from headway.report.document.tables import NamedRun

SHARES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3)
"""Of the later rise of KL, at which a boundary may be read."""
FALL = 0.2
"""Of the drop of the loss from one plateau to the next, at which a plateau counts as left."""
LEAST = 1e-6
"""Stands for the minimum itself, from where the rise begins."""

WORDS = """\
An eye does not read a boundary at an exact share of a rise, nor a sloping plateau at an exact step. For every number
outside: the same curves of the same runs, read otherwise."""


def read_otherwise(runs: Sequence[NamedRun]) -> str:
    """One row a number outside and way of reading; nothing where every published number is inside."""
    lines = []
    for run in runs:
        if run.grid != "as-run" or (run.experiment, run.name) not in STAGE_ENDS:
            continue
        for told in rows([run]):
            if told.verdict == "inside":
                continue
            for how, ours in readings(run, told.quantity):
                found = Beside(told.run, told.quantity, told.published, ours)
                lines.append(f"| {told.run} | {told.quantity} | {told.published:g} | {how} | {ours_in_words(found)} |")
    head = [
        "| run | number | published | read at | ours: median | range over seeds | |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *lines]) if lines else ""


def readings(run: NamedRun, quantity: str) -> Iterator[tuple[str, np.ndarray]]:
    """(in words, what every seed shows): a boundary at every share, the level of a plateau at other times."""
    kind, number = quantity.split(",")[0].split()
    place = int(number) - 1
    if kind == "boundary":
        for share in SHARES:
            least = max(share, LEAST)
            words = f"{share:.0%} of the rise" if share else "the minimum of KL"
            yield words, boundaries(run.trajectory, (least, least))[:, place]
        if "excess_loss" in run.trajectory:
            yield f"{FALL:.0%} of the drop of the loss", dropped(run, place)
        return
    entropy = np.asarray(run.trajectory.facts["entropy"], float)
    for words, levels in _levels(run, place):
        yield words, at_entropy(levels, entropy)[0]


def dropped(run: NamedRun, place: int) -> np.ndarray:
    """When the loss has made a share of its drop from where KL to a rung is lowest to where KL to the next is: (seed,).

    This is how a plateau of the loss is seen to be left. By a straight line between evaluations.
    """
    times, losses = run.trajectory.times("excess_loss"), np.asarray(run.trajectory["excess_loss"], float)
    lowest = np.argmin(run.trajectory["kl_rungs"][:, :, 1:], axis=1)[:, place : place + 2]
    found = []
    for loss, (start, end) in zip(losses, lowest, strict=True):
        fallen = loss[start] - loss[start : end + 1]
        found.append(risen_again(times[start : end + 1], fallen, FALL) if end > start else np.nan)
    return np.array(found)


def _levels(run: NamedRun, place: int) -> Iterator[tuple[str, np.ndarray]]:
    """Excess loss within a stage, and of the last plateau at later steps, up to the end."""
    times = run.trajectory.times("excess_loss")
    losses = np.asarray(run.trajectory["excess_loss"], float)
    found = boundaries(run.trajectory)
    if place < len(PLATEAUS[run.experiment, run.name]) - 1:
        begins, ends = np.column_stack([np.zeros(len(found)), found])[:, place : place + 2].T
        for words, share in (("half of the stage", 0.5), ("three quarters of the stage", 0.75)):
            yield words, _loss_at(times, losses, begins + share * (ends - begins))
        return
    last = float(times[-1])
    for share in (0.75, 1.0):
        step = np.full(len(losses), share * last)
        yield f"step {share * last:.0f}", _loss_at(times, losses, step)


def _loss_at(times: np.ndarray, losses: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Each seed's loss at its own step, by a straight line between evaluations; NaN where there is no such step."""
    pairs = zip(losses, steps, strict=True)
    return np.array([np.interp(step, times, loss) if np.isfinite(step) else np.nan for loss, step in pairs])
