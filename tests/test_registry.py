"""What a kind of run is called is known in one place: nothing else branches on it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import headway
from headway import registry
from headway.experiments import NAMES

ROOT = Path(str(headway.__file__)).parent
KINDS = {*registry.TASKS, *registry.COMPUTED, *registry.MEASURED}
CLASSES = (
    {place.partition(":")[2] for place in registry.TASKS.values()}
    | {place.partition(":")[2] for place in registry.MEASURED.values()}
    | {kind.settings.partition(":")[2] for kind in registry.COMPUTED.values()}
)
WORDS = KINDS - {*NAMES, "toy"}
"""Names that mean nothing else: an experiment may be called as a kind, and a forecast is asked of "toy" or "recall"."""
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "registry.py")


def strings(node: ast.AST) -> set[str]:
    return {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)}


def is_kind(node: ast.AST) -> bool:
    """cell.kind, settings.KIND, or getattr(settings, "KIND", ...)."""
    if isinstance(node, ast.Attribute):
        return node.attr in ("kind", "KIND")
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr"
    return called and {"kind", "KIND"} & strings(node) != set()  # ty: ignore[possibly-missing-attribute]


def branches(tree: ast.AST) -> Iterator[int]:
    """Lines that ask what kind a run is by its name or its class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            words = set().union(*map(strings, sides))
            if (any(map(is_kind, sides)) and words & KINDS) or words & WORDS:
                yield node.lineno
        if isinstance(node, ast.Subscript) and is_kind(node.slice) and isinstance(node.value, ast.Dict):
            yield node.lineno
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
        if named and {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)} & CLASSES:  # ty: ignore[unresolved-attribute]
            yield node.lineno


@pytest.mark.parametrize(
    "line",
    [
        'cell.kind == "flow"',
        'getattr(settings, "KIND", "") != "toy"',
        'record.cell.kind in ("markov", "recall")',
        'name == "single-location"',
        '{"markov": 1, "toy": 2}[cell.kind]',
        "isinstance(settings.task, Chain)",
        "isinstance(settings, (FlowSettings, ToyFlowSettings))",
    ],
)
def test_the_test_sees_a_branch(line):
    assert list(branches(ast.parse(line))) == [1]


def test_nothing_but_the_registry_knows_kinds_by_name():
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in FILES
        for line in branches(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_a_users_task_cannot_take_the_name_of_one_of_ours():
    class Flow: ...

    for name in ("flow", "markov"):
        with pytest.raises(ValueError, match=f"is called '{name}', which is a task of Headway. Give it another NAME"):
            registry.add(Flow, name)
