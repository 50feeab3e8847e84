"""The command line with quick grids that a test can wait for: chains of four tokens, three dozen steps.

Everything else is as users have it. Run as a program it is `headway`:

    python tiny.py run all --into FOLDER
"""

from dataclasses import replace

from headway import presets
from headway.experiments import attention, ladder, stages
from headway.settings import EvaluationSettings, Settings

BLOCKS = ((1, 2), (3,), (4,))
SEEDS = 4


def small(settings: Settings) -> Settings:
    """The same kind of model on a chain of four tokens, without dropout, which takes long to compile."""
    return replace(
        settings,
        task=replace(settings.task, tokens=4, blocks=BLOCKS, horizon=3),
        model=replace(settings.model, width=12, mlp=min(settings.model.mlp, 4), dropout=0.0),
        training=replace(settings.training, steps=36, batch=8, samples=20, test_samples=16, dropout="always"),
        evaluation=EvaluationSettings(points=10, snapshots=5),
    )


MINIMAL = small(presets.minimal_quick())
FULL = small(presets.full_quick())
BESIDE_NGRAMS = replace(FULL, references=(2, 4))

GRIDS = {stages: [MINIMAL], attention: [FULL, MINIMAL], ladder: [BESIDE_NGRAMS, MINIMAL]}


def main() -> None:
    from headway.cli import main

    for experiment, runs in GRIDS.items():
        experiment.GRIDS["quick"] = runs
        experiment.SEEDS["quick"] = SEEDS
    main()


if __name__ == "__main__":
    main()
