"""Paper B: recall with repetition, trained as in its appendix, to overfitting and beyond."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway.claims.claim import Claim, Results
from headway.claims.late_rise import (
    ABOUT,
    DEEP,
    HALF,
    LATE,
    TRAINED,
    by_repetition,
    helps_in_training,
    overfits_then_rises,
    sooner_by,
)
from headway.claims.recall import GAP
from headway.experiments.experiment import Experiment, headline
from headway.experiments.recall_appendix_runs import BASES, RATE, UNIT, embedding_scale
from headway.records import Finding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = {"quick": {"vocab": 64, "pairs": 4}, "paper": {"vocab": 256, "pairs": 32}}
STEPS = {"quick": 1600, "paper": 40_000}
SCALE = {"quick": 1.0, "paper": embedding_scale(UNIT, SIZES["paper"]["vocab"])}
"""Ours: an embedding of variance 1. With PyTorch's, a run without repetition would take some 170 000 steps, by the law
of the sizes that were run, where the appendix has 50 000 at most."""
EVERY = {"quick": 25, "paper": 100}
COPIES = {"quick": (2.0, 4.0), "paper": (2.0, 4.0, 8.0, 16.0)}
SHARES = {"quick": (0.5, 0.9), "paper": (0.25, 0.5, 0.75, 0.95)}
"""Ours where the appendix does not say which: to the point of overfitting."""


def _runs(grid: str) -> dict[str, Any]:
    """All of one shape, and to the same step: what overfits, and what rises again, is seen at the end."""
    base = BASES[grid].changed(
        task=SIZES[grid],
        model={"embedding_scale": SCALE[grid]},
        # Ours: one rate for all, because pilots of their own would cost more than the runs, which have one size.
        training={"steps": STEPS[grid], "tail": -1.0, "learning_rate": RATE[grid]},
        evaluation={"every": EVERY[grid]},
    )
    copies = {f"B = {b:g}": base.changed(task={"copies": b}) for b in COPIES[grid]}
    shares = {f"p = {p:g}": base.changed(task={"favoured": p}) for p in SHARES[grid]}
    return {"no repetition": base, **copies, **shares}


GRIDS = {grid: _runs(grid) for grid in SIZES}


def _copied(settings: Any) -> bool:
    return settings.task.favoured == 0


def _favoured(settings: Any) -> bool:
    return settings.task.copies == 1


def _sooner(claim: Claim, results: Results, *, published: float) -> Finding:
    none, copied, favoured = by_repetition(list(results.values()))
    some = [*copied, *favoured]
    return sooner_by(claim, none[0], *some, published=published) if none and some else claim.not_run()


def _helps(claim: Claim, results: Results) -> Finding:
    none, copied, favoured = by_repetition(list(results.values()))
    if not (none and copied and favoured):
        return claim.not_run()
    return helps_in_training(claim, none[0], *copied, *favoured, copied=len(copied))


def _overfits(claim: Claim, results: Results, *, late: bool, gap_of: float = GAP) -> Finding:
    _, copied, favoured = by_repetition(list(results.values()))
    if not (copied and favoured):
        return claim.not_run()
    return overfits_then_rises(claim, *copied, *favoured, late=late, gap_of=gap_of)


def draw(results: Results) -> dict[str, Figure]:
    """Accuracy without repetition and, dashed, with that of the training."""
    from headway.report.figures import figure_repetition

    return {"repetition": figure_repetition(list(results.values()))}


_ALIKE = "all with one learning rate and, at paper scale, an initial embedding of variance 1"
_REPEATED = (
    "an accuracy of 5%, tested without repetition, is reached in 1/{factor:g} of the time that it takes without "
    "repetition, within a "
)
EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=GRIDS,
    seeds={"quick": 4, "paper": 4},  # the appendix has three
    claims=(
        Claim(
            "B7 recall appendix",
            "Repeating pairs in the context shortens the plateau of recall by a factor of about 4.",
            f"With the best of the numbers of copies, {_ALIKE}, "
            + _REPEATED.format(factor=4)
            + f"factor of {ABOUT:g}. Written before any run of these settings.",
            "time without repetition, relative to that with the best number of copies",
            about=_copied,
            judge=lambda claim, results: _sooner(claim, results, published=4.0),
            title="recall as in the appendix: copies shorten the plateau by a factor of 4",
        ),
        Claim(
            "B7 recall appendix across samples",
            "Repeating queries across samples shortens the plateau of recall by a factor of about 2.",
            f"With the best of the shares of repeated queries, {_ALIKE}, "
            + _REPEATED.format(factor=2)
            + f"factor of {ABOUT:g}. Written before any run of these settings.",
            "time without repetition, relative to that with the best share",
            about=_favoured,
            judge=lambda claim, results: _sooner(claim, results, published=2.0),
            title="recall as in the appendix: repeated queries shorten the plateau by a factor of 2",
        ),
        Claim(
            "B7 recall appendix, training data",
            "On the training data repetition only ever helps.",
            f"The time to an accuracy of {HALF:.0%} on sequences with the repetition of the training is never longer "
            "with the next larger B, nor with the next larger p, beginning without repetition.",
            f"time to {HALF:.0%} without repetition, relative to the shortest with some",
            about=lambda settings: True,
            judge=_helps,
            title="recall as in the appendix: on training data more repetition is never slower",
        ),
        Claim(
            "B8 appendix",
            "Too much repetition overfits.",
            "In at least one of the runs with repetition, when the accuracy with the repetition of the training first "
            f"reaches {TRAINED:.0%}, that without is lower by {GAP:g} or more.",
            f"accuracy with repetition minus that without, when the former first reaches {TRAINED:.0%}; the largest "
            "over runs",
            about=lambda settings: True,
            judge=lambda claim, results: _overfits(claim, results, late=False),
            title="recall as in the appendix: too much repetition overfits",
        ),
        Claim(
            "B8 appendix late rise",
            "With long training, the accuracy without repetition rises again late.",
            "In at least one of the runs that overfit as in B8 appendix, the accuracy without repetition is "
            "higher at the end "
            f"of training by {LATE:g} or more than when that with repetition had got to {TRAINED:.0%}.",
            "accuracy without repetition at the end, minus that when the accuracy with repetition first reaches "
            f"{TRAINED:.0%}; the largest over the runs that overfit",
            about=lambda settings: True,
            judge=lambda claim, results: _overfits(claim, results, late=True),
            title="recall as in the appendix: accuracy rises again late after overfitting",
        ),
        Claim(
            "B8 appendix late rise, deep",
            "With long training, the accuracy without repetition rises late even where repetition overfits deeply. "
            "(Ours, post hoc.)",
            "As B8 appendix late rise, of the runs in which the accuracy without repetition is lower by "
            f"{DEEP:g} or more when that with repetition first reaches {TRAINED:.0%}: where it is less, the accuracy "
            "may only lag behind. Written after its outcome had been seen.",
            "accuracy without repetition at the end, minus that when the accuracy with repetition first reaches "
            f"{TRAINED:.0%}; the largest over the runs that overfit deeply",
            about=lambda settings: True,
            judge=lambda claim, results: _overfits(claim, results, late=True, gap_of=DEEP),
            title="recall as in the appendix: accuracy rises late even after deep overfitting (ours, post hoc)",
        ),
    ),
    figures=draw,
)
