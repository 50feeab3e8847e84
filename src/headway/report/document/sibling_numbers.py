"""What the other papers' figures, stored outputs and accounts of them say, beside the same number of every seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from headway.analysis import nearest_rung
from headway.analysis.crossings import at_end, first_at_most
from headway.analysis.dwells import drop_times
from headway.claims import in_context, loss_plateau
from headway.claims.claim import AnyRun
from headway.report.document import sibling_causes
from headway.report.document.sibling_causes import Cause, Runs
from headway.report.document.tables import NamedRun

WORDS = """\
These numbers are stated by the authors' code or its stored outputs; for Gopalani & Hu, by a third party's account of
the figures. Most are from one seed. We read the same quantity in each of our seeds; *inside* means that the published
number, up to rounding, lies between the smallest and the largest of them. It is taken to be rounded to the digits that
its source gives: 3000 stands for 2500 to 3500, 0.293 for 0.2925 to 0.2935."""
Reading = Callable[[AnyRun], np.ndarray]


class Published(NamedTuple):
    """One number of one run, and how it is read off a run of ours: (seed,)."""

    experiment: str
    run: str
    quantity: str
    number: float
    rounding: float
    """How far the true number may be from it: half of its last digit."""
    read: Reading
    digits: str = ".3f"
    cause: Cause = sibling_causes.not_found
    """What was tested where it lies outside."""


def sequences_until_nearest(rung: int) -> Reading:
    """Training sequences seen when this rung first is the nearest."""
    return lambda run: in_context.first_nearest(run[1])[:, rung] * run[0].training.batch


def sequences_until(loss: float) -> Reading:
    """Training sequences seen when the loss first is so small."""
    return lambda run: first_at_most(run[1].times("loss"), run[1]["loss"], loss) * run[0].training.batch


def loss_while_nearest(rung: int) -> Reading:
    """The median loss over the evaluations at which this rung is the nearest."""

    def read(run: AnyRun) -> np.ndarray:
        there = nearest_rung(run[1]["kl_rungs"]) == rung
        return np.array(
            [np.median(loss[own]) if own.any() else np.nan for loss, own in zip(run[1]["loss"], there, strict=True)]
        )

    return read


def loss_at(step: float) -> Reading:
    """At the evaluation nearest to a step."""
    return lambda run: run[1]["loss"][:, np.argmin(np.abs(run[1].times("loss") - step))]


def repetition_at(step: float) -> Reading:
    return lambda run: run[1]["repetition"][:, np.argmin(np.abs(run[1].times("repetition") - step))]


def half_of_the_drop(run: AnyRun) -> np.ndarray:
    """When half of the way from the first rung's loss to the last's is made."""
    ends = np.asarray(run[1].facts["rung_loss"], float)[:, [0, -1]]
    return drop_times(run[1].times("loss"), run[1]["loss"], ends)[:, 0]


def final_loss(run: AnyRun) -> np.ndarray:
    return at_end(run[1]["loss"])


NUMBERS = (
    Published("induction", "2 states", "sequences until the unigram", 3000, 500, sequences_until_nearest(1), ".0f"),
    Published("induction", "2 states", "sequences until the bigram", 82_000, 500, sequences_until_nearest(2), ".0f"),
    Published("induction", "2 states", "KL at the end", 0.020, 0.0005, final_loss),
    Published("induction", "3 states", "KL at the start", 0.293, 0.0005, loss_at(0)),
    Published(
        *("induction", "3 states", "KL on the unigram's plateau"),
        *(0.175, 0.0005, loss_while_nearest(1)),
        cause=sibling_causes.of_the_test_set,
    ),
    Published("induction", "3 states", "KL at the end", 0.050, 0.0005, final_loss),
    Published("induction", "doubly stochastic", "sequences until KL 0.20", 50_000, 500, sequences_until(0.20), ".0f"),
    Published("induction", "doubly stochastic", "KL at the end", 0.103, 0.0005, final_loss),
    *(
        Published(
            *("sub-n-grams", run, "loss on the bigram's plateau"),
            *(1.495, 0.0005, loss_while_nearest(2)),
            cause=sibling_causes.of_the_bigram(run),
        )
        for run in ("trigrams", "trigrams, rate 0.001")
    ),
    Published("sub-n-grams", "trigrams, 32 tokens", "loss at the start", 1.709, 0.0005, loss_at(0)),
    Published(
        *("sub-n-grams", "trigrams, 32 tokens", "loss at step 115"),
        *(1.668, 0.0005, loss_at(115)),
        cause=sibling_causes.of_the_rate,
    ),
    Published("sub-n-grams", "trigrams, 32 tokens", "loss at step 5000", 1.6355, 0.00005, loss_at(5000), ".4f"),
    Published("linear-attention", "merged keys and queries", "half of the drop", 1000, 50, half_of_the_drop, ".0f"),
    Published(
        *("loss-plateau", "usual", "largest cosine"),
        *(0.95, 0.005, lambda run: loss_plateau.peak(run, "cosine"), ".2f"),
        cause=sibling_causes.of_the_step,
    ),
    Published(
        *("loss-plateau", "usual", "repetition at step 50"),
        *(0.8, 0.05, repetition_at(50), ".2f"),
        cause=sibling_causes.of_the_peak,
    ),
    Published(
        *("loss-plateau", "usual", "relevant attention at the end"),
        *(0.8, 0.05, lambda run: at_end(loss_plateau.attention_of(run[1])), ".2f"),
    ),
    Published(
        "loss-plateau", "c = 10", "largest cosine", 0.6, 0.05, lambda run: loss_plateau.peak(run, "cosine"), ".2f"
    ),
)


def at_paper_scale(runs: Sequence[NamedRun]) -> Runs:
    """The runs of the other papers, by experiment and name."""
    return {(run.experiment, run.name): (run.settings, run.trajectory) for run in runs if run.grid == "paper"}


def rows(runs: Sequence[NamedRun]) -> list[tuple[Published, np.ndarray]]:
    """Every such number of which a run at paper scale is there, and ours: (seed,)."""
    there = at_paper_scale(runs)
    places = [(each, (each.experiment, each.run)) for each in NUMBERS]
    return [(each, each.read(there[place])) for each, place in places if place in there]


def verdict(each: Published, ours: np.ndarray) -> str:
    """Whether it lies between the smallest and the largest seed, up to rounding."""
    known = ours[np.isfinite(ours)]
    if len(known) == 0:
        return "never"
    inside = known.min() - each.rounding <= each.number <= known.max() + each.rounding
    return "inside" if inside else "outside"


def sibling_table(runs: Sequence[NamedRun]) -> str:
    """One row a number: ours in the median, smallest and largest seed, and whether it lies inside."""
    heading = "| experiment | run | number | published | ours: median | range over seeds | |"
    lines = [heading, "|---|---|---|---|---|---|---|"]
    for each, ours in rows(runs):
        known, words = ours[np.isfinite(ours)], "never | "
        if len(known):
            median, low, high = (format(value, each.digits) for value in (np.median(known), known.min(), known.max()))
            seeds = "" if len(known) == len(ours) else f", {len(known)} of {len(ours)} seeds"
            words = f"{median} | {low} to {high}{seeds}"
        row = (each.experiment, each.run, each.quantity, f"{each.number:g}", words, verdict(each, ours))
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)
