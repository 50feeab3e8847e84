"""The pages that the code writes of itself: settings, commands, Python, analysis. `build.py` calls it."""

import ast
import dataclasses
import importlib
import inspect
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import headway
from headway import registry
from headway.settings import EvaluationSettings, ModelSettings, TrainingSettings

COMMANDS = ("", "run", "run stages", "watch", "list", "claims", "report", "predict", "export", "bench")
LIBRARIES = ("headway.tasks.task", "headway.records", "headway.store.record")
"""Public besides the names of `headway` itself."""


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.md").write_text(settings())
    (folder / "commands.md").write_text(commands())
    (folder / "python.md").write_text(python())
    (folder / "analysis.md").write_text(analysis())


class Setting(NamedTuple):
    name: str
    type: str
    default: str
    meaning: str


def settings() -> str:
    """Every field of every settings record: name on the command line, type, default, meaning."""
    parts = [
        "# Settings\n\nEvery setting can be changed on the command line (`headway run stages --task.ratio 1.3`), in "
        'Python (`settings.changed(task={"ratio": 1.3})`) and varied (`--vary task.ratio 1.2 1.5`). The defaults here '
        "are those of the records; a preset or a grid chooses its own, and `headway run EXPERIMENT --help` shows "
        "them.\n"
    ]
    for name, path in registry.TASKS.items():
        module, _, cls = path.partition(":")
        parts.append(_table(f"Task: {name}", "task", getattr(importlib.import_module(module), cls)))
    parts.append(_table("Model", "model", ModelSettings))
    parts.append(_table("Training", "training", TrainingSettings))
    parts.append(_table("Evaluation", "evaluation", EvaluationSettings))
    return "\n".join(parts)


def _table(title: str, prefix: str, cls: type) -> str:
    first = (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")
    rows = [
        f"| `{prefix}.{each.name}` | `{_cell(each.type)}` | `{_cell(each.default)}` | {_cell(each.meaning)} |"
        for each in _fields(cls)
    ]
    head = "| setting | type | default | meaning |\n|---|---|---|---|"
    return f"## {title}\n\n{first}\n\n{head}\n" + "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _fields(cls: type) -> list[Setting]:
    """The annotated fields of a dataclass with the docstrings below them, which Python itself forgets."""
    [body] = [node.body for node in ast.parse(textwrap.dedent(inspect.getsource(cls))).body]
    found = []
    for node, below in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or "ClassVar" in ast.unparse(node.annotation):
            continue
        text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
        meaning = re.sub(r"\s+", " ", str(text)).strip()
        found.append(Setting(node.target.id, ast.unparse(node.annotation), _default(node.value), meaning))
    return found


def _default(value: ast.expr | None) -> str:
    if isinstance(value, ast.Call):  # field(default=..., metadata=...)
        named = {each.arg: ast.unparse(each.value) for each in value.keywords}
        return named.get("default", named.get("default_factory", "..."))
    return "required" if value is None else ast.unparse(value)


def commands() -> str:
    """What every command says of itself."""
    parts = ["# Command line\n\n`./run COMMAND` in a checkout, `headway COMMAND` after `pip install .`.\n"]
    for command in COMMANDS:
        called = [sys.executable, "-P", "-m", "headway", *command.split(), "--help"]
        surroundings = os.environ | {"COLUMNS": "110", "NO_COLOR": "1", "TERM": "dumb"}
        told = subprocess.run(called, capture_output=True, text=True, check=True, env=surroundings).stdout
        parts.append(f"## `{f'headway {command}'.strip()}`\n\n````text\n{told.strip()}\n````\n")
    return "\n".join(parts)


def python() -> str:
    """Every public name where its docstring lies; mkdocstrings reads it from the source. Functions come first."""
    public = {name: getattr(headway, name) for name in headway.__all__}
    homes = {name: value for name, value in public.items() if not inspect.ismodule(value)}
    functions = [name for name, value in homes.items() if inspect.isfunction(value)]
    settings = [name for name, value in homes.items() if name not in functions and _is_settings(value)]
    others = [name for name in homes if name not in functions and name not in settings]
    parts = [
        "# Python\n\n`import headway` gives the names below. Libraries are loaded when a name is first used, so the "
        "import itself is quick. For stages, heads, laws and intervals of any arrays see [analysis](analysis.md).\n",
        *(_entry(homes[name]) for name in functions),
        *(_entry(homes[name]) for name in others),
        "## Settings records\n\nTheir fields are on the page of [settings](settings.md).\n",
        *(_entry(homes[name], members=False) for name in settings),
        *(f"::: {library}\n" for library in LIBRARIES),
    ]
    return "\n".join(parts)


def analysis() -> str:
    """The public analysis: NumPy in, NumPy out, nothing of Headway needed."""
    from headway import analysis

    names = [getattr(analysis, name) for name in sorted(analysis.__all__)]
    return "\n".join(["# Analysis\n\n" + inspect.getdoc(analysis) + "\n", *map(_entry, filter(_has_home, names))])


def _has_home(value: object) -> bool:
    return inspect.isfunction(value) or inspect.isclass(value)


def _is_settings(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not value.__module__.startswith(
        ("headway.claims", "headway.experiments")
    )


def _entry(value: Any, members: bool = True) -> str:
    shown = "" if members else "\n    options:\n      members: false"
    return f"::: {value.__module__}.{value.__qualname__}{shown}\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
