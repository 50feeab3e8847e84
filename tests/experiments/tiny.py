"""The command line with quick grids that a test can wait for: chains of four tokens, a dozen steps, two seeds.

Every run of every quick grid is there, with its own blocks, parts, depth, encoding, schedule and data; only sizes are
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
"""Quick size of a training set -> tiny: one smaller than the batch, one as large, the others larger."""
MOST_SAMPLES = 20


def small(settings: Settings | ConstructionSettings) -> Settings | ConstructionSettings:
    """The same run on a chain of four tokens, without dropout, which takes long to compile."""
    task = replace(settings.task, tokens=4, order=7, horizon=2)
    if isinstance(settings, ConstructionSettings):
        return replace(settings, task=task, sharpness=(0.0, 5.0, 10.0), test_samples=16)
    training = settings.training
    return settings.changed(
        task=task,
        # 12 = 4 tokens and 8 positions, so that three heads divide one-hot vectors too.
        model={"width": 12, "mlp": min(settings.model.mlp, 4), "blocks": min(settings.model.blocks, 2), "dropout": 0.0},
        training={
            "steps": 12,
            "batch": BATCH,
            "samples": SAMPLES.get(training.samples, MOST_SAMPLES),
            "test_samples": 16,
            "dropout": "always",
        },
        evaluation=EvaluationSettings(
            points=6, snapshots=min(settings.evaluation.snapshots, 3), subsets=settings.evaluation.subsets
        ),
    )


MINIMAL = small(presets.minimal_quick())
GRIDS = {name: {run: small(settings) for run, settings in find(name).GRIDS["quick"].items()} for name in NAMES}


def main() -> None:
    from headway.cli import main

    for name, runs in GRIDS.items():
        experiment = find(name)
        experiment.GRIDS["quick"] = runs
        experiment.SEEDS["quick"] = SEEDS
    main()


if __name__ == "__main__":
    main()
