"""Settings as a user has them."""

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

import optax  # noqa: F401 - where it is loaded, names of optimisers are checked
import pytest

import headway

OURS = ("headway.settings", "headway.tasks", "headway.records", "headway.training.optimiser_names")
HOMES = ("settings", "tasks.chain", "tasks.construction", "tasks.recall", "tasks.single_location", "tasks.run")


@pytest.fixture(scope="module")
def unchecked() -> Iterator[ModuleType]:
    """The settings as a user has them: without the run-time type checks that the tests put on everything."""
    importlib.import_module("optax")  # Where it is loaded, optimisers are known by name.
    for name in HOMES:
        importlib.import_module(f"headway.{name}")
    checked = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(OURS)}
    finders = sys.meta_path[:]
    sys.meta_path[:] = [finder for finder in finders if not type(finder).__module__.startswith("jaxtyping")]
    every = ModuleType("unchecked")
    try:
        for name in HOMES:
            module = importlib.import_module(f"headway.{name}")
            vars(every).update({key: value for key, value in vars(module).items() if not key.startswith("_")})
        yield every  # what is imported late is unchecked, too
    finally:
        sys.meta_path[:] = finders
        for name in [name for name in sys.modules if name.startswith(OURS)]:
            del sys.modules[name]
        sys.modules.update(checked)
        for name in ("settings", "tasks", "records"):
            setattr(headway, name, checked[f"headway.{name}"])
