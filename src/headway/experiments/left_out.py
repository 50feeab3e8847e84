"""A record that cannot be used is named once and left out; everything else goes on."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from headway.store import Record, StoreError
from headway.store.errors import MOVE
from headway.store.record import brief
from headway.store.texts import printable

Value = TypeVar("Value")
_named: set[Path] = set()
"""Records that this command has left out; it then ends with 2, when everything else is done."""


class Complaint(NamedTuple):
    """Words about records, and whether they are repeated for one that has been named."""

    paths: tuple[Path, ...]
    words: str
    again: bool = False


_kept_back: list[list[Complaint]] = []
"""Of a process that works for another one, which writes them on the screen."""


def tell(error: StoreError) -> None:
    """Name a record, the first time."""
    say(Complaint((error.path,), f"headway: {printable(str(error))} It is left out here.\n"))


def tell_of_figures(name: str, paths: Sequence[Path], error: Exception) -> None:
    """Figures need all of their runs at once, so that it is not known which of them does not fit."""
    among = ", ".join(printable(str(path)) for path in paths)
    words = f"headway: no figures of {name}: one of {among} does not fit ({_cause(error)}).\n"
    say(Complaint(tuple(paths), words, again=True))


def say(complaint: Complaint) -> None:
    """On the screen, or to whoever this process works for."""
    if _kept_back:
        _kept_back[-1].append(complaint)
    elif complaint.again or not _named.issuperset(complaint.paths):
        _named.update(complaint.paths)
        sys.stderr.write(complaint.words)


@contextmanager
def kept_back() -> Generator[list[Complaint]]:
    """While it lasts, nothing is written, and all complaints are in the list."""
    _kept_back.append([])
    try:
        yield _kept_back[-1]
    finally:
        _kept_back.pop()


def any_since_the_last_command() -> bool:
    """Whether a record was left out; asked once a command."""
    found = bool(_named)
    _named.clear()
    return found


def readable_runs(records: Mapping[str, Record]) -> dict[str, Record]:
    """The runs whose numbers are on the disk as they were written."""
    found = {}
    for name, record in records.items():
        try:
            record.trajectory  # noqa: B018 - reading it checks it
            found[name] = record
        except StoreError as error:
            tell(error)
    return found


def with_what_fits(
    act: Callable[[Mapping[Any, Record]], Value], records: Mapping[Any, Record]
) -> tuple[Value, dict[Any, Record]]:
    """What `act` makes of the runs, and the runs; those with which it fails are left out.

    A record with the right checksums can hold anything. Which one it is that does not fit is found by trying: the runs
    are added one after the other, and one that makes it fail stays away.
    """
    try:
        return act(records), dict(records)
    except Exception as error:
        if not records or isinstance(error, OSError):
            raise
        problem = error
    kept: dict[Any, Record] = {}
    for name, record in records.items():
        try:
            act({**kept, name: record})
            kept[name] = record
        except Exception as error:
            tell(unfit(record, error))
    if len(kept) == len(records):  # It fails now and then, or by the order: not a record's fault.
        raise problem
    return act(kept), kept


def unfit(record: Record, error: Exception) -> StoreError:
    """What kept a record from being used, and where in the source that was found."""
    if isinstance(error, StoreError):
        return error
    problem = f"its numbers are not those of a run with its settings ({_cause(error)})"
    return StoreError(record.path, problem, MOVE, "damaged")


def _cause(error: Exception) -> str:
    frames = [each for each in traceback.extract_tb(error.__traceback__) if "headway" in each.filename]
    where = f", {Path(frames[-1].filename).name} line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {brief(error)}{where}"
