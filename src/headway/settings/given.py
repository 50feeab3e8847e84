"""Parts of a model or a training that are given as functions: what stands for them in settings and on disk.

A setting is a word or, in Python, a function. A record cannot hold a function, and reading one must never run code: it
holds a name and a digest of the source that the function depends on. Two functions of one name whose sources differ
are two settings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headway.settings.checks import SettingsError


@dataclass(frozen=True)
class Given:
    """A function by its name and the digest of what it does."""

    name: str
    digest: str

    def __str__(self) -> str:
        return self.name

    @property
    def value(self) -> Any:
        """The function itself, where this process knows it; else None."""
        return _known.get(self)

    def use(self) -> Any:
        """The function; an error where it is known from a record only."""
        found = self.value
        if found is None:
            raise SettingsError(
                f"the run uses {self.name!r}, a custom function, and only its name and digest are stored. Load the "
                "file that defines it, as in `headway run FILE.py`."
            )
        return found


Part = str | Given | Callable[..., Any] | tuple[Any, ...]
"""What a setting may be given as: a word, a function or a bundle of functions; it holds a word or a `Given`."""

_known: dict[Given, Any] = {}
"""What was given in this process: a cell that comes back from disk finds it here."""


def given(value: Any) -> Any:
    """Words stay what they are; a function, or a bundle of functions, is wrapped and remembered."""
    if isinstance(value, Given):
        return value
    functions = callable(value) or (isinstance(value, tuple) and any(map(callable, value)))
    if not functions:
        return value
    from headway.settings.source import digest_of, name_of

    made = Given(name_of(value), digest_of(value))
    _known[made] = value
    return made
