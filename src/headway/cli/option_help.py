"""How options are presented by `--help`: INT instead of {None}|INT, and a default only where there is one.

tyro decides what an option accepts; the rules here ask it, and change only the words that a reader sees.
"""

from __future__ import annotations

import io
import re
import shutil
import textwrap
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from types import NoneType, UnionType
from typing import Annotated, Any, TextIO, Union, get_args, get_origin

import tyro
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, StructConstructorSpec

REGISTRY = ConstructorRegistry()
EMPTY = ("", "''", "None")
"""Defaults as tyro writes them where there is none."""
SAID = re.compile("if not given|by default", re.IGNORECASE)
"""In a help text that says what happens without the option."""
PROSE = re.compile(r"(?!usage:)[A-Za-z]")
BLANK = re.compile(r"(\x1b\[[0-9;]*m)*│(\x1b\[[0-9;]*m| )*│(\x1b\[[0-9;]*m)*")
WIDEST = 100
"""Columns of prose, on wider terminals too."""


class Screen(io.StringIO):
    """What is written for a screen, kept back; asked for colours and letters, it answers as that screen does."""

    def __init__(self, behind: TextIO) -> None:
        super().__init__()
        self.behind = behind

    @property
    def encoding(self) -> str:  # ty: ignore[incompatible-property-override]
        return self.behind.encoding or "ascii"

    def isatty(self) -> bool:
        return self.behind.isatty()


def wrapped(help_text: str) -> str:
    """The same with prose broken at the width of the terminal; frames, examples and lists stay as they are."""
    wide = min(shutil.get_terminal_size().columns, WIDEST)
    # An empty line in a frame is what tyro makes of a default without words.
    lines = (line for line in help_text.splitlines() if not BLANK.fullmatch(line))
    text = "\n".join(textwrap.fill(line, wide) if PROSE.match(line) else line for line in lines)
    return re.sub(r"\n{3,}", "\n\n", text) + "\n"


@contextmanager
def _aside(rule: str) -> Generator[bool]:
    """Whether a rule is free to answer: it asks tyro, which asks it again."""
    free = rule not in _asking
    _asking.add(rule)
    try:
        yield free
    finally:
        if free:
            _asking.discard(rule)


_asking: set[str] = set()


@REGISTRY.primitive_rule
def _shown_types(info: tyro.constructors.PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """int | None is shown as INT, and tuple[int, ...] as INT ...."""
    kinds = get_args(info.type)
    may_lack = get_origin(info.type) in (Union, UnionType) and NoneType in kinds
    many = get_origin(info.type) is tuple and len(kinds) == 2 and kinds[1] is Ellipsis
    if not (may_lack or many):
        return None
    with _aside(f"{info.type}") as free:
        spec = ConstructorRegistry.get_primitive_spec(info) if free else None
        if not isinstance(spec, PrimitiveConstructorSpec):
            return None
        if many:
            return replace(spec, metavar=re.sub(r"^\[(.*?) \[.*\.\.\.\]\]$", r"\1 ...", spec.metavar))
        inner = (each for each in kinds if each is not NoneType)
        words = [_metavar(each, info) for each in inner]
        return replace(spec, metavar="|".join(words)) if all(words) else None


def _metavar(kind: Any, info: tyro.constructors.PrimitiveTypeInfo) -> str:
    spec = ConstructorRegistry.get_primitive_spec(tyro.constructors.PrimitiveTypeInfo.make(kind, set(info.markers)))
    return spec.metavar if isinstance(spec, PrimitiveConstructorSpec) else ""


@REGISTRY.struct_rule
def _shown_fields(info: tyro.constructors.StructTypeInfo) -> StructConstructorSpec | None:
    """Every field of a record, with its help in whole paragraphs and its default in words."""
    if not is_dataclass(get_origin(info.type) or info.type):
        return None
    with _aside(f"{info.type}") as free:
        spec = ConstructorRegistry.get_struct_spec(info) if free else None
    if not isinstance(spec, StructConstructorSpec):
        return None
    return replace(spec, fields=tuple(_shown_field(each) for each in spec.fields))


def _shown_field(field: tyro.constructors.StructFieldSpec) -> tyro.constructors.StructFieldSpec:
    def text() -> str | None:
        found = field.helptext if isinstance(field.helptext, str | None) else field.helptext()
        return joined(found) if found else None

    if tyro.conf.UseAppendAction in getattr(field.type, "__metadata__", ()):
        return replace(field, helptext=text)
    missing = field.default in (tyro.MISSING, tyro.constructors.MISSING_NONPROP)
    words = "(required)" if missing else default_in_words(text, field.type)
    kind: Any = field.type
    return replace(field, helptext=text, type=Annotated[kind, tyro.conf.arg(help_behavior_hint=words)])


def presenting(record: type, hidden: Collection[str], required: Collection[str]) -> ConstructorRegistry:
    """Rules by which help leaves out some fields of a record, and calls others required."""
    registry = ConstructorRegistry()
    must = tyro.conf.arg(help_behavior_hint="(required)")

    def presented(field: tyro.constructors.StructFieldSpec) -> tyro.constructors.StructFieldSpec:
        kind: Any = field.type
        if field.name in hidden:
            return replace(field, type=tyro.conf.Suppress[kind])
        return replace(field, type=Annotated[kind, must]) if field.name in required else field

    @registry.struct_rule
    def shown(info: tyro.constructors.StructTypeInfo) -> StructConstructorSpec | None:
        if info.type is not record:
            return None
        with _aside("presenting") as free:
            spec = ConstructorRegistry.get_struct_spec(info) if free else None
        if not isinstance(spec, StructConstructorSpec):
            return None
        return replace(spec, fields=tuple(map(presented, spec.fields)))

    return registry


def joined(text: str) -> str:
    """Lines of one sentence as one line; what begins after the end of a sentence stays apart."""
    return re.sub(r"(?<![.\n]) *\n(?!\n) *", " ", text)


def default_in_words(text: Callable[[], str | None], kind: Any) -> Callable[[str], str]:
    """What follows an option's help: its default, or nothing if the help says what happens without it."""

    def hint(default: str) -> str:
        if default in EMPTY:
            return "" if SAID.search(text() or "") else "(default: not set)"
        inner = get_args(kind)[0] if get_origin(kind) is Annotated else kind
        unset = "; None: not set" if NoneType in get_args(inner) else ""
        return f"(default: {default}{unset})"

    return hint
