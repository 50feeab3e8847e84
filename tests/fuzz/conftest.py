"""Headway as users have it: without the run-time type checks that the tests put on everything."""

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest


@pytest.fixture(scope="module", autouse=True)
def as_users_have_it() -> Iterator[None]:
    """While a file's tests last, `headway` is another, unchecked copy: take it by `importlib.import_module`."""

    def ours() -> dict[str, ModuleType]:
        return {name: each for name, each in sys.modules.items() if name.split(".")[0] in ("headway", "benchmarks")}

    checked, finders = ours(), sys.meta_path[:]
    for name in checked:
        del sys.modules[name]
    sys.meta_path[:] = [finder for finder in finders if not type(finder).__module__.startswith("jaxtyping")]
    importlib.import_module("headway")
    try:
        yield
    finally:
        for name in ours():
            del sys.modules[name]
        sys.modules.update(checked)
        sys.meta_path[:] = finders
