"""Beyond paper A: stages with other positional encodings, in a smaller full model, and the order of the blocks."""

from __future__ import annotations

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.incremental import SURVIVES, staircase_survives
from headway.experiments.experiment import Experiment, headline
from headway.experiments.figures import ladders
from headway.presets import COMBINATIONS, FEW_SEEDS, FULLS, SMALLER, small
from headway.records import Finding
from headway.tasks.run import Settings

ENCODINGS = {
    "learned positions": "learned",
    "sinusoidal positions": "sinusoidal",
    "rotary positions": "rotary",
    "relative positions": "relative",
    "ALiBi positions": "alibi",
}
"""Name of a run -> its positional encoding."""
WITHOUT = "no positions"

IN_TIME = """
Sinusoidal encodings learn slowly at the printed learning rate: after 1000 steps, half of the paper's, all seeds
have reached the second rung, but only two the last. With relative biases half of the seeds come no nearer
to the first rung than by confidence alone. ALiBi's fixed slopes favour the newest lags and cannot single out a block
far back."""
TOO_SOON = """
With relative biases the KL minima are in order, but the blocks are learnt so soon after one another that no seed
comes nearer to the first rung than by confidence alone. With rotary encodings some seeds miss the first rung in this
sense and others the second. ALiBi's fixed slopes favour the newest lags and cannot single out a block far back."""


def _survives(claim: Claim, results: Results) -> Finding:
    """In every encoding; the run without one stands beside them and does not count."""
    beside = {name: run for name, run in results.items() if name == WITHOUT}
    return staircase_survives(claim, *map(results.get, ENCODINGS), names=tuple(ENCODINGS), beside=beside)


H1 = Claim(
    "H1",
    title="every positional encoding: KL minima in order, nearer than by confidence alone (ours)",
    statement="""Learning is incremental with every positional encoding: learned, sinusoidal, rotary and relative
    positions and ALiBi. (Ours.)""",
    definition=f"With the same seed, for each of these five encodings, {SURVIVES}. {SMALLER}, 1000 steps.",
    quantity="""number of encodings, of five, with minima in order and each lower rung nearer than by confidence
    alone""",
    judge=_survives,
    reasons={"printed": IN_TIME, "as-run": TOO_SOON},
)
ONE_SEED = "In one seed a rung is approached no nearer than by confidence alone."
MISSED = {
    "learned": {"printed": ONE_SEED, "as-run": ONE_SEED},
    "sinusoidal": {
        "printed": "Every seed approaches the rungs, but in six the KL minima are not in order within the 1000 steps.",
        "as-run": ONE_SEED,
    },
    "rotary": {
        "as-run": """The KL minima are in order in every seed; the first rung is approached no nearer than by
        confidence alone in three of them, the second in five.""",
    },
    "relative": {
        "printed": """The KL minima are in order in every seed; the first rung is approached no nearer than by
        confidence alone in five of them.""",
        "as-run": """The KL minima are in order in every seed; the first rung is approached no nearer than by
        confidence alone in all of them, the second in eight.""",
    },
    "alibi": {
        "printed": """The KL minima are in order in no seed, and no seed comes closer to a rung than by confidence
        alone.""",
        "as-run": """The KL minima are in order in three seeds, and no seed comes closer to a rung than by confidence
        alone.""",
    },
}
"""What is missing, as the numbers say it; no cause was tested."""
EACH = tuple(
    H1.called(
        f"H1 {encoding}",
        f"Learning is incremental with {name}. (Ours.)",
        title=f"{name}: KL minima in order, nearer than by confidence alone (ours)",
        definition=f"With them, {SURVIVES}. {SMALLER}, 1000 steps.",
        quantity="""1 if the minima are in order and each lower rung is approached more closely than by confidence
        alone, otherwise 0""",
        judge=of_runs(staircase_survives, name, names=(name,)),
        reasons=MISSED.get(encoding, {}),
    )
    for name, encoding in ENCODINGS.items()
)


def _runs(grid: str) -> dict[str, Settings]:
    base = FULLS[grid]()
    if grid == "quick":
        base = base.changed(evaluation=COMBINATIONS)
    else:
        base = small(base)
    base = base.changed(training={"steps": min(base.training.steps, 1000)})
    every = {**ENCODINGS, WITHOUT: "none"}
    return {name: base.changed(model={"positions": encoding}) for name, encoding in every.items()}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids={grid: _runs(grid) for grid in FULLS},
    seeds=FEW_SEEDS,
    claims=(H1, *EACH),
    figures=ladders,
)
