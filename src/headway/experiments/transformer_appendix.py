"""Paper B: how long the plateau of transformers lasts on single-location regression, trained as in its appendix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headway.claims.appendix_laws import (
    MADE,
    SETTLED,
    TIED,
    settles_first,
    sooner_across_samples,
    sooner_with_copies,
    start_makes_power,
    tied_exponent,
)
from headway.claims.claim import Claim, Results, of_runs
from headway.claims.plateau_laws import EARLY, LOCATION, MOVED, grows, law_constant, plateaus, sharp_and_in_order
from headway.experiments.experiment import Experiment, headline
from headway.experiments.selection import made
from headway.records import Finding
from headway.tasks.single_location import SingleLocation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BASES = {
    # Ours: a narrower stream that learns faster, at sizes for which that is enough.
    "quick": SingleLocation.usual().changed(
        model={"width": 64, "mlp": 256},
        training={"learning_rate": 5e-4, "steps": 3000, "tail": 0.3, "test_samples": 256},
        evaluation={"every": 20, "growth": 0.05},
    ),
    # Ours: TF32 and a short tail.
    "paper": SingleLocation.usual().changed(training={"tail": 0.2, "precision": "tf32"}),
}
LENGTHS = {"quick": (8, 16, 32), "paper": (32, 64, 128, 256)}
DIMENSIONS = {"quick": (4, 8), "paper": (16, 32, 64, 128)}
COPIES = {"quick": (2, 4), "paper": (2, 4, 8, 16)}
"""B, at the largest T and every d; ours: the appendix does not say which."""
MIDDLE = {"quick": 16, "paper": 64}
"""T at which p changes, at every d; ours: the appendix does not say which."""
SHARES = {"quick": (0.0, 0.4, 0.8), "paper": (0.0, 0.1, 0.2, 0.4)}
RATES = {"quick": (5e-4, 1e-3), "paper": (1e-4, 3e-4)}
"""Learning rates of which each size has its own where p changes."""
ACROSS = 0.4
"""Loss at which a plateau ends there."""
LEVELS = (0.2, 0.3, 0.4)
"""Other losses at which a plateau could end."""
FEW = {"quick": ((8, 4), (16, 4), (8, 8)), "paper": ((32, 16), (128, 16), (32, 64))}
"""T and d at which one thing is changed at a time."""
CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "fan-in": {"model": {"initialisation": "fan-in"}},
    "silent readout": {"model": {"initialisation": "silent-pytorch"}},
    "causal": {"model": {"causal": True}},
    "ReLU": {"model": {"activation": "relu"}},
    "no biases": {"model": {"biases": False, "edge_biases": False}},
    "behind": {"task": {"read_at": "behind"}},
    "orthogonal": {"task": {"matrix": "orthogonal"}},
}
"""What the appendix leaves open or we had otherwise -> what is changed."""
VARIED = {"quick": ("fan-in",), "paper": tuple(CHANGES)}


def _runs(grid: str) -> dict[str, Any]:
    """From short plateaus to long ones: if time runs out, the least is lost."""
    base = BASES[grid]
    runs: dict[str, Any] = {}
    sizes = [(t, d) for t in LENGTHS[grid] for d in DIMENSIONS[grid]]
    for t, d in sorted(sizes, key=lambda size: size[0] * size[1]):
        runs[_name(t, d)] = base.changed(task={"length": t, "dimension": d})
    for change in VARIED[grid]:
        for t, d in FEW[grid]:
            runs[f"{change}, {_name(t, d)}"] = runs[_name(t, d)].changed(**CHANGES[change])
    for d in DIMENSIONS[grid]:
        for b in COPIES[grid]:
            whole = runs[_name(LENGTHS[grid][-1], d)]
            runs[f"B = {b}, {_name(LENGTHS[grid][-1], d)}"] = whole.changed(task={"copies": b})
    for d in DIMENSIONS[grid]:
        for p in SHARES[grid]:
            middle = runs[_name(MIDDLE[grid], d)]
            runs[f"p = {p:g}, {_name(MIDDLE[grid], d)}"] = middle.changed(
                task={"repeated": p}, training={"threshold": ACROSS, "rates": RATES[grid]}
            )
    return runs


def _name(length: int, dimension: int) -> str:
    return f"T = {length}, d = {dimension}"


GRIDS = {grid: _runs(grid) for grid in BASES}


def change_of(settings: Any) -> str:
    """Which one thing is otherwise; nothing if none is."""
    for name, groups in CHANGES.items():
        values = ((getattr(settings, group), each) for group, each in groups.items())
        if all(getattr(own, key) == value for own, each in values for key, value in each.items()):
            return name
    return ""


def _shared(settings: Any) -> bool:
    return bool(settings.training.rates)


def _in_law(settings: Any) -> bool:
    return not change_of(settings) and not _shared(settings)


def _plain(settings: Any) -> bool:
    return _in_law(settings) and settings.task.copies == 1


def _changed_or_not(settings: Any) -> bool:
    return not _shared(settings) and settings.task.copies == 1


def _judge_start(claim: Claim, results: Results) -> Finding:
    changed = made(results, lambda settings: bool(change_of(settings)))
    sizes = {(settings.task.length, settings.task.dimension) for settings, _ in changed}
    usual = made(
        results,
        lambda settings: not change_of(settings) and (settings.task.length, settings.task.dimension) in sizes,
    )
    others = {name: [run for run in changed if change_of(run[0]) == name] for name in CHANGES}
    there = {name: runs for name, runs in others.items() if runs}
    return start_makes_power(claim, usual, there, of="fan-in", least=MADE)


def draw(results: Results) -> dict[str, Figure]:
    """Plateaus against every size, one transition, and the tied and the untied law over what was measured."""
    from headway.report.figures import figure_emergence, figure_law, figure_plateau_sizes

    runs, plain = made(results, _in_law), made(results, _plain)
    ended = [run for run in plain if np.isfinite(plateaus([run])).all()] or plain
    longest = max(ended, key=lambda run: run[0].task.length * run[0].task.dimension)
    shown = made(
        results, lambda settings: not change_of(settings) and (_in_law(settings) or settings.task.repeated > 0)
    )
    return {
        "plateaus": figure_plateau_sizes(shown, LOCATION.steps),
        "transition": figure_emergence(longest),
        "law": figure_law({"tied": TIED.beside_fit(runs), "untied": LOCATION.beside_fit(runs)}),
    }


_STATEMENT = f"A transformer's plateau on single-location regression lasts {TIED.words} steps"
_FIT = (
    "Trained as the appendix says. Least squares on the logarithms of all plateaus that ended, seed by seed, in d and "
    "T/B (a run with B copies is also tested with B copies): "
)
_UNTIED = "Ours: least squares as before, but in d, T and B separately: "
_KNOWN = (
    " Written before the runs of the paper grid; for PyTorch's initialisation, a check with two seeds was known, "
    "(T/B)^0.74 d^1.20, and one seed at three small sizes."
)


def _powers() -> list[Claim]:
    """Tied, as published; and untied."""
    told = (
        ("", TIED, "d", _FIT, "the plateau grows as d^1.29"),
        (" tokens per copy", TIED, "(T/B)", _FIT, "the plateau grows as (T/B)^0.80"),
        (" length", LOCATION, "T", _UNTIED, "the plateau grows as T^0.80, fitted separately from B (ours)"),
        (" copies", LOCATION, "B", _UNTIED, "the plateau shrinks as B^-0.80, fitted separately from T (ours)"),
    )
    return [
        Claim(
            f"B3 appendix{more}",
            f"{_STATEMENT}. ({'Tested' if law is TIED else 'Ours, fitted separately; tested'} here: the exponent of "
            f"{factor}.)",
            f"{fit}the exponent of {factor} is within {law.near} of {law.powers[factor]:g}.{_KNOWN}",
            f"exponent of {factor}",
            about=_in_law,
            judge=of_runs(tied_exponent, law=law, factor=factor, beside=("d", "T", "B"), levels=LEVELS),
            title=f"transformer as in the appendix: {title}",
        )
        for more, law, factor, fit, title in told
    ]


SOON = 0.1
EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=GRIDS,
    seeds={"quick": 4, "paper": 5},
    claims=(
        *_powers(),
        Claim(
            "B3 appendix constant",
            f"{_STATEMENT}. (Tested here: the constant.)",
            "With the published exponents, the constant that fits a seed's plateaus best is within a factor of "
            f"{TIED.within:g} of 0.76.",
            "constant with the published exponents, in steps",
            about=_in_law,
            judge=of_runs(law_constant, law=TIED),
            title="transformer as in the appendix: the constant of the law is 0.76",
        ),
        Claim(
            "B3 appendix settling",
            "What the random initialisation predicts by chance is unlearnt long before the plateau ends, so that "
            "it plays no part in the law. "
            "(Ours.)",
            f"In every run the loss is below {SETTLED:g} for the first time within the first {SOON:.0%} of its "
            "plateau. One seed at two sizes, with plateaus of 500 and 1300 steps, was known to settle within the first "
            "25 steps.",
            "steps until the loss is below 0.6, relative to the plateau; the largest of all runs",
            about=_in_law,
            judge=of_runs(settles_first, share=SOON),
            title="transformer as in the appendix: the loss is below 0.6 long before the plateau ends (ours)",
            reasons={
                "paper": "The one seed that misses it does so at three of its shortest plateaus, of 300 to 450 steps, "
                "of which settling takes 50 to 75. The law is fitted over plateaus up to 84 times as long."
            },
        ),
        Claim(
            "B3 appendix start",
            "The exponent of T depends on the initialisation, which is why that of claim B3 differed from the "
            "published one: with variance 1 / fan-in, T matters less. "
            "(Ours.)",
            f"At the same three sizes or more, the exponent of T is larger by {MADE:g} or more with PyTorch's "
            "initialisation than with variance 1 / fan-in, all else equal. Other things that the appendix leaves open "
            "are reported alongside: a readout of zero at the start (silent readout), a causal mask, ReLU, no biases, "
            "an answer that is read at an empty position after the T (behind) and an orthogonal W* (orthogonal).",
            "exponent of T minus that with variance 1 / fan-in",
            about=_changed_or_not,
            judge=_judge_start,
            title="transformer as in the appendix: the exponent of T depends on the initialisation (ours)",
            reasons={
                "paper": "The exponent of T is smaller with variance 1 / fan-in in every seed, but in two of five by "
                "less than the claim requires: three sizes leave the exponent of a seed uncertain by about 0.1."
            },
        ),
        Claim(
            "B5 appendix",
            "The transition is sharp, and the map applied to the relevant vector is learnt before attention finds "
            "that vector.",
            f"In every run without repetition the loss falls from {EARLY:.0%} of 1/2 to the threshold in less time "
            f"than it took to get to {EARLY:.0%}; and E<y, y*>, where every position holds the relevant vector, is "
            f"above {MOVED:g} for good before the head that attends to the relevant position most in the end has come "
            f"{MOVED:.0%} of the way from uniform attention to 1 for good.",
            "duration of the drop, relative to the time before it; the largest of all runs",
            about=_plain,
            judge=of_runs(sharp_and_in_order),
            title="transformer as in the appendix: the transition is sharp, and the map is learnt before attention",
            reasons={
                "paper": "Of the 14 curves that do not count as sharp, five never drop (T = 256, d = 128). The other "
                "nine belong to seeds whose Gaussian W* is so small (d = 16 and 32) that predicting 0 already has a "
                "loss below 90% of 1/2, so that the drop seems to begin at once. That the order fails is not an "
                "artefact: the map is learnt first in 18 of 20 curves with d = 16, attention moves first in 14 of 15 "
                "with d = 128, by up to 8%. Between these sizes the map comes first with d = 32 and T = 32, and "
                "elsewhere both come within three evaluations, either way."
            },
        ),
        Claim(
            "B6 appendix",
            "The plateau grows with T and d.",
            "Without repetition, the plateau is strictly longer at each larger T at the same d, and at each "
            "larger d at the same T.",
            "longest plateau, relative to the shortest",
            about=_plain,
            judge=of_runs(grows, factors=("T", "d")),
            title="transformer as in the appendix: the plateau grows with T and d",
        ),
        Claim(
            "B7 appendix",
            "Copies of the relevant vector in the context shorten the plateau.",
            "At every T and d with copies, the plateau is strictly shorter at each larger B.",
            "plateau with one copy, relative to that with the most; the smallest over d",
            about=_in_law,
            judge=of_runs(sooner_with_copies),
            title="transformer as in the appendix: copies in the context shorten the plateau",
        ),
        Claim(
            "B7 appendix across samples",
            "Repetition across samples makes a transformer learn sooner, the more so the larger d is.",
            f"With the learning rate chosen for every size and share, the time to a loss of {ACROSS:g}, tested without "
            "repetition, is shorter with one of the shares p of repeated samples than with p = 0 at every d; and by a "
            "larger factor at the largest d than at the smallest.",
            "factor by which repetition shortens the time, at the largest d relative to the smallest",
            about=_shared,
            judge=of_runs(sooner_across_samples, end=ACROSS),
            title="transformer as in the appendix: repetition across samples shortens the plateau, more for larger d",
        ),
    ),
    figures=draw,
)
