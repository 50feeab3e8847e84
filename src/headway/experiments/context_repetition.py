"""Paper B's toy model with the relevant token B times in the context: length of the plateau against B, d and T."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.claims.claim import AnyRun, Claim, Results, judged, of_runs
from headway.claims.plateau_laws import CONTEXT, censored, fit, lasts, law_constant, law_exponent, plateaus, sizes
from headway.experiments.experiment import Experiment, headline
from headway.experiments.selection import made
from headway.experiments.toy_sizes import descended, every_size, named
from headway.records import Finding
from headway.tasks.toy import Toy, toy_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COPIES = {
    "quick": every_size(Toy(), dimension=(8, 16), length=(64, 128, 256), copies=(1, 2, 4, 8)),
    # The slides' ranges; ours: doublings between their ends.
    "paper": every_size(
        Toy(), dimension=(16, 32, 64, 128), length=(256, 512, 1024, 2048, 4096), copies=(1, 2, 4, 8, 16)
    ),
}
"""Grid -> the sizes and copies at which the T logits are descended."""
_FULL = Toy(trained="matrices")
SAMPLES = {
    "quick": (128, every_size(_FULL, dimension=(8, 16), length=(32, 64), copies=(1, 4))),
    # Ours, and smaller: every step reads the whole set.
    "paper": (256, every_size(_FULL, dimension=(8, 16, 32), length=(32, 64, 128), copies=(1, 2, 4))),
}
"""Grid -> the size of a training set, and the sizes at which W and the logits are descended on one."""
APART = ("d", "T", "B")
"""Factors of a law in which copies need not count as tokens."""


def with_copies(grid: str) -> dict[str, Any]:
    """The gap and the T logits at every size; when plateaus end, without curves."""
    gap = [toy_settings(replace(task, trained="gap"), seen=False) for task in COPIES[grid]]
    return {**named("gap", gap), **named("logits", [toy_settings(task, seen=False) for task in COPIES[grid]])}


def _with_samples(grid: str) -> dict[str, Any]:
    samples, tasks = SAMPLES[grid]
    return named("samples", [toy_settings(task, samples, seen=False) for task in tasks])


GRIDS = {grid: {**with_copies(grid), **_with_samples(grid)} for grid in COPIES}


_GAP, _LOGITS, _SAMPLES = (descended(trained=trained) for trained in ("gap", "logits", "matrices"))


@judged
def copies_count_as_tokens(claim: Claim, *runs: AnyRun) -> Finding:
    """Whether B has the power of 1/T."""
    law = fit(APART, runs)
    _, tokens, copies = law.exponents.T
    words = f"{lasts(law, APART)} {censored(runs)}".strip()
    return claim.finding(runs, copies, np.abs(copies + tokens) <= CONTEXT.near, words)


def draw(results: Results) -> dict[str, Figure]:
    """The plateau against B, and the fitted and the published law over what was measured."""
    from headway.report.figures import figure_law, figure_plateaus

    kinds = {"gap": made(results, _GAP), "logits": made(results, _LOGITS), "samples": made(results, _SAMPLES)}
    laws = {}
    for name, runs in kinds.items():
        every = [settings for settings, _ in runs]
        # Copies are tokens where the gap is descended, and count for themselves elsewhere.
        factors = list(CONTEXT.powers) if name == "gap" else APART
        law = fit(factors, runs)
        fitted = law.predict(sizes(factors, every))
        laws[f"{name}\n{law.in_words(factors)}"] = plateaus(runs), fitted, CONTEXT.predict(every)
    return {"copies": figure_plateaus(kinds, along="copies"), "law": figure_law(laws)}


_FIT = "Least squares on the logarithms of all plateaus that ended, seed by seed, in the form of the published law: "
_STEPS = f"In the toy model with copies in the context, the plateau lasts {CONTEXT.words} steps"
_SHARED_GAP = """
Each of the B copies gets one B-th of the gradient that a shared gap would get, while W gets all of it, so the
plateau shrinks only as the square root of B. The published exponent belongs to the slides' reduced flow, whose
parameter is the gap."""
B1_LOGITS = Claim(
    "B1 logits",
    "With all T logits as parameters, as in a real model, T and B affect the plateau only through T/B, as they do "
    "when the gap is trained. (Ours.)",
    f"With d, T and B as separate factors of the fit, the exponent of B is within {CONTEXT.near} of minus the exponent "
    "of T.",
    "exponent of B",
    about=_LOGITS,
    judge=of_runs(copies_count_as_tokens),
    title="toy model, T logits trained: T and B affect the plateau only through T/B (ours)",
    reasons={"paper": _SHARED_GAP},
)
EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=GRIDS,
    seeds={"quick": 4, "paper": 8},
    claims=(
        Claim(
            "B1",
            f"{_STEPS}. (Tested here: the exponent of d.)",
            f"{_FIT}the exponent of d is within {CONTEXT.near} of 0.49. The trained parameter is the gap between "
            "the logits, as in the reduced flow of the slides.",
            "exponent of d",
            about=_GAP,
            judge=of_runs(law_exponent, law=CONTEXT, factor="d"),
            title="toy model, copies in the context: the plateau grows as d^0.49",
        ),
        Claim(
            "B1 tokens per copy",
            f"{_STEPS}. (Tested here: the exponent of T/B.)",
            f"{_FIT}the exponent of T/B is within {CONTEXT.near} of 0.99. The trained parameter is the gap "
            "between the logits.",
            "exponent of T/B",
            about=_GAP,
            judge=of_runs(law_exponent, law=CONTEXT, factor="(T/B)"),
            title="toy model, copies in the context: the plateau grows as (T/B)^0.99",
        ),
        Claim(
            "B1 constant",
            f"{_STEPS}. (Tested here: the constant.)",
            f"{_FIT}the constant is within a factor of {CONTEXT.within} of 1.51. The trained parameter is the "
            "gap between the logits.",
            "constant",
            about=_GAP,
            judge=of_runs(law_constant, law=CONTEXT, fitted=True),
            title="toy model, copies in the context: the constant of the law is 1.51",
        ),
        B1_LOGITS,
        Claim(
            "B1 samples",
            "With W and all logits trained on samples instead of the expectation, T and B affect the plateau only "
            "through T/B. (Ours.)",
            B1_LOGITS.definition,
            B1_LOGITS.quantity,
            about=_SAMPLES,
            judge=of_runs(copies_count_as_tokens),
            title="toy model, trained on samples: T and B affect the plateau only through T/B (ours)",
            reasons={"paper": _SHARED_GAP},
        ),
    ),
    figures=draw,
)
