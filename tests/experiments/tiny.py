"""The command line with quick grids that a test can wait for: chains of four tokens, three dozen steps, two seeds.

Every run of every quick grid is there, with its own blocks, parts, encoding, schedule and data; only sizes are
smaller. Everything else is as users have it. Run as a program it is `headway`:

    python tiny.py run all --into FOLDER
"""

from dataclasses import replace

from headway import presets
from headway.experiments import NAMES, find
from headway.settings import ConstructionSettings, EvaluationSettings, Settings

SEEDS = 2
BATCH = 8
SAMPLES = {100: 4, 200: 8, 400: 12, 1000: 16}
"""Quick size of a training set -> ours: one is smaller than a batch, and the others share a program."""
MOST_SAMPLES = 20

# Compiling takes almost all of the time, so that what need not differ is the same: 7 tokens and 1 more hold every
# block of the grids, and with the 4 tokens make one-hot vectors of 12, which three and four heads divide.
TASK = {"tokens": 4, "order": 7, "horizon": 2}


def small(settings: Settings) -> Settings:
    """The same run on a small chain; deep models have two blocks, and none has dropout: both take long to compile."""
    model, training = settings.model, settings.training
    evaluation = EvaluationSettings(
        points=10, snapshots=min(settings.evaluation.snapshots, 5), subsets=settings.evaluation.subsets
    )
    return settings.changed(
        task=TASK,
        model={"width": 12, "mlp": min(model.mlp, 4), "blocks": min(model.blocks, 2), "dropout": 0.0},
        training={
            "steps": 36,
            "batch": BATCH,
            "samples": SAMPLES.get(training.samples, MOST_SAMPLES),
            "test_samples": 16,
            "dropout": "always",
        },
        evaluation=evaluation,
    )


def small_construction(settings: ConstructionSettings) -> ConstructionSettings:
    return replace(settings, task=replace(settings.task, **TASK), sharpness=(0.0, 10.0, 20.0), test_samples=16)


MINIMAL = small(presets.minimal_quick())
GRIDS = {
    name: {
        run: small(settings) if isinstance(settings, Settings) else small_construction(settings)
        for run, settings in find(name).GRIDS["quick"].items()
    }
    for name in NAMES
}


def main() -> None:
    from headway.cli import main

    for name, runs in GRIDS.items():
        experiment = find(name)
        experiment.GRIDS["quick"] = runs
        experiment.SEEDS["quick"] = SEEDS
    main()


if __name__ == "__main__":
    main()
