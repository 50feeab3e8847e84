"""Paper B's toy without repetition: the plateau grows as sqrt(d) T, and how well theory predicts its length and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from headway.analysis.power_laws import fit_power_laws
from headway.claims.claim import AnyRun, Claim, Results, judged, of_runs
from headway.claims.plateau_laws import CONTEXT, grows, plateaus
from headway.experiments.experiment import Experiment, headline
from headway.experiments.selection import having, made
from headway.experiments.toy_sizes import every_size, named
from headway.records import Finding
from headway.settings import ToySettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AGREES = 1.1
"""By which factor a prediction may miss."""
NEAR = CONTEXT.near
EARLY, LATE = ToySettings().shown, 60.0
"""For how many plateaus a run is seen: the end of the flow comes late, and is seen at one size."""


def _runs(descent: ToySettings, dimensions: Sequence[int], lengths: Sequence[int]) -> dict[str, ToySettings]:
    """Descent on the T logits and on their gap, the flow of the gap, and what approximates it."""
    flow = replace(descent, model="gap", dynamics="flow")
    kinds = {
        "descent": descent,
        "gap": replace(descent, model="gap"),
        "flow": flow,
        "linearised": replace(flow, model="linearised"),
    }
    end = replace(flow, dimension=dimensions[0], length=lengths[0], shown=LATE, points=601)
    runs: dict[str, ToySettings] = {}
    for name, settings in kinds.items():
        runs |= named(name, every_size(settings, dimension=dimensions, length=lengths))
    return {**runs, "flow, end": end, "late, end": replace(end, model="late")}


GRIDS = {
    "quick": _runs(ToySettings(), (8, 16), (32, 64, 128)),
    "paper": _runs(ToySettings(points=51), (16, 32, 64, 128), (256, 512, 1024, 2048, 4096)),
}


_DESCENT = having(model="logits")


@judged
def closed_form_holds(claim: Claim, *runs: AnyRun) -> Finding:
    """plateau / (sqrt(pi/2) sqrt(d) T) -> 1."""
    ratio = plateaus(runs) / np.stack([trajectory.facts["closed_form"] for _, trajectory in runs], axis=1)
    off = np.abs(np.log(ratio))
    order = sorted(range(len(runs)), key=lambda place: runs[place][0].length)
    rows = [
        [place for place in order if runs[place][0].dimension == dimension]
        for dimension in sorted({settings.dimension for settings, _ in runs})
    ]
    if min(map(len, rows)) < 2:
        return claim.not_run("It needs two lengths.")
    last = [row[-1] for row in rows]
    near = np.all(off[:, last] <= np.log(AGREES), axis=1)
    nearer = np.all([np.all(np.diff(off[:, row], axis=1) <= 0, axis=1) for row in rows], axis=0)
    worst = np.argmax(off[:, last], axis=1)
    value = np.take_along_axis(ratio[:, last], worst[:, None], axis=1)[:, 0]
    return claim.finding(runs, value, near & nearer, parts={"near at the largest T": near, "ever nearer": nearer})


@judged
def proportional_to_the_escape_time(claim: Claim, *runs: AnyRun) -> Finding:
    """plateau ~ T_eps^1."""
    lasted, linear = plateaus(runs), np.stack([trajectory.facts["escape_time"] for _, trajectory in runs], axis=1)
    if len(np.unique(linear[0])) < 2:
        return claim.not_run("It needs two sizes.")
    found = fit_power_laws(linear[0][:, None], lasted).exponents[:, 0]
    known = np.isfinite(lasted)
    words = ""
    if known.any():
        words = f"The escape time is {np.median((linear / lasted)[known]):.2g} times the plateau (median over sizes)."
    return claim.finding(runs, found, np.abs(found - 1) <= NEAR, words)


def draw(results: Results) -> dict[str, Figure]:
    """The plateau against T and d; and each approximation over what it approximates."""
    from headway.report.figures import figure_late, figure_over, figure_plateaus

    gap, flow, linearised, (flow_end,), (late_end,) = (
        made(results, having(model=model, dynamics=dynamics, shown=shown))
        for model, dynamics, shown in (
            ("gap", "descent", EARLY),
            ("gap", "flow", EARLY),
            ("linearised", "flow", EARLY),
            ("gap", "flow", LATE),
            ("late", "flow", LATE),
        )
    )
    return {
        "plateau": figure_plateaus({"descent": made(results, _DESCENT)}, along="length"),
        "flow-over-descent": figure_over(flow, gap, ("flow", "gradient descent")),
        "linearised-over-flow": figure_over(linearised, flow, ("linearised", "flow")),
        "late-over-flow": figure_late(late_end, flow_end, ("late phase", "flow")),
    }


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=GRIDS,
    seeds={"quick": 4, "paper": 8},
    claims=(
        Claim(
            "B6",
            "The longer the input and the more diverse its tokens, the later the transition: the plateau grows with T "
            "and d.",
            "The plateau is strictly longer for every larger T at the same d, and for every larger d at the same T.",
            "longest plateau, relative to the shortest",
            about=_DESCENT,
            judge=of_runs(grows, factors=("T", "d")),
            title="longer inputs and more dimensions, longer plateaus",
        ),
        Claim(
            "B6 closed form",
            "The plateau lasts sqrt(pi/2) sqrt(d) T (ours: derived from the flow before it saturates).",
            f"For every d the plateau is within a factor of {AGREES} of that at the largest T, and no larger T is "
            "further off.",
            "plateau relative to the closed form, the furthest off of those at the largest T",
            about=_DESCENT,
            judge=of_runs(closed_form_holds),
            title="the plateau in closed form (ours)",
        ),
        Claim(
            "B6 escape time",
            "The escape time of the linearised flow, (sqrt(d) T / 2) arcsinh(0.8 sqrt(d) T), fits the plateau.",
            f"Least squares on logarithms: the exponent of the plateau in the escape time is within {NEAR} of 1.",
            "exponent of the plateau in the escape time",
            about=_DESCENT,
            judge=of_runs(proportional_to_the_escape_time),
            title="the linearised escape time fits",
            reasons={
                "paper": "The linearised flow grows exponentially and so takes a time with a logarithm in it. The flow "
                "itself blows up before, by the exponential in the softmax, after a time without one."
            },
        ),
    ),
    figures=draw,
)
