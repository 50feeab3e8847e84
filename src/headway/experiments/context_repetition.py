"""Paper B's toy with the token that matters B times in the context: the plateau as a power law of d and T/B."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headway.settings import ToySettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

COPIES = {
    "quick": ToySettings(dimensions=(8, 16), lengths=(64, 128, 256), copies=(1, 2, 4, 8), points=0),
    # The slides' ranges; ours: doublings between their ends.
    "paper": ToySettings(
        dimensions=(16, 32, 64, 128), lengths=(256, 512, 1024, 2048, 4096), copies=(1, 2, 4, 8, 16), points=0
    ),
}
"""Grid -> the sizes and copies at which the T logits are descended."""
SAMPLES = {
    "quick": ToySettings(dimensions=(8, 16), lengths=(32, 64), copies=(1, 4), model="matrices", samples=128, points=0),
    # Ours, and smaller: every step reads the whole set.
    "paper": ToySettings(
        dimensions=(8, 16, 32), lengths=(32, 64, 128), copies=(1, 2, 4), model="matrices", samples=256, points=0
    ),
}


def _runs(grid: str) -> dict[str, ToySettings]:
    logits = COPIES[grid]
    return {"gap": replace(logits, model="gap"), "logits": logits, "samples": SAMPLES[grid]}


GRIDS = {grid: _runs(grid) for grid in COPIES}
SEEDS = {"quick": 4, "paper": 8}


def read(results: Results) -> list[Finding]:
    """B1, and whether the T logits give the same power of B as their gap does."""
    from headway.claims import toy_laws

    gap = results.get("gap")
    return [
        toy_laws.dimension_exponent(toy_laws.B1, gap),
        toy_laws.token_exponent(toy_laws.B1_TOKENS, gap),
        toy_laws.context_constant(toy_laws.B1_CONSTANT, gap),
        toy_laws.copies_count_as_tokens(toy_laws.B1_LOGITS, results.get("logits")),
        toy_laws.copies_count_as_tokens(toy_laws.B1_SAMPLES, results.get("samples")),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """The plateau against B, and the fitted and the published law over what was measured."""
    from headway.analysis.power_laws import fit_power_laws
    from headway.claims import toy_laws
    from headway.report.figures import figure_law, figure_plateaus

    laws = {}
    for name, (settings, trajectory) in results.items():
        d, tokens = toy_laws.context_factors(settings).T
        published = toy_laws.CONTEXT["constant"] * d ** toy_laws.CONTEXT["dimension"]
        published = published * tokens ** toy_laws.CONTEXT["tokens per copy"]
        # Copies are tokens where the gap is descended, and count for themselves elsewhere.
        factors = toy_laws.context_factors(settings) if name == "gap" else toy_laws.numbers(settings)[:, :3]
        law = fit_power_laws(factors, trajectory.facts["plateau"])
        words = law.in_words(("d", "(T/B)") if name == "gap" else ("d", "T", "B"))
        laws[f"{name}\n{words}"] = (trajectory.facts["plateau"], law.predict(factors), published)
    return {"copies": figure_plateaus(results, along="copies"), "law": figure_law(laws)}
