"""Runs are called as the experiments call them, and by what was changed where something was."""

from dataclasses import replace

from tests.report.made_run import made_settings

from headway.experiments import find
from headway.records import Cell
from headway.report.assemble import MOST_LABEL
from headway.watch.names import label

QUICK = find("stages").grids["quick"]["minimal"]


def test_a_run_of_a_grid_has_the_name_that_its_experiment_gives_it():
    assert label(Cell(QUICK, (0, 1))) == "stages: minimal, quick, 2 seeds"
    assert label(Cell(find("flow").grids["quick"]["flow"], (0,))) == "flow, quick, 1 seed"


def test_a_changed_run_says_what_was_changed():
    settings = replace(QUICK, training=replace(QUICK.training, steps=321))
    assert label(Cell(settings, (0, 1))) == "stages: minimal, quick, steps 321, 2 seeds"


def test_a_run_of_ones_own_is_told_by_what_sets_it_apart_in_a_few_words():
    settings = made_settings(heads=5, blocks=((1,), (2, 3)), references=(2,))
    cell = Cell(replace(settings, task=replace(settings.task, ratio=2.5)), (0, 1))
    words = label(cell)
    assert words.startswith(f"markov {cell.identity[-4:]}, 2 seeds; blocks 1 2-3, ratio 2.5, ")
    assert words.endswith(" more changes") and len(words) < MOST_LABEL + 20


def test_a_model_to_compare_with_is_named_after_the_run_that_is_compared():
    (shortest, *_) = find("nonuniform").grids["as-run"]["unequal weights"].references
    words = "n-gram model, c = 2, beside nonuniform: unequal weights, as-run, 2 seeds"
    assert label(Cell(shortest, (0, 1))) == words
