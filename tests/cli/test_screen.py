"""What a terminal shows while cells are trained."""

import io

import numpy as np
import pytest
from rich.console import Console

from headway.cli.screen import Screen, name
from headway.experiments import NAMES, find
from headway.experiments.ablations import EXPERIMENT
from headway.presets import full_quick, minimal_quick
from headway.records import Cell


def test_every_run_of_every_experiment_has_a_name():
    runs = [settings for each in NAMES for grid in find(each).grids.values() for settings in grid.values()]
    assert all(name(Cell(settings, (0,))) for settings in runs)


@pytest.mark.parametrize("width", [50, 100])
def test_the_table_stands_below_the_bar_with_its_headings_over_its_columns(width):
    screen = Screen(Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None))
    screen.begin([Cell(minimal_quick(), (0, 1))], 0, 100)
    screen.advance(10, np.array([1.0, 2.0]), np.array([1, 2]))
    shown = Console(width=width, color_system=None)
    with shown.capture() as capture:
        shown.print(screen._table())
    step, bar, heading, first, second = (line.rstrip() for line in capture.get().splitlines())
    assert step.startswith("step 10/100") and set(bar) <= set("━╸ ")
    assert heading.split() == ["run", "seed", "loss", "rung"] and heading.index("run") == first.index("minimal")
    assert first.split() == ["minimal", "0", "1.000", "●○○"] and second.split()[-1] == "●●○"


@pytest.mark.parametrize(
    "count, told",
    [
        (3, "rung that each seed approaches (not yet its stage): 1 2 1, "),
        (1000, "667 approaching rung 1, 333 approaching rung 2, "),
    ],
    ids=["few", "many"],
)
def test_where_nobody_sees_a_table_a_line_tells_the_rungs_one_by_one_or_how_many_are_at_each(count, told):
    written = io.StringIO()
    screen = Screen(Console(file=written, width=200))
    screen.begin([Cell(minimal_quick(), tuple(range(count)))], 0, 100)
    screen.advance(100, np.full(count, 1.5), 1 + np.arange(count) % 3 % 2)
    *_, line = written.getvalue().splitlines()
    assert line.startswith(f"step 100/100, median loss 1.500, {told}")


def test_a_model_is_minimal_only_without_all_of_it():
    ablated = EXPERIMENT.grids["quick"]["without embedding"]
    settings = {"minimal": minimal_quick(), "full": full_quick(), "ablated": ablated}
    names = {kind: name(Cell(each, (0,))) for kind, each in settings.items()}
    assert names == {"minimal": "minimal", "full": "full", "ablated": "full"}


def test_a_run_with_frozen_parts_is_told_apart_from_the_run_that_they_come_from():
    run = find("attention").grids["quick"]["full"].changed(training={"frozen": ("attention", "mlp")})
    (first,) = Cell(run, (0,)).needs()
    assert (name(Cell(run, (0,))), name(first)) == ("full, attention and mlp frozen", "full")
