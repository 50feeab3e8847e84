"""Paper B: how long transformers wait on single-location regression, against T, d, B and p."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.experiments import grid_of
from headway.settings import SingleLocationSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

BASES = {
    # Ours: a narrower stream that learns faster, at sizes for which that is enough.
    "quick": SingleLocationSettings().changed(
        model={"width": 64, "mlp": 256},
        training={"learning_rate": 5e-4, "steps": 3000, "every": 20, "growth": 0.05, "tail": 0.3, "test_samples": 256},
    ),
    "paper": SingleLocationSettings().changed(
        # Ours: TF32 and a short tail make paper scale affordable.
        training={"steps": 60_000, "every": 50, "tail": 0.2, "precision": "tf32"}
    ),
}
LENGTHS = {"quick": (8, 16, 32), "paper": (32, 64, 128, 256)}
DIMENSIONS = {"quick": (4, 8), "paper": (16, 32, 64, 128)}
MIDDLE = {"quick": (16, 8), "paper": (64, 32)}
"""T and d at which repetition changes."""
COPIES = {"quick": (2, 4), "paper": (2, 4, 8)}
SHARES = {"quick": (0.4, 0.8), "paper": (0.1, 0.2, 0.4)}
"""Ours where quick: by the toy's rate, sqrt(p^2 d + (1-p)^2), smaller shares do next to nothing at a small d."""
LEFT_OUT = {"quick": (), "paper": ((256, 64), (256, 128))}
"""Ours: these two would take as long as all others together."""
XAVIER = {"quick": ((8, 4), (8, 8), (16, 4)), "paper": ((32, 16), (32, 32), (32, 64), (32, 128), (64, 16), (128, 16))}
"""T and d at which the start is Xavier's, with an orthogonal embedding, which is as long for every d. Ours."""


def _runs(grid: str) -> dict[str, SingleLocationSettings]:
    """Shapes with repetition first, then from short plateaus to long ones: if time runs out, the least is lost."""
    base, (length, dimension) = BASES[grid], MIDDLE[grid]
    middle = base.changed(task={"length": length, "dimension": dimension})
    runs = {_name(length, dimension): middle}
    runs |= {f"B = {copies}": middle.changed(task={"copies": copies}) for copies in COPIES[grid]}
    runs |= {
        f"p = {share:g}": middle.changed(task={"repeated": share}, training={"threshold": 0.4})
        for share in SHARES[grid]
    }
    sizes = [(t, d) for t in LENGTHS[grid] for d in DIMENSIONS[grid] if (t, d) not in LEFT_OUT[grid]]
    for t, d in sorted(sizes, key=lambda size: size[0] * size[1]):
        runs.setdefault(_name(t, d), base.changed(task={"length": t, "dimension": d}))
    for t, d in XAVIER[grid]:
        runs[f"Xavier, {_name(t, d)}"] = runs[_name(t, d)].changed(model={"initialisation": "xavier"})
    return runs


def _name(length: int, dimension: int) -> str:
    return f"T = {length}, d = {dimension}"


GRIDS = {grid: _runs(grid) for grid in BASES}
SEEDS = {"quick": 4, "paper": 5}


def read(results: Results) -> list[Finding]:
    """B3, and B5 to B7 as far as they concern transformers."""
    from headway.claims import transformer_law as law

    grid = GRIDS[grid_of(GRIDS, results)]
    kinds = [[name for name in grid if name.startswith(kind)] for kind in ("T", "B", "p", "Xavier")]
    plain, copies, shares, xavier = ([results.get(name) for name in names] for names in kinds)
    return [
        law.law_exponent(law.B3, *plain, *copies, factor="dimension"),
        law.law_exponent(law.B3_LENGTH, *plain, *copies, factor="length"),
        law.law_exponent(law.B3_COPIES, *plain, *copies, factor="copies"),
        law.law_constant(law.B3_CONSTANT, *plain, *copies),
        law.law_exponent(law.B3_XAVIER, *xavier, factor="dimension", law=law.ONE_COPY),
        law.law_exponent(law.B3_XAVIER_LENGTH, *xavier, factor="length", law=law.ONE_COPY),
        law.sharp_and_in_order(law.B5_TRANSFORMER, *plain),
        law.grows_with_length_and_dimension(law.B6_TRANSFORMER, *plain),
        law.repetition_shortens(law.B7_TRANSFORMER, plain[0], *copies, *shares),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """Plateaus against every size, one transition, and laws over what was measured, for both starts."""
    from headway.claims.transformer_law import LAW, ONE_COPY, in_context, without_repetition
    from headway.report.figures import figure_emergence, figure_law, figure_plateau_sizes

    xavier = [run for name, run in results.items() if name.startswith("Xavier")]
    usual = {name: run for name, run in results.items() if not name.startswith("Xavier")}
    counted = in_context(list(usual.values()))
    laws = {"single location": LAW.beside_fit(counted)} | (
        {"Xavier's start": ONE_COPY.beside_fit(xavier)} if xavier else {}
    )
    longest = max(without_repetition(counted), key=lambda run: run[0].task.length * run[0].task.dimension)
    return {
        "plateaus": figure_plateau_sizes(usual, lambda run: float(LAW.predict([run])[0])),
        "transition": figure_emergence(longest),
        "law": figure_law(laws),
    }
