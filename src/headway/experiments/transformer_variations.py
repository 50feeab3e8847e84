"""Paper B's appendix: the law with other numbers of layers and heads, a fixed relevant position, and SGD."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway.claims.appendix_laws import FITS, own_law
from headway.claims.claim import Claim, Results, of_runs
from headway.experiments.experiment import Experiment, headline
from headway.experiments.selection import Where, made
from headway.experiments.transformer_appendix import BASES
from headway.experiments.transformer_law import ONE_COPY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = {
    "quick": ((8, 4), (16, 4), (8, 8)),
    "paper": ((32, 16), (64, 16), (128, 16), (32, 32), (32, 64)),
}
"""T and d of every variation; ours."""
LAYERS = (1, 2, 3, 4)
HEADS = (1, 2, 4, 8)
HEAD = {"quick": 16, "paper": 64}
"""Coordinates of a head, however many heads there are; ours: the appendix says 64 of four."""
_PLAIN = {"layers": 2, "heads": 4}
SGD = {"quick": 0.02, "paper": 5e-3}
"""Learning rate of SGD; ours where quick."""
_DRAWN = {"position": "drawn"}


def _variations(grid: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Name -> what is changed."""
    # Ours: without momentum, of which the appendix says nothing.
    descent, wide = {"optimiser": "sgd", "momentum": 0.0, "learning_rate": SGD[grid]}, {"head_width": HEAD[grid]}
    smallest = {"layers": 1, "heads": 1, **wide}
    return {
        **{_counted(n, "layer"): {"model": _PLAIN | {"layers": n}} for n in LAYERS},
        **{_counted(n, "head"): {"model": _PLAIN | {"heads": n, **wide}} for n in HEADS if n != _PLAIN["heads"]},
        "a fixed position and a mark": {"model": _PLAIN, "task": _DRAWN},
        "a fixed position, no mark": {"model": _PLAIN, "task": _DRAWN | {"mark": False}},
        "one layer, one head and Adam": {"model": smallest},
        "one layer, one head and SGD": {"model": smallest, "training": descent},
    }


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("s" if number > 1 else "")


def _runs(grid: str) -> dict[str, Any]:
    return {
        f"{name}, T = {t}, d = {d}": BASES[grid].changed(**changes).changed(task={"length": t, "dimension": d})
        for t, d in SIZES[grid]
        for name, changes in _variations(grid).items()
    }


GRIDS = {grid: _runs(grid) for grid in BASES}


def _is(layers: int, heads: int, position: str = "random", mark: bool = True, optimiser: str = "adamw") -> Where:
    wanted = layers, heads, position, mark, optimiser

    def where(settings: Any) -> bool:
        task, model = settings.task, settings.model
        return (model.layers, model.heads, task.position, task.mark, settings.training.optimiser) == wanted

    return where


WHERE: dict[str, Where] = {
    **{_counted(n, "layer"): _is(n, 4) for n in LAYERS},
    **{_counted(n, "head"): _is(2, n) for n in HEADS if n != _PLAIN["heads"]},
    "a fixed position and a mark": _is(2, 4, "drawn"),
    "a fixed position, no mark": _is(2, 4, "drawn", mark=False),
    "one layer, one head and Adam": _is(1, 1),
    "one layer, one head and SGD": _is(1, 1, optimiser="sgd"),
}
"""Variation -> which runs are it."""


def draw(results: Results) -> dict[str, Figure]:
    """The fitted law of every variation, and the published one of two layers of four heads, over what was measured."""
    from headway.report.figures import figure_law

    laws = {}
    for name, where in WHERE.items():
        runs = made(results, where)
        if runs:
            laws[name] = ONE_COPY.beside_fit(runs)
    return {"laws": figure_law(laws)}


MARK = "mark (a mark is an extra input, 1 at the relevant token and 0 elsewhere)"


SLOW = """SGD at the appendix's rate takes 24 to 44 times as long as Adam. At two of the five sizes no seed gets through
its plateau within 50 000 steps, which leaves three."""


def _claim(name: str, where: Where) -> Claim:
    change = name.replace(", no mark", " and no mark")
    return Claim(
        f"B3 {name}",
        f"With {change.replace('mark', MARK)}, the plateau grows with d and T by a power law.",
        "Trained as the appendix says, except for this change. Least squares on the logarithms of all plateaus that "
        "ended, seed by seed, in d and T: both powers are above 0, and the law misses the plateaus by a factor of "
        f"{FITS:g} or less in the root mean square. Published powers were not known when this was written, nor any run "
        "of ours. Added after the runs: a seed of which no more than three plateaus ended cannot be judged, because "
        "three always lie on such a law.",
        "exponent of T",
        about=where,
        judge=of_runs(own_law),
        title=f"transformer, {change}: the plateau is a power law of d and T",
        reasons={"paper": SLOW} if name.endswith("SGD") else {},
    )


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=GRIDS,
    seeds={"quick": 4, "paper": 5},
    claims=tuple(_claim(name, where) for name, where in WHERE.items()),
    figures=draw,
)
