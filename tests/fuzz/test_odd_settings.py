"""Whatever settings are given, they are made, or refused in words that name one of them."""

import importlib
import json
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import strategies as st
from tests.fuzz.fuzzing import fuzz, in_many_cases, is_a_message, values

RECORDS = {
    **dict.fromkeys(("ModelSettings", "TrainingSettings", "EvaluationSettings"), "settings"),
    **dict.fromkeys(("FlowSettings", "PortraitSettings"), "settings"),
    **dict.fromkeys(("StageTimesSettings", "ToyFlowSettings"), "settings"),
    "Chain": "tasks.chain",
    "SingleLocation": "tasks.single_location",
    "Recall": "tasks.recall",
    "Toy": "tasks.toy",
    "Regression": "tasks.regression",
    "ConstructionSettings": "tasks.construction",
    "Settings": "tasks.run",
}
"""Class -> the module that it lives in."""


def near(hint: Any) -> st.SearchStrategy[Any]:
    """Values that could be meant for a setting of this type."""
    if get_origin(hint) is Literal:
        return st.sampled_from(get_args(hint))
    if get_origin(hint) is tuple:
        return st.lists(near(get_args(hint)[0]), max_size=4)
    if get_args(hint):
        return st.one_of(*map(near, get_args(hint)))
    plain = {bool: st.booleans(), int: st.integers(-2, 70), float: st.floats(-1, 3), type(None): st.none()}
    return plain.get(hint, values)


def arguments(kind: type) -> st.SearchStrategy[dict[str, Any]]:
    """Some settings of a record: sensible, nearly sensible or nonsense."""
    hints = get_type_hints(kind)
    each = {field.name: st.one_of(near(hints[field.name]), values) for field in fields(kind)}
    names = st.lists(st.sampled_from(sorted(each)), min_size=1, max_size=3, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: each[name] for name in chosen}))


@in_many_cases(10, 500)
@pytest.mark.parametrize("record", RECORDS)
def test_settings_are_made_or_refused_by_name(record, cases):
    settings = importlib.import_module("headway.settings")
    kinds = importlib.import_module("headway.store.kinds")
    records = importlib.import_module("headway.records")
    plain = importlib.import_module("headway.settings.plain")
    registry = importlib.import_module("headway.registry")
    kind = getattr(importlib.import_module(f"headway.{RECORDS[record]}"), record)
    names = [field.name for field in fields(kind)]

    def check(given):
        try:
            made = kind(**given)
        except settings.SettingsError as error:
            assert is_a_message(str(error)), error
            inner = [
                field.name
                for each in vars(kind()).values()
                if hasattr(each, "__dataclass_fields__")
                for field in fields(each)
            ]
            assert any(name in str(error) or name.rstrip("s") in str(error) for name in [*names, *inner]), error
            return
        told = json.loads(json.dumps(plain.plain(made), allow_nan=False))
        computed = hasattr(kind, "KIND")
        assert (registry.settings_of(made.KIND, told) if computed else plain.revive(kind, told)) == made
        if computed:
            cell = records.Cell(made, (0,))
            described = json.loads(json.dumps(cell.describe()))
            assert kinds.revive_cell(described) == cell
            assert plain.named_by(described) == cell.identity
            assert kinds.summary(cell).startswith("1 seeds; ")

    fuzz(cases, arguments(kind), check)
