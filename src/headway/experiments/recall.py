"""Paper B: how long transformers wait on associative recall, against the numbers of symbols and of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.experiments import grid_of
from headway.settings import RecallSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

# Ours: an end soon after half of the answers are right makes all sizes affordable.
_ENDING = RecallSettings().changed(training={"until": 0.5, "tail": 0.2})
BASES = {
    # Ours: two layers and a narrower stream that learns faster.
    "quick": _ENDING.changed(
        model={"blocks": 2, "width": 64, "mlp": 256},
        training={"learning_rate": 1e-3, "steps": 4000, "every": 25, "growth": 0.06, "test_samples": 1024},
    ),
    # Ours: TF32.
    "paper": _ENDING.changed(training={"steps": 200_000, "every": 10, "precision": "tf32"}),
}
TOKENS = {"quick": (64, 128), "paper": (32, 64, 128, 256)}
PAIRS = {"quick": (2, 4), "paper": (8, 16, 32, 64)}
LEFT_OUT = {"quick": (), "paper": ((128, 64), (256, 64))}
"""Ours: these two would take as long as all others together."""
FAN_IN = {
    "quick": ((64, 2), (128, 2), (64, 4)),
    "paper": ((32, 8), (64, 8), (128, 8), (32, 16), (64, 16), (128, 16)),
}
"""Symbols and pairs with an embedding of variance 1 / N_tokens, shorter the more symbols there are. Ours.

256 symbols and 8 pairs were given up after 64 000 steps without a match, for want of time."""


def _runs(grid: str) -> dict[str, RecallSettings]:
    """From short plateaus to long ones: if time runs out, the least is lost."""
    sizes = [(n, p) for p in PAIRS[grid] for n in TOKENS[grid] if (n, p) not in LEFT_OUT[grid]]
    runs = {_name(n, p): BASES[grid].changed(task={"tokens": n, "pairs": p}) for n, p in sizes}
    start = {"initialisation": "fan-in"}
    return runs | {f"fan-in, {_name(*size)}": runs[_name(*size)].changed(model=start) for size in FAN_IN[grid]}


def _name(tokens: int, pairs: int) -> str:
    return f"{tokens} symbols, {pairs} pairs"


GRIDS = {grid: _runs(grid) for grid in BASES}
SEEDS = {"quick": 4, "paper": 4}


def read(results: Results) -> list[Finding]:
    """B4, B6 and B9."""
    from headway.claims import recall, recall_law

    grid = GRIDS[grid_of(GRIDS, results)]
    runs = [results.get(name) for name in grid if not name.startswith("fan-in")]
    other = [results.get(name) for name in grid if name.startswith("fan-in")]
    return [
        recall_law.law_exponent(recall_law.B4, *runs, factor="pairs"),
        recall_law.law_exponent(recall_law.B4_TOKENS, *runs, factor="tokens"),
        recall_law.law_constant(recall_law.B4_CONSTANT, *runs),
        recall_law.exponent_above_chance(recall_law.B4_ABOVE_CHANCE, *runs, factor="pairs"),
        recall_law.exponent_above_chance(recall_law.B4_ABOVE_CHANCE_TOKENS, *runs, factor="tokens"),
        recall_law.matching_exponent(recall_law.B4_MATCHING, *runs, factor="pairs"),
        recall_law.matching_exponent(recall_law.B4_MATCHING_TOKENS, *runs, factor="tokens"),
        recall_law.law_exponent(recall_law.B4_FAN_IN, *other, factor="pairs"),
        recall_law.law_exponent(recall_law.B4_FAN_IN_TOKENS, *other, factor="tokens"),
        recall_law.matching_exponent(recall_law.B4_FAN_IN_MATCHING, *other, factor="pairs"),
        recall_law.matching_exponent(recall_law.B4_FAN_IN_MATCHING_TOKENS, *other, factor="tokens"),
        recall_law.grows_with_pairs_and_tokens(recall_law.B6_RECALL, *runs),
        recall.one_transition(recall.B9, *runs),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """Accuracy of every run, its times against both sizes, both attentions of one, and laws over what was measured."""
    from headway.claims.recall_law import KNOWN, LAW
    from headway.report.figures import figure_law, figure_recall, figure_recall_sizes, figure_two_attentions

    other = [run for name, run in results.items() if name.startswith("fan-in")]
    usual = {name: run for name, run in results.items() if not name.startswith("fan-in")}
    runs = list(usual.values())
    laws = {"recall": LAW.beside_fit(runs)} | ({"fan-in": LAW.beside_fit(other)} if other else {})
    return {
        "accuracy": figure_recall(usual),
        "plateaus": figure_recall_sizes(usual, lambda run: float(LAW.predict([run])[0]), KNOWN),
        "two-attentions": figure_two_attentions(runs[len(runs) // 2]),
        "law": figure_law(laws),
    }
