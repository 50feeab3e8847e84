"""Options from the command line by tyro, and its unreadable messages in words of ours."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Sequence
from typing import Any

import tyro

from headway.cli import UserError
from headway.cli.option_help import REGISTRY, Screen, wrapped

WANTED = {"INT": "a whole number", "FLOAT": "a number", "PATH": "a path", "STR": "a word"}
"""What tyro calls a type -> what a reader calls it."""
UNION = re.compile(r"Error parsing (--\S+): no type matching (.+?) could be instantiated from \[(.+?)\]\.")
"""What tyro says of an option that may be left out, before it lists the classes that it tried."""
NUMBER = re.compile(
    r"Error parsing (--\S+): (?:(invalid literal for int)\(\) with base 10|could not convert string to float): ('.*?')"
)
"""What Python says of a word that is no number."""


def parse(options: Any, arguments: Sequence[str], **about: Any) -> Any:
    """What `tyro.cli` makes of the arguments."""
    shown, said = Screen(sys.stdout), io.StringIO()
    about |= {"config": (tyro.conf.PositionalMetavarFromFieldName,)}
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(said), REGISTRY:
            return tyro.cli(options, args=list(arguments), **about)
    except SystemExit as end:
        if end.code and (words := _in_words(_unframed(said.getvalue()))):
            raise UserError(words) from None
        sys.stdout.write(wrapped(shown.getvalue()) if shown.getvalue() else "")
        sys.stderr.write(said.getvalue())
        raise


def _unframed(panel: str) -> str:
    """The text of a panel in one line."""
    lines = (line.strip("│ ") for line in panel.splitlines())
    return re.sub(r"\s+", " ", " ".join(lines))


def _in_words(said: str) -> str | None:
    if found := UNION.search(said):
        option, types, values = found.groups()
        kinds = [WANTED.get(each, each) for each in types.split("|") if each != "{None}"]
        return f"{option} is {values}, but it must be {' or '.join(kinds)}."
    if found := NUMBER.search(said):
        option, whole, value = found.groups()
        return f"{option} is {value}, but it must be {WANTED['INT' if whole else 'FLOAT']}."
    return None
