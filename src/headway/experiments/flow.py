"""Paper A, Figure 10: the gradient flow learns position after position; its heads compete, part, and then cooperate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headway.settings import FlowSettings, PortraitSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

# Section B.4: T 40, h 3, m 1.7, values 0, noise of variance 1e-6; its d is 50, but coordinates, which are solved for,
# do not depend on d. Ours: m is the ratio of neighbours and the weakest strength is 1; the start, which the noise moves
# off the simplex, is projected onto it; the flow ends long after the last stage, at more than ten times its end.
PRINTED = FlowSettings(length=40, features=3, ratio=1.7, noise=1e-6, projections=2, first=1.0, last=1e4, points=120)
AS_RUN = replace(PRINTED, projections=1)

GRIDS = {
    "quick": {
        "flow": replace(AS_RUN, last=1e3, points=60),
        "Pi squared": replace(PRINTED, last=1e3, points=60),
        "portrait": PortraitSettings(projections=1),
    },
    "printed": {"flow": PRINTED, "portrait": PortraitSettings(projections=2)},
    "as-run": {"flow": AS_RUN, "portrait": PortraitSettings(projections=1)},
}
SEEDS = {"quick": 4, "printed": 20, "as-run": 20}


def read(results: Results) -> list[Finding]:
    """A14."""
    from headway.claims.flow import A14, learns_in_order_and_cooperates

    return [learns_in_order_and_cooperates(A14, results.get("flow"))]


def draw(results: Results) -> dict[str, Figure]:
    """Attention, values and loss over the flow's time, one figure a flow; the plane in which the second head moves."""
    from headway.report.figures import figure_flow
    from headway.report.figures.portrait import figure_portrait

    flows = {name: run for name, run in results.items() if name != "portrait"}
    figures = {_figure_name(name): figure_flow(*run) for name, run in flows.items()}
    return figures | {"portrait": figure_portrait(*results["portrait"], flow=results["flow"][1])}


def _figure_name(run: str) -> str:
    return "figure-10" if run == "flow" else run.lower().replace(" ", "-")
