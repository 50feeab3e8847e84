"""Records of older versions mean the same in today's names; what is written today is left as it is."""

import json
from pathlib import Path

import pytest

from headway.records import plain
from headway.store import load
from headway.store.kinds import revive_cell
from headway.store.older import upgraded

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
        # What equals an added setting's default is not written any more.
        usual = {"None", "0.5", "False"}
        assert set(map(str, leaves(told["settings"]))) <= set(map(str, leaves(new))) | usual, path.parent.name


def test_the_rule_changes_nothing_that_is_written_today():
    for path in RESULTS:
        cell = revive_cell(described(path))
        today = json.loads(json.dumps(plain(cell.settings)))
        assert upgraded(today) == today
        assert revive_cell(cell.describe()) == cell


@pytest.mark.parametrize("kind", ["markov", "recall", "single-location"])
def test_renamed_settings_have_their_old_values(kind):
    old = next(told for told in map(described, RESULTS) if told["kind"] == kind)
    new = revive_cell(old).settings
    assert new.model.layers == old["settings"]["model"]["blocks"]
    if "tokens" in old["settings"]["task"]:
        assert new.task.vocab == old["settings"]["task"]["tokens"]
    if kind != "markov":
        assert new.evaluation.every == old["settings"]["training"]["every"]
        assert new.training.data == "fresh" and new.training.weight_decay == 0


def leaves(value):
    """Numbers and words at the ends of a description."""
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in leaves(each)]
    if isinstance(value, list):
        return [leaf for each in value for leaf in leaves(each)]
    return [value]
