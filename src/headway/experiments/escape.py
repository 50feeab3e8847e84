"""Paper B's toy model without repetition: length of the plateau against T and d, beside theory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.analysis.power_laws import fit_power_laws
from headway.claims.claim import AnyRun, Claim, Results, judged, of_runs
from headway.claims.plateau_laws import CONTEXT, grows, plateaus
from headway.experiments.experiment import Experiment, headline
from headway.experiments.selection import made
from headway.experiments.toy_sizes import descended, every_size, named, solved
from headway.records import Finding
from headway.settings import ToyFlowSettings
from headway.tasks.toy import Toy, toy_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AGREES = 1.1
"""By which factor a prediction may miss."""
NEAR = CONTEXT.near
EARLY, LATE = ToyFlowSettings().shown, 60.0
"""For how many plateaus a run is seen: the end of the flow comes late, and is seen at one size."""


def _runs(dimensions: Sequence[int], lengths: Sequence[int], points: int) -> dict[str, Any]:
    """Descent on the T logits and on their gap, the flow of the gap, and what approximates it."""
    sizes = {"dimension": dimensions, "length": lengths}
    flow = ToyFlowSettings(model="gap", points=points)
    end = replace(flow, dimension=dimensions[0], length=lengths[0], shown=LATE, points=601)
    runs: dict[str, Any] = {}
    for name, task in {"descent": Toy(), "gap": Toy(trained="gap")}.items():
        runs |= named(name, [toy_settings(each) for each in every_size(task, **sizes)])
    for name, settings in {"flow": flow, "linearised": replace(flow, model="linearised")}.items():
        runs |= named(name, every_size(settings, **sizes))
    return {**runs, "flow, end": end, "late, end": replace(end, model="late")}


GRIDS = {
    "quick": _runs((8, 16), (32, 64, 128), 101),
    "paper": _runs((16, 32, 64, 128), (256, 512, 1024, 2048, 4096), 51),
}


_DESCENT = descended(trained="logits")


def _times(runs: Sequence[AnyRun]) -> np.ndarray:
    """Plateaus as theory counts them, steps times their length: (seed, run)."""
    return plateaus(runs) * np.array([settings.training.learning_rate for settings, _ in runs])


@judged
def closed_form_holds(claim: Claim, *runs: AnyRun) -> Finding:
    """plateau / (sqrt(pi/2) sqrt(d) T) -> 1."""
    ratio = _times(runs) / np.stack([trajectory.facts["closed_form"] for _, trajectory in runs], axis=1)
    off = np.abs(np.log(ratio))
    tasks = [settings.task for settings, _ in runs]
    order = sorted(range(len(runs)), key=lambda place: tasks[place].length)
    rows = [
        [place for place in order if tasks[place].dimension == dimension]
        for dimension in sorted({task.dimension for task in tasks})
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
    lasted, linear = _times(runs), np.stack([trajectory.facts["escape_time"] for _, trajectory in runs], axis=1)
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

    gap = made(results, descended(trained="gap"))
    flow, linearised, (flow_end,), (late_end,) = (
        made(results, solved(model=model, shown=shown))
        for model, shown in (("gap", EARLY), ("linearised", EARLY), ("gap", LATE), ("late", LATE))
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
            "The longer the input and the higher the dimension of its tokens, the later the transition: the "
            "plateau grows with T and d.",
            "The plateau is strictly longer for every larger T at the same d, and for every larger d at the same T.",
            "longest plateau, relative to the shortest",
            about=_DESCENT,
            judge=of_runs(grows, factors=("T", "d")),
            title="toy model: the plateau grows with T and d",
        ),
        Claim(
            "B6 closed form",
            "The plateau lasts sqrt(pi/2) sqrt(d) T. (Ours: derived from the flow before it saturates.)",
            f"For every d, the plateau at the largest T is within a factor of {AGREES} of the closed form, and the "
            "deviation never grows with T.",
            "plateau at the largest T, relative to the closed form; the ratio furthest from 1",
            about=_DESCENT,
            judge=of_runs(closed_form_holds),
            title="toy model: the plateau lasts sqrt(pi/2) sqrt(d) T (ours)",
        ),
        Claim(
            "B6 escape time",
            "The escape time of the linearised flow, (sqrt(d) T / 2) arcsinh(0.8 sqrt(d) T), fits the plateau.",
            f"Least squares on logarithms: the exponent of the plateau in the escape time is within {NEAR} of 1.",
            "exponent of the plateau in the escape time",
            about=_DESCENT,
            judge=of_runs(proportional_to_the_escape_time),
            title="toy model: the escape time of the linearised flow fits the plateau",
            reasons={
                "paper": "The linearised flow grows exponentially, so its escape time contains a logarithm. The "
                "full flow escapes earlier, through the exponential in the softmax, after a time without that "
                "logarithm."
            },
        ),
    ),
    figures=draw,
)
