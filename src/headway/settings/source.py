"""What a function or a class of a user's does, as a digest: of its source and of all that the source refers to.

Comments and layout do not count, so that a run keeps its name when they change; numbers, names and code do. Libraries
count by their names alone: a record says which versions made it.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import hashlib
import inspect
import sys
import sysconfig
import textwrap
from collections.abc import Iterator
from typing import Any

from headway.settings.checks import SettingsError

PLAIN = (bool, int, float, complex, str, bytes, type(None))


def name_of(value: Any) -> str:
    """What a person would call it."""
    inner = value.func if isinstance(value, functools.partial) else value
    if isinstance(inner, tuple) and not hasattr(inner, "__name__"):
        first = next((each for each in inner if callable(each)), None)
        return type(inner).__name__ if first is None or _is_library(first) else name_of(first)
    name = getattr(inner, "__qualname__", type(inner).__name__)
    return name.replace("<locals>.", "").replace("<lambda>", "function")


def digest_of(value: Any) -> str:
    """Sixteen letters that two values share exactly if they do the same, as far as sources show."""
    found: dict[str, str] = {}
    itself = _walk(value, found, set())
    text = "\n".join([itself, *(f"{key} = {found[key]}" for key in sorted(found))])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _walk(value: Any, found: dict[str, str], seen: set[int]) -> str:
    """A text for the value; what it refers to is added to `found`."""
    if isinstance(value, PLAIN):
        return repr(value)
    if inspect.ismodule(value):
        return _module(value, found)
    if id(value) in seen:
        return _title(value)
    seen.add(id(value))
    if isinstance(value, functools.partial):
        return f"partial({_walk((value.func, value.args, value.keywords), found, seen)})"
    if isinstance(value, (tuple, list, set, frozenset)):
        parts = [_walk(each, found, seen) for each in value]
        return f"{type(value).__name__}({', '.join(sorted(parts) if isinstance(value, (set, frozenset)) else parts)})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_walk(each, found, seen)}" for key, each in value.items()) + "}"
    if hasattr(value, "dtype") and hasattr(value, "tobytes"):
        return f"{value.dtype}{value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if inspect.isclass(value) or inspect.isfunction(value) or inspect.ismethod(value):
        return _code(value, found, seen)
    if hasattr(value, "__dict__") and not _is_library(type(value)):
        return f"{_walk(type(value), found, seen)} {_walk(vars(value), found, seen)}"
    return _title(type(value))


def _title(value: Any) -> str:
    """A user's own code by its name alone: where its file lies, and how it was imported, does not count."""
    name = getattr(value, "__qualname__", type(value).__name__)
    return f"{getattr(value, '__module__', '')}.{name}" if _is_library(value) else name


def _code(value: Any, found: dict[str, str], seen: set[int]) -> str:
    function = value.__func__ if inspect.ismethod(value) else value
    title = _title(function)
    if _is_library(function):
        # A library's closure, such as an optimiser's update, is what its variables make of it.
        cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or () if _is_filled(cell)]
        return f"{title}({', '.join(_walk(cell, found, seen) for cell in cells)})"
    found[title] = normal_source(function)
    for name, referred in _referred(function):
        found[f"{title}:{name}"] = _walk(referred, found, seen)
    return title


def normal_source(value: Any) -> str:
    """Source without comments, layout and docstrings."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(value)))
    except (OSError, TypeError):
        raise SettingsError(
            f"the source of {_title(value)} cannot be found, so a run with it cannot be identified. Put it into a "
            "file or a notebook cell."
        ) from None
    except SyntaxError:  # a lambda in the middle of an expression
        return inspect.getsource(value).strip()
    documented = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _referred(value: Any) -> Iterator[tuple[str, Any]]:
    """Names that the source uses, of its closure and of its module, with their values."""
    for function in _functions(value):
        names = _names(function.__code__)
        closure = inspect.getclosurevars(function)
        for name in sorted(names):
            if name in closure.nonlocals:
                yield name, closure.nonlocals[name]
            elif name in function.__globals__:
                yield name, function.__globals__[name]
    if inspect.isclass(value):
        for base in value.__bases__:
            yield f"base {base.__name__}", base


def _functions(value: Any) -> Iterator[Any]:
    if inspect.isfunction(value):
        yield value
        return
    for each in vars(value).values():
        inner = each.fget if isinstance(each, property) else getattr(each, "__func__", each)
        if inspect.isfunction(inner) and not _is_library(inner):
            yield inner


def _names(code: Any) -> set[str]:
    """Global and closed-over names of a function and of the functions in it."""
    found = {*code.co_names, *code.co_freevars}
    for constant in code.co_consts:
        if inspect.iscode(constant):
            found |= _names(constant)
    return found


def _module(module: Any, found: dict[str, str]) -> str:
    """A library by its name; a file of the user's by its source."""
    name = module.__name__.rpartition(".")[2]
    if not _is_library(module):
        found[name] = normal_source(module)
    return module.__name__ if _is_library(module) else name


def _is_library(value: Any) -> bool:
    """Whether it comes with Python, with an installed package or with Headway, not from the user's own files."""
    code = getattr(value, "__code__", None)
    # What a dataclass writes by itself follows from its fields, which are in the class's source.
    if code is not None and (code.co_filename == "<string>" or code.co_filename == dataclasses.__file__):
        return True
    name = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
    if name is None or name == "builtins" or name.partition(".")[0] == "headway":
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        return name != "__main__" and name.partition(".")[0] in sys.stdlib_module_names
    roots = {sysconfig.get_paths()[place] for place in ("stdlib", "platstdlib", "purelib", "platlib")}
    return any(str(file).startswith(root) for root in roots) or "site-packages" in str(file)


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - raises where there is none
    except ValueError:
        return False
    return True
