"""Paper B's toy without repetition: the plateau grows as sqrt(d) T, and how well theory tells its length and end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headway.settings import ToySettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding


def _runs(descent: ToySettings) -> dict[str, ToySettings]:
    """Descent on the T logits and on their gap, the flow of the gap, and what approximates it."""
    flow = replace(descent, model="gap", dynamics="flow")
    # The end comes late: one size, seen for long.
    end = replace(flow, dimensions=descent.dimensions[:1], lengths=descent.lengths[:1], shown=60.0, points=601)
    return {
        "descent": descent,
        "gap": replace(descent, model="gap"),
        "flow": flow,
        "linearised": replace(flow, model="linearised"),
        "flow, end": end,
        "late, end": replace(end, model="late"),
    }


GRIDS = {
    "quick": _runs(ToySettings(dimensions=(8, 16), lengths=(32, 64, 128))),
    "paper": _runs(ToySettings(dimensions=(16, 32, 64, 128), lengths=(256, 512, 1024, 2048, 4096), points=51)),
}
SEEDS = {"quick": 4, "paper": 8}


def read(results: Results) -> list[Finding]:
    """B6, the closed form of the plateau, and the escape time of the linearised flow."""
    from headway.claims.emergence import (
        B6,
        B6_CLOSED,
        B6_LINEAR,
        closed_form_holds,
        grows_with_length_and_dimension,
        proportional_to_the_escape_time,
    )

    descent = results.get("descent")
    return [
        grows_with_length_and_dimension(B6, descent),
        closed_form_holds(B6_CLOSED, descent),
        proportional_to_the_escape_time(B6_LINEAR, descent),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """The plateau against T and d; and each approximation over what it approximates."""
    from headway.report.figures import figure_late, figure_over, figure_plateaus

    return {
        "plateau": figure_plateaus({"descent": results["descent"]}, along="lengths"),
        "flow-over-descent": figure_over(results["flow"], results["gap"], ("flow", "gradient descent")),
        "linearised-over-flow": figure_over(results["linearised"], results["flow"], ("linearised", "flow")),
        "late-over-flow": figure_late(results["late, end"], results["flow, end"], ("late phase", "flow")),
    }
