"""Every setting is a typed option: blocks as one writes them, overrides that keep what is not given."""

import re
from dataclasses import fields, is_dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.tree_util import tree_leaves_with_path

from headway import presets
from headway.cli.settings_options import lags
from headway.experiments import NAMES, find
from headway.settings.typed import block_text
from headway.training.problem import new_model

BLOCK = st.lists(st.integers(1, 30), min_size=1, max_size=8, unique=True).map(tuple)


def differing(left: Any, right: Any, where: str = "") -> set[str]:
    """Names of the settings in which two records differ."""
    if is_dataclass(left):
        pairs = ((field.name, getattr(left, field.name), getattr(right, field.name)) for field in fields(left))
        return {name for field, a, b in pairs for name in differing(a, b, f"{where}.{field}")}
    return set() if left == right else {where.removeprefix(".")}


@given(BLOCK)
def test_a_block_reads_back_from_what_is_written_for_it(block):
    assert lags(block_text(block)) == block


@pytest.mark.parametrize(
    "text, block",
    [("5-8", (5, 6, 7, 8)), ("1,3", (1, 3)), ("2,5-7", (2, 5, 6, 7)), ("4", (4,)), ("4,1-2", (4, 1, 2)), ("3-3", (3,))],
)
def test_blocks_are_written_as_people_write_them(text, block):
    assert lags(text) == block


@given(BLOCK)
def test_the_notation_is_no_longer_than_a_list(block):
    assert len(block_text(block)) <= len(",".join(map(str, block)))


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "1--2", "1-2-3", "1;2", "1.5", "8-5", "2,8-5", "1,,2"])
def test_what_is_no_block_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        lags(text)


def test_blocks_keep_their_order_and_lags_theirs(dry):
    (cell,) = dry("run", "stages", "--task.blocks", "5-6", "3-4", "2,1")
    assert cell.settings.task.blocks == ((5, 6), (3, 4), (2, 1))


def test_weights_are_written_block_by_block(dry):
    (cell,) = dry("run", "stages", "--task.weighting", "given", "--task.weights", "0.7,0.3", "1,0", "0.5,0.5")
    assert cell.settings.task.weights == ((0.7, 0.3), (1.0, 0.0), (0.5, 0.5))


