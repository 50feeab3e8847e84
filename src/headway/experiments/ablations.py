"""Paper A, section 2.4: the full transformer without each of its components, and without all of them."""

from __future__ import annotations

from headway.claims.attention_patterns import spared_less_without_residual
from headway.claims.claim import Claim, Results, of_runs
from headway.claims.incremental import minima_in_order
from headway.claims.kind import SAME, same_in_kind
from headway.claims.ladder import QUANTITY
from headway.experiments.experiment import Experiment, headline
from headway.experiments.figures import ladders
from headway.presets import FEW_SEEDS, FULLS, MINIMALS, curves
from headway.records import Finding
from headway.tasks.run import Settings

REMOVED = {
    "without norm": {"norm": "none"},
    "without residual": {"residual": False},
    "without MLP": {"mlp": 0},
    "without key": {"keys": False},
    "without output": {"output": False},
    "without dropout": {"dropout": 0.0, "attention_dropout": False},
    "one-hot positions": {"positions": "one-hot"},
    "without readout": {"readout": False},
    # One-hot positions with it, as in the minimal model; and heads as wide as the stream, see `_without`.
    "without embedding": {"embedding": "one-hot", "positions": "one-hot"},
}
"""Name of a run -> the switches that remove a component."""

STAYS_NEAR_RUNG_1 = """
All ten seeds stay near rung 1. In five of them KL to every rung rises again before training ends, so that nothing
later is approached. In the other five KL to rung 2 and to the truth are both still falling at the last evaluation:
their minima coincide, which is not in order."""

OVERFITS = """
Without dropout the model overfits: in seeds 2, 3, 7 and 8 KL to rung 2 and KL to the truth both have their minimum at
step 137 or 154 and rise from there on, so that they are not in order; seeds 3, 7 and 8 end nearer to rung 2 than to
the truth."""
THIRD_MISSING = " Without embedding, seed 2 ends nearer to rung 2 than to the truth, too."

A19 = Claim(
    "A19",
    title="any one component removed: KL minima in order",
    statement="""No single component is needed: learning stays incremental without the norm, the residual path, the
    MLP, the key, output, embedding or readout matrix, dropout, or learned positions.""",
    definition="""With the same seed, for each component removed alone, KL to the rungs reaches its minima in order
    (A1).""",
    quantity="number of components whose removal leaves the order intact",
    judge=of_runs(minima_in_order, *REMOVED, names=tuple(REMOVED)),
    reasons={"printed": OVERFITS},
)
A19_TOGETHER = A19.called(
    "A19 together",
    "With all of these components removed, learning is still incremental.",
    title="all these components removed: KL minima in order",
    definition="Without all of them, KL to the rungs reaches its minima in order (A1).",
    quantity=QUANTITY,
    judge=of_runs(minima_in_order, "without all"),
    reasons={"printed": STAYS_NEAR_RUNG_1},
)
A19_HEADS = A19.called(
    "A19 heads",
    """With any one component removed, KL to the rungs still reaches its minima in order, and heads still compete, then
    cooperate. (Ours.)""",
    title="any one component removed: KL minima in order; heads compete, then cooperate (ours)",
    definition=f"With the same seed, for each component removed alone, {SAME}.",
    quantity="""number of components without which the minima are still in order and heads still compete, then
    cooperate""",
    judge=of_runs(same_in_kind, *REMOVED, names=tuple(REMOVED), run_by_run=True),
    reasons={"printed": OVERFITS + THIRD_MISSING},
)


def _with_and_without_residual(claim: Claim, results: Results) -> Finding:
    others = {name: results[name] for name in REMOVED if name in results and name != "without residual"}
    return spared_less_without_residual(claim, results.get("full"), results.get("without residual"), others=others)


A5_RESIDUAL = Claim(
    "A5 residual",
    title="without the residual path the newest position's attention is closer to that of its block (ours, post hoc)",
    statement="""The newest position gets less attention than the other positions of its block because the residual path
    carries it: without that path its attention is closer to theirs. (Ours, post hoc: this is the paper's explanation of
    A5; written when the outcome was known.)""",
    definition="""With the same seed, the ratio of the attention to lag 1, summed over the heads, to the mean over the
    other lags of its block (A5) is closer to 1 without the residual path than with it; all else is equal. Both models
    are evaluated at the last step of the shorter run.""",
    quantity="share of the ratio's distance from 1 that is gone without the residual path",
    judge=_with_and_without_residual,
)


def _without(name: str, start: Settings) -> Settings:
    """The run without a component. Heads of one-hot vectors are as wide as the stream: a third of it is less than the
    number of tokens, and such a head could not pass on a whole block.
    """
    switches = REMOVED[name]
    width = start.task.vocab + start.task.reads if "embedding" in switches else None
    return start.changed(model={**switches, "head_width": width})


def _runs(grid: str) -> dict[str, Settings]:
    full = FULLS[grid]()
    start = curves(full)
    all_removed = curves(MINIMALS[grid]()).changed(task={"blocks": full.task.blocks})
    # Ours: half of the paper's steps where they are enough. The full model has met its last rung before step 500.
    steps = {name: min(full.training.steps, 2000 if name == "without embedding" else 1000) for name in REMOVED}
    singles = {name: _without(name, start).changed(training={"steps": steps[name]}) for name in REMOVED}
    return {"full": full, **singles, "without all": all_removed}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids={grid: _runs(grid) for grid in FULLS},
    seeds=FEW_SEEDS,
    claims=(A19, A19_TOGETHER, A19_HEADS, A5_RESIDUAL),
    figures=ladders,
)
