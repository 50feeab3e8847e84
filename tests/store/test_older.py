"""Records of older versions mean the same in today's names; what is written today is left as it is."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from headway.experiments import find
from headway.settings.plain import plain
from headway.store import load
from headway.store.kinds import revive_cell
from headway.store.older import upgraded
from headway.tasks.toy import Toy, toy_settings

RESULTS = sorted(Path(__file__).parents[2].glob("results/*/record.json"))


def described(path: Path) -> dict:
    return json.loads(path.read_text())["cell"]


def test_there_are_records_of_an_older_version():
    assert any("tokens" in described(path)["settings"].get("task", {}) for path in RESULTS)


def test_every_record_keeps_its_name_and_every_number_of_its_settings():
    for path in RESULTS:
        told = described(path)
        record = load(path.parent)
        assert record.identity == path.parent.name
        new = plain(record.cell.settings)
        # What equals an added setting's default is not written any more; and see the tests of toys below.
        usual = {"None", "0.5", "False"}
        gone = {
            "toy": {"dynamics", "learning_rate", "longest", "points", "shown", "tail"},
            "regression": {"optimiser"},
        }.get(told["kind"], set())
        old = leaves({name: value for name, value in told["settings"].items() if name not in gone})
        assert set(map(str, old)) <= set(map(str, leaves(new))) | usual, path.parent.name


def test_the_rule_changes_nothing_that_is_written_today():
    for path in RESULTS:
        cell = revive_cell(described(path))
        today = json.loads(json.dumps(plain(cell.settings)))
        assert upgraded(today, cell.kind) == today
        assert revive_cell(cell.describe()) == cell


def _is_old(told) -> bool:
    return "blocks" in told["settings"].get("model", {})


@pytest.mark.parametrize("kind", ["markov", "recall", "single-location"])
def test_renamed_settings_have_their_old_values(kind):
    old = next(told for told in map(described, RESULTS) if told["kind"] == kind and _is_old(told))
    new = revive_cell(old).settings
    assert new.model.layers == old["settings"]["model"]["blocks"]
    if "tokens" in old["settings"]["task"]:
        assert new.task.vocab == old["settings"]["task"]["tokens"]
    if kind != "markov":
        assert new.evaluation.every == old["settings"]["training"]["every"]
        assert new.training.data == "fresh" and new.training.weight_decay == 0


def test_a_toy_that_was_descended_is_a_task_that_is_trained_and_its_flow_a_kind_of_its_own():
    old = {path: described(path) for path in RESULTS if described(path)["kind"] == "toy"}
    assert len(old) == 384
    kinds = Counter((told["settings"]["dynamics"], revive_cell(told).kind) for told in old.values())
    assert kinds == {("descent", "toy"): 338, ("flow", "toy-flow"): 46}
    for path, told in old.items():
        was, now = told["settings"], revive_cell(told).settings
        sizes = {name: was[name] for name in ("dimension", "length", "copies", "repeated")}
        if was["dynamics"] == "flow":
            kept = ("model", "threshold", "longest", "points", "shown")
            assert plain(now) == sizes | {name: was[name] for name in kept}
            continue
        wanted = toy_settings(Toy(**sizes, trained=was["model"]), was["samples"], seen=was["points"] > 0)
        assert now == wanted, "the settings that a grid of today asks for"
        assert (now.training.learning_rate, now.training.threshold) == (was["learning_rate"], was["threshold"])
        assert 1 + now.training.tail == was["tail"]
        closed = load(path.parent).trajectory.facts["closed_form"][0]
        assert now.training.steps >= was["longest"] * closed / was["learning_rate"]


def test_no_plateau_of_a_toy_that_was_kept_had_been_given_up():
    """So that nothing is lost with the number of closed forms after which one would have been."""
    for path in RESULTS:
        if described(path)["kind"] == "toy":
            assert np.isfinite(load(path.parent).trajectory.facts["plateau"]).all()


def test_a_toy_with_steps_of_its_own_keeps_them():
    old = next(told for told in map(described, RESULTS) if told["settings"].get("model") == "matrices")
    slow = {**old, "settings": {**old["settings"], "learning_rate": 0.5, "longest": 3.0, "tail": 2.0}}
    training, usual = revive_cell(slow).settings.training, revive_cell(old).settings.training
    assert (training.learning_rate, training.tail) == (0.5, 1.0)
    assert training.steps == pytest.approx(0.6 * usual.steps, abs=25)


def test_a_regression_is_a_task_that_is_trained_with_the_settings_that_its_grid_asks_for():
    old = [described(path) for path in RESULTS if described(path)["kind"] == "regression"]
    old = [told for told in old if "optimiser" in told["settings"]]  # younger ones have the settings of a task
    assert len(old) == 7
    asked = set(find("regression").grids["printed"].values())
    for told in old:
        was, now = told["settings"], revive_cell(told).settings
        assert now in asked
        assert now.training.data == ("exact" if was["optimiser"] == "gd" else "fresh")
        assert (now.training.learning_rate, now.evaluation.points) == (was["learning_rate"], was["points"])


def leaves(value):
    """Numbers and words at the ends of a description."""
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in leaves(each)]
    if isinstance(value, list):
        return [leaf for each in value for leaf in leaves(each)]
    return [value]
