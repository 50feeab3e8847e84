"""What a part of the benchmark measured <-> one JSON file, whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.bench import PARTS
from benchmarks.bench.forms import FORMS
from headway.store import files

VERSION = 1


class BenchError(Exception):
    """Something that keeps the benchmark from being made or read: what was found, and what to do."""


@dataclass(frozen=True)
class BenchRecord:
    """One part for one case on one machine; `measured` holds every single time, so that nothing is lost in a mean."""

    part: str
    case: str
    scale: str
    """paper, or quick: shapes so small that their times say nothing about training."""
    platform: str
    """cpu or gpu."""
    command: str
    """What makes this record again."""
    settings: Mapping[str, Any]
    machine: Mapping[str, Any]
    measured: Mapping[str, Any]

    @property
    def name(self) -> str:
        return name_of(self.part, self.case, self.scale, self.platform)


def name_of(part: str, case: str, scale: str, platform: str) -> str:
    """A record's name, which is its file's without the suffix."""
    return f"{part}-{case}-{scale}-{platform}"


def write(record: BenchRecord, folder: Path) -> Path:
    """Put the record into `folder`, in place of an older one of the same name."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record.name}.json"
    files.write(path, files.seal({"version": VERSION, **asdict(record)}))
    files.settle(folder)
    return path


def read(path: Path) -> BenchRecord:
    """The record in a file; a file that is something else, or that somebody edited, is an error."""
    try:
        content = files.unseal(files.parse(files.read(path)))
        if content.pop("version", None) != VERSION:
            raise ValueError("another version of Headway wrote it")
        return BenchRecord(**content)
    except (ValueError, TypeError) as error:
        raise BenchError(f"{path} cannot be read: {error}. Remove it, and measure that part again.") from error


def read_all(folder: Path) -> list[BenchRecord]:
    """Every record of a folder: the parts in their order, paper scale before quick."""
    if not folder.is_dir():
        raise BenchError(f"there is no folder {folder}. `headway bench --into {folder}` measures into it.")
    paths = [path for part in PARTS for path in sorted(folder.glob(f"{part}-*.json"))]
    return sorted(map(read, paths), key=_place)


def _place(record: BenchRecord) -> tuple[str, str, int, int, str]:
    cases = ("minimal", "full", "full-dropout", *FORMS)
    case = cases.index(record.case) if record.case in cases else len(cases)
    return record.platform, record.scale, PARTS.index(record.part), case, record.case
