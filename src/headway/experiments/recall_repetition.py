"""Paper B: transformers on associative recall with repetition in the context and across samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway.claims.claim import AnyRun, Claim, Results
from headway.claims.recall import GAP, KNOWN, a_little_shortens, too_much_overfits
from headway.experiments.experiment import Experiment, headline
from headway.experiments.recall import BASES
from headway.experiments.selection import made
from headway.records import Finding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = {"quick": {"vocab": 64, "pairs": 4}, "paper": {"vocab": 64, "pairs": 8}}
STEPS = {"quick": 1600, "paper": 10_000}  # ours: by the first runs, twice as many as it takes without repetition
EVERY = {"quick": 25, "paper": 50}
LEAST_COPIES = 2.0
COPIES = {"quick": (LEAST_COPIES, 4.0), "paper": (LEAST_COPIES, 4.0, 8.0)}
SHARES = {"quick": (0.5, 0.9), "paper": (0.25, 0.5, 0.95)}
"""Ours: the slides do not say which. With as many copies as pairs every slot holds the query's pair."""


def _runs(grid: str) -> dict[str, Any]:
    """All of one shape, and to the same step: what overfits is seen at the end."""
    base = BASES[grid].changed(
        task=SIZES[grid], training={"steps": STEPS[grid], "tail": -1.0}, evaluation={"every": EVERY[grid]}
    )
    copies = {f"B = {b:g}": base.changed(task={"copies": b}) for b in COPIES[grid]}
    shares = {f"p = {p:g}": base.changed(task={"favoured": p}) for p in SHARES[grid]}
    return {"no repetition": base, **copies, **shares}


GRIDS = {grid: _runs(grid) for grid in SIZES}


def _by_repetition(results: Results) -> list[list[AnyRun]]:
    """Runs without any, with copies, with favourite queries; the least of it first."""
    return [
        made(results, lambda settings: settings.task.copies == 1 and settings.task.favoured == 0),
        made(results, lambda settings: settings.task.copies > 1),
        made(results, lambda settings: settings.task.favoured > 0),
    ]


def _judge_repetition(claim: Claim, results: Results) -> Finding:
    """The least of copies, and every share."""
    none, copied, favoured = _by_repetition(results)
    if not (none and copied and favoured):
        return claim.not_run()
    return a_little_shortens(claim, none[0], copied[0], *favoured)


def _judge_overfitting(claim: Claim, results: Results) -> Finding:
    """The most of both."""
    none, copied, favoured = _by_repetition(results)
    if not (none and copied and favoured):
        return claim.not_run()
    return too_much_overfits(claim, none[0], copied[-1], favoured[-1])


def draw(results: Results) -> dict[str, Figure]:
    """Accuracy with and without repetition."""
    from headway.report.figures import figure_repetition

    return {"repetition": figure_repetition(list(results.values()))}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=GRIDS,
    seeds={"quick": 4, "paper": 4},
    claims=(
        Claim(
            "B7 recall",
            "Repetition shortens the plateau of recall, and repeating in the context is more efficient than across "
            "samples.",
            f"Tested without repetition, an accuracy of {KNOWN:.0%} is reached strictly sooner with the smallest B "
            "above 1, and with the smallest p above 0, than without repetition; and sooner with that B than with "
            "any p.",
            f"time to {KNOWN:.0%} with the smallest B above 1, relative to that without repetition",
            about=lambda settings: settings.task.copies <= LEAST_COPIES,
            judge=_judge_repetition,
            title="recall: repetition shortens the plateau, in the context more than across samples",
            reasons={
                "paper": "A pair that is repeated in the context can be answered without matching the query, by "
                "naming the most frequent value. Two copies on average help in some seeds only; with more, the "
                "match comes late or never. A moderate share of repeated queries offers no such shortcut, and "
                "helps; if nearly all queries are repeated, the match does not come either. An accuracy of 5 %, "
                "which needs no match, is reached sooner with copies, and not with repeated queries."
            },
        ),
        Claim(
            "B8",
            "Too much repetition overfits: what is learnt from repeated pairs does not transfer to pairs "
            "without repetition.",
            f"At the end of training with the largest B or with the largest p, the accuracy is at least {GAP} "
            "higher when tested with the repetition of the training than without; after training without "
            "repetition it is not.",
            "larger of the two differences of accuracy",
            about=lambda settings: True,
            judge=_judge_overfitting,
            title="recall: too much repetition overfits",
        ),
    ),
    figures=draw,
)