def test_groups_are_written_as_help_shows_and_select_parameters_of_a_transformer(dry, headway, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")  # so narrow that boxes are not side by side
    shown = " ".join(headway("run", "stages", "--help").out.replace("│", " ").split())
    (example,) = re.findall(r"selected by path, as in (\S+)\. ", shown)
    (cell,) = dry("run", "stages", "--training.groups", example)
    assert cell.settings.training.groups == (("layers.*.value", 5.0, 1.0),)
    model = jax.eval_shape(lambda: new_model(cell.settings, jnp.uint32(0), 1.0))
    paths = [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in tree_leaves_with_path(model)]
    assert any(fnmatchcase(path, "layers.*.value") for path in paths)


@pytest.mark.parametrize("experiment, grid", [(name, grid) for name in NAMES for grid in find(name).grids])
def test_a_run_without_options_is_the_grid_itself(dry, experiment, grid):
    module = find(experiment)
    cells = dry("run", experiment, "--grid", grid)
    assert [cell.settings for cell in cells] == list(module.grids[grid].values())
    assert {cell.seeds for cell in cells} == {tuple(range(module.seeds[grid]))}


def test_an_option_changes_every_run_of_a_grid_and_nothing_else_in_it(dry):
    """The ladder's two runs have different chains; both get the ratio and keep the rest."""
    runs = list(find("ladder").grids["quick"].values())
    assert differing(*runs) >= {"task.vocab", "task.horizon", "model.embedding", "training.samples"}
    cells = dry("run", "ladder", "--task.ratio", "1.3", "--training.steps", "7", "--seeds", "3")
    assert [differing(cell.settings, run) for cell, run in zip(cells, runs, strict=True)] == [
        {"task.ratio", "training.steps"}
    ] * 2
    assert {(cell.settings.task.ratio, cell.settings.training.steps, cell.seeds) for cell in cells} == {
        (1.3, 7, (0, 1, 2))
    }


def test_options_start_from_the_chosen_grid(dry):
    (cell,) = dry("run", "stages", "--grid", "printed", "--model.heads", "2")
    assert cell.settings == replace(presets.minimal_printed(), model=replace(presets.MINIMAL, heads=2))


def test_of_two_grids_the_last_is_meant(dry):
    (cell,) = dry("run", "stages", "--grid", "printed", "--grid=as-run")
    assert cell.settings == presets.minimal_as_run()


def test_all_stands_for_every_experiment(dry, monkeypatch):
    monkeypatch.setattr("headway.corpora.texts.Package.lacks", lambda package: "")
    monkeypatch.setattr("headway.corpora.tokens.lacks_byte_pairs", str)
    cells = dry("run", "all", "--seeds", "2")
    assert [cell.settings for cell in cells] == [
        settings for name in NAMES for settings in find(name).grids["quick"].values()
    ]


def test_an_option_of_all_changes_every_run_that_has_such_a_setting(dry, monkeypatch):
    """The construction is not trained: it takes the ratio, and has no steps to change. A toy's flow has neither.

    Of a few experiments, because every run's settings are parsed.
    """
    monkeypatch.setattr("headway.cli.arguments.NAMES", ("stages", "construction", "hierarchy", "escape"))
    cells = dry("run", "all", "--training.steps", "200", "--task.ratio=1.2")
    of_kind = {
        kind: [cell.settings for cell in cells if cell.kind == kind] for kind in ("markov", "construction", "toy-flow")
    }
    assert {settings.task.ratio for settings in (*of_kind["markov"], *of_kind["construction"])} == {1.2}
    assert {settings.training.steps for settings in of_kind["markov"]} == {200}
    assert of_kind["toy-flow"] == [cell.settings for cell in dry("run", "all") if cell.kind == "toy-flow"] != []


@pytest.mark.parametrize("grid", ["printed", "paper"])
def test_all_takes_the_experiments_that_have_the_grid(dry, grid):
    having = [find(name) for name in NAMES if grid in find(name).grids]
    with_it = [experiment for experiment in having if not experiment.lacks(experiment.grids[grid])]
    assert 0 < len(with_it) < len(NAMES)
    cells = dry("run", "all", "--grid", grid)
    assert [cell.settings for cell in cells] == [
        settings for experiment in with_it for settings in experiment.grids[grid].values()
    ]


def test_all_leaves_out_what_this_machine_lacks_and_says_so(dry, monkeypatch, capsys):
    monkeypatch.setattr("headway.corpora.texts.Package.lacks", lambda package: "no speeches here.")
    assert not [cell for cell in dry("run", "all") if cell.kind == "text"]
    assert "note: text is left out: no speeches here.\n" in capsys.readouterr().err


def test_the_construction_has_options_of_its_own(dry):
    (cell,) = dry("run", "construction", "--sharpness", "0", "2.5", "9", "--test-samples", "7", "--task.vocab", "9")
    (quick,) = find("construction").grids["quick"].values()
    assert differing(cell.settings, quick) == {"sharpness", "test_samples", "task.vocab"}
    assert (cell.settings.sharpness, cell.settings.test_samples) == ((0.0, 2.5, 9.0), 7)
    assert cell.kind == "construction"


def test_a_run_of_a_window_keeps_its_window_whatever_else_is_changed(dry):
    quick = find("dataset-size").grids["quick"]
    cells = dry("run", "dataset-size", "--task.ratio", "1.3")
    assert [cell.settings.task.context for cell in cells] == [run.task.context for run in quick.values()]
    assert {cell.settings.task.context for cell in cells} == {None, 2, 4, 6}


def test_the_main_job_is_the_quick_grid_of_the_stages(dry):
    assert dry() == dry("run", "stages") == dry("run", "stages", "--grid", "quick")


def test_the_same_options_name_the_same_cell_however_they_are_written(dry):
    as_words = dry("run", "stages", "--task.ratio", "2", "--task.blocks", "1-2", "3-4", "--model.no-keys")
    as_others = dry("run", "stages", "--model.no-keys", "--task.blocks", "1,2", "3,4", "--task.ratio=2.0")
    assert [cell.identity for cell in as_words] == [cell.identity for cell in as_others]
