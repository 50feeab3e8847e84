"""Paper A's settings: as the paper prints them, as the authors' code ran them, and small enough for a laptop.

A comment marks what neither the paper nor the code says and we had to choose.
"""

from collections.abc import Callable
from dataclasses import replace

from headway.settings import EvaluationSettings, ModelSettings, TrainingSettings
from headway.tasks.chain import Chain
from headway.tasks.run import Settings

MINIMAL = ModelSettings(
    embedding="one-hot",
    positions="one-hot",
    keys=False,
    output=False,
    scaled_scores=False,
    residual=False,
    norm="none",
    mlp=0,
    readout=False,
    dropout=0.0,
)
"""Merged scores, full-width values, nothing else (section 2.4)."""

FULL = ModelSettings()
"""Three heads of 85, ReLU layer of 64 (table 3). Ours where only printed: the norm comes after the residual."""

FULL_AS_RUN = replace(FULL, attention_dropout=True, initialisation="orthogonal")
"""The same with dropout on the attention probabilities, too, and an orthogonal readout."""

BLOCKS_OF_TWO = ((1, 2), (3, 4), (5, 6))
BLOCKS_OF_FOUR = ((1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12))

PUBLISHED_SNAPSHOTS = (0, 60, 300, 1000)
"""Steps that Figure 2 shows."""

EVALUATION = EvaluationSettings(also=PUBLISHED_SNAPSHOTS, snapshots=16)
CURVES = EvaluationSettings(points=60, snapshots=0)
"""For runs of which only curves are shown."""
COMBINATIONS = replace(CURVES, comparisons=True)
"""The same, compared with every combination of blocks."""
OFTEN = replace(COMBINATIONS, every=5)
"""The same at every fifth step: where a curve's slope is looked at, evaluations far apart would hide its humps."""
PICTURES = EvaluationSettings(points=60, snapshots=12)
"""For runs of which attention matrices are shown, too."""


def minimal_printed() -> Settings:
    return Settings(task=Chain(), model=MINIMAL, training=TrainingSettings(), evaluation=EVALUATION)


def minimal_as_run() -> Settings:
    return Settings(
        task=Chain(weighting="sum"),
        model=replace(MINIMAL, scaled_scores=True),
        training=TrainingSettings(learning_rate=0.08, schedule="constant"),
        evaluation=EVALUATION,
    )


def minimal_quick() -> Settings:
    """As run, with a sixth of the batch and only the steps that the stages need."""
    return minimal_as_run().changed(
        training={"batch": 500, "steps": 800, "test_samples": 500},
        evaluation=EvaluationSettings(points=80, also=(60, 300), snapshots=80),
    )


def full_printed() -> Settings:
    return Settings(
        task=Chain(blocks=BLOCKS_OF_FOUR),
        model=FULL,
        training=TrainingSettings(precision="tf32"),  # Ours: see `full_as_run`.
        evaluation=EVALUATION,
    )


def full_as_run() -> Settings:
    return Settings(
        task=Chain(blocks=BLOCKS_OF_FOUR, weighting="sum"),
        model=FULL_AS_RUN,
        # Ours: nobody says in which precision the matrix products ran; TF32 makes paper scale affordable.
        training=TrainingSettings(schedule="constant", dropout="first-of-epoch", precision="tf32"),
        evaluation=EVALUATION,
    )


def full_quick() -> Settings:
    """The full model's parts on a smaller chain: fewer tokens, blocks of two, a narrower stream."""
    return full_as_run().changed(
        task={"vocab": 20, "blocks": BLOCKS_OF_TWO, "horizon": 12},
        model={"width": 48, "mlp": 48},
        training={"batch": 250, "samples": 6000, "steps": 600, "test_samples": 250, "precision": "float32"},
        evaluation=EvaluationSettings(points=60, also=(60, 300), snapshots=40),
    )


SMALLER = "The full model is smaller than paper A's: width 96, blocks of two lags, batches of 1000"
"""Part of the definition of each claim about `small`."""


def small(settings: Settings) -> Settings:
    """A full model between laptop and paper, for what goes beyond the papers: a third of the batch, blocks of two."""
    return settings.changed(
        task={"blocks": BLOCKS_OF_TWO},
        model={"width": 96},
        training={"batch": 1000, "test_samples": 1000, "precision": "float32"},
        evaluation=COMBINATIONS,
    )


SADDLE = {"initialisation": "uniform", "scale": 1e-9}
"""Of the minimal model: queries in [-1e-9, 1e-9] and values zero, as its runs with fresh data began."""

FEW_SEEDS = {"quick": 4, "printed": 10, "as-run": 10}
"""How many seeds each grid uses unless another number is given."""
MORE_SEEDS = {**FEW_SEEDS, "quick": 8}

Bases = dict[str, Callable[[], Settings]]
"""Name of a grid -> the run that it starts from."""
MINIMALS: Bases = {"quick": minimal_quick, "printed": minimal_printed, "as-run": minimal_as_run}
FULLS: Bases = {"quick": full_quick, "printed": full_printed, "as-run": full_as_run}


def for_each_grid(bases: Bases, runs: Callable[[Settings], dict[str, Settings]]) -> dict[str, dict[str, Settings]]:
    """The same runs from the base of every grid: grid -> name of a run -> its settings."""
    return {grid: runs(base()) for grid, base in bases.items()}


def beside_ngrams(settings: Settings[Chain]) -> Settings[Chain]:
    """The same run, compared with one n-gram model for each rung: contexts that end where a block ends."""
    return settings.changed(task={"references": tuple(sorted({max(block) for block in settings.task.blocks}))})


def curves(settings: Settings) -> Settings:
    """The same run, of which only curves are kept."""
    return settings.changed(evaluation=CURVES)


def pictures(settings: Settings) -> Settings:
    """The same run, of which a dozen attention matrices are kept, too."""
    return settings.changed(evaluation=PICTURES)
