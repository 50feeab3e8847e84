"""What a notebook shows of any public object fits ten lines."""

import math
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from tests.made_model import made_model
from tests.report.made_run import FOUR, made_settings, made_trajectory

import headway
from headway import analysis
from headway.experiments import NAMES, find
from headway.experiments.outcome import Outcome
from headway.notebook import Ran
from headway.records import Cell, Finding
from headway.store import Store
from headway.tasks.recall import Recall
from headway.trained import Moment

RESULTS = Path(__file__).parent.parent / "results"


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    settings = made_settings()
    with Store(tmp_path_factory.mktemp("runs")).open(Cell(settings, FOUR)) as work:
        record = work.place(made_trajectory(settings), {"device": "none: made up"})
    model, inputs = made_model("pre")
    stages = headway.stages(record)
    experiment = find("recall")
    finding = Finding("A1", "words " * 40, "words " * 60, "step", tuple(range(20)), (1.5,) * 20, (True,) * 20)
    law = analysis.fit_power_laws(np.array([[1.0], [2], [4]]), np.tile([1.0, 2, 4], (30, 1)))
    return {
        "record": record,
        "trajectory": record.trajectory,
        "cell": record.cell,
        "settings": settings,
        "recall's settings": Recall.usual(),
        "model settings": settings.model,
        "training settings": settings.training,
        "evaluation settings": settings.evaluation,
        "task": settings.task,
        "experiment": experiment,
        "claim": experiment.claims[0],
        "finding": finding,
        "what an experiment came to": Ran(Outcome(find("stages"), "stages", "quick", {"minimal": record})),
        "stages": stages[0],
        "stage summary": analysis.stage_summary(stages),
        "over seeds": analysis.over_seeds([1.0, 2.0, 3.0]),
        "laws": law,
        "calibration": analysis.calibrate(np.ones((30, 1)), np.ones((30, 9))),
        "n-grams": analysis.ngrams(np.zeros((4, 50), int), 3, 3),
        "trained model": model,
        "what it sees": model(inputs),
        "moment": Moment(0, 1, 20, 12.5, math.inf, record),
        "example": headway.Example(jnp.zeros((500, 3)), jnp.zeros((2, 3))),
        "shown": headway.show(record),
        "forecast": headway.predict("toy", dimension=64, length=1024, folders=[]),
    }


def test_every_repr_fits_ten_lines_of_a_notebook(things):
    for name, thing in things.items():
        lines = [
            piece
            for line in repr(thing).split("\n")
            for piece in [line[i : i + 120] for i in range(0, max(1, len(line)), 120)]
        ]
        assert len(lines) <= 10, f"{name} takes {len(lines)} lines: {repr(thing)[:500]}"
        assert lines[0].strip()


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_fits_ten_lines(name):
    assert len(repr(find(name)).split("\n")) <= 10


def test_settings_show_what_is_not_the_default():
    settings = headway.presets.minimal_quick().changed(task={"ratio": 1.3})
    assert "ratio=1.3" in repr(settings)
    assert "horizon" not in repr(headway.Settings())


def test_a_trajectory_goes_through_its_names(things):
    trajectory = things["trajectory"]
    assert list(trajectory) == list(trajectory.arrays)
    assert len(trajectory) == len(trajectory.arrays)
    assert {name: trajectory[name].shape for name in trajectory}
