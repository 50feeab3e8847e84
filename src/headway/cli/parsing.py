"""Options from the command line by tyro, and its one unreadable message in words of ours."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Sequence
from typing import Any

import tyro

from headway.cli import UserError

WANTED = {"INT": "a whole number", "FLOAT": "a number", "PATH": "a path", "STR": "a word"}
"""What tyro calls a type -> what a reader calls it."""
UNION = re.compile(r"Error parsing (--\S+): no type matching (.+?) could be instantiated from \[(.+?)\]\.")
"""What tyro says of an option that may be left out, before it lists the classes that it tried."""


def parse(options: Any, arguments: Sequence[str], **about: Any) -> Any:
    """What `tyro.cli` makes of the arguments."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(options, args=list(arguments), **about)
    except SystemExit as end:
        if end.code and (found := UNION.search(_unframed(said.getvalue()))):
            raise UserError(_in_words(*found.groups())) from None
        sys.stderr.write(said.getvalue())
        raise


def _unframed(panel: str) -> str:
    """The text of a panel in one line."""
    lines = (line.strip("│ ") for line in panel.splitlines())
    return re.sub(r"\s+", " ", " ".join(lines))


def _in_words(option: str, types: str, values: str) -> str:
    kinds = [WANTED.get(each, each) for each in types.split("|") if each != "{None}"]
    return f"{option} is {values}, but it must be {' or '.join(kinds)}."
