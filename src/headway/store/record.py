"""A whole record: its folder on disk, and how it is read back."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from headway import registry
from headway.records import Cell, Trajectory, shortened
from headway.settings.plain import canonical, named_by
from headway.store import arrays, files
from headway.store.coarse import is_known, widen
from headway.store.errors import MOVE, NAME_ONE, OTHER, StoreError
from headway.store.files import Stamp
from headway.store.kinds import IDENTITY, checked_identity, revive_cell, summary

FORMAT = "headway record"
VERSION = 1
RECORD = "record.json"
TRAJECTORY = "trajectory.safetensors"
WEIGHTS = "weights.safetensors"
STATE = "state.safetensors"
KEPT = re.compile(r"weights-(\d{8,12})\.safetensors")
"""Models of earlier steps."""
SEEDS = "seeds"
"""Name of the array that says whose models such a file holds, in the order of its rows."""
MOST_LETTERS = 300
ASK = (
    'Train the same settings into another folder with --keep-weights 12, or keep_weights=12 in Python (or "stages", '
    '"all"): the numbers will be the same. A small copy (--keep) has no weights.'
)


@dataclass(frozen=True, repr=False)
class Record:
    """A computed cell. The arrays are read from the disk, and checked, when they are first wanted."""

    path: Path
    identity: str
    cell: Cell
    provenance: Mapping[str, Any]
    clock_of: Mapping[str, str]
    reduced: Mapping[str, Any]
    """What a small copy keeps in fewer bits or leaves out; empty for a record as it was made."""
    files: Mapping[str, Stamp]

    @cached_property
    def trajectory(self) -> Trajectory:
        data = self._read(TRAJECTORY)
        coarse = self.reduced.get("arrays", {})
        try:
            stored = arrays.decode_trajectory(data, self.cell.seeds, self.clock_of)
            widened = {name: widen(stored[name], coarse[name]) for name in coarse}
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise StoreError(self.path, f"{TRAJECTORY} is damaged: {brief(error)}", MOVE, "damaged") from error
        return dataclasses.replace(stored, arrays={**stored.arrays, **widened})

    @property
    def has_weights(self) -> bool:
        return WEIGHTS in self.files

    @property
    def has_state(self) -> bool:
        """Whether training can go on from its last step."""
        return STATE in self.files

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """Steps of which models were kept besides the last; of which seeds, `steps(seed)` says."""
        return tuple(sorted(int(found[1]) for found in map(KEPT.fullmatch, self.files) if found))

    def weights(self, step: int | None = None) -> dict[str, np.ndarray]:
        """Weights by name, (seed, ...): the last ones, or those of a kept step with the array `seeds` beside them."""
        if step is not None:
            if step not in self.kept:
                there = f"those of the steps {', '.join(map(str, self.kept))} were" if self.kept else "none were"
                raise StoreError(self.path, f"the weights of step {step} were not kept; {there}", ASK, "missing")
            return self._arrays(kept_name(step))
        if not self.has_weights:
            raise StoreError(self.path, "the weights were not kept", ASK, "missing")
        return self._arrays(WEIGHTS)

    def state(self) -> dict[str, np.ndarray]:
        """All that is needed to train on from the last step, as a checkpoint has it."""
        if not self.has_state:
            raise StoreError(self.path, "the state of its training was not kept", ASK, "missing")
        return self._arrays(STATE)

    def steps(self, seed: int | None = None) -> tuple[int, ...]:
        """The steps at which `model` has a model of this seed, the first one's if not given; the last comes last."""
        return registry.of_record("steps")(self, seed)

    def model(self, seed: int | None = None, step: int | None = None) -> Any:
        """The model of a seed, at a kept step, or the last: callable on tokens, or on whatever its task's inputs are.

        seen = record.model(0)(tokens)
        seen.logits, seen.attention, seen.contributions
        """
        return registry.of_record("model")(self, seed, step)

    def at(self, stage: int, seed: int | None = None) -> Any:
        """A stage of a seed: `.step`, the minimum of KL to its rung, `.boundary`, when it began, and `.model`."""
        return registry.of_record("at")(self, stage, seed)

    def to_frame(self, quantities: Sequence[str] | None = None, library: str | None = None) -> Any:
        """The numbers as one long table of pandas, or of polars where pandas is not installed; see `headway.export`."""
        return registry.of_record("to_frame")(self, quantities, library)

    def verify(self) -> None:
        """Read everything; a StoreError if a single bit differs from what was written."""
        self.trajectory  # noqa: B018 - reading it checks it
        for name in self.files:
            if name != TRAJECTORY:
                self._arrays(name)

    def __repr__(self) -> str:
        models = [f"models of {len(self.kept)} earlier steps"] if self.kept else []
        models = (["the last model"] if self.has_weights else ["no models"]) + models
        models += ["the state to train on from"] if self.has_state else []
        lines = [
            f"Record {self.identity} in {self.path.parent}",
            f"  {summary(self.cell)}",
            f"  arrays: {', '.join(sorted(self.clock_of))}",
            f"  keeps {', '.join(models)}",
        ]
        return shortened(lines)

    def _arrays(self, name: str) -> dict[str, np.ndarray]:
        data = self._read(name)
        try:
            return arrays.decode(data)
        except ValueError as error:
            raise StoreError(self.path, f"{name} is damaged: {error}", MOVE, "damaged") from error

    def _read(self, name: str) -> bytes:
        try:
            return files.read_stamped(self.path / name, self.files[name])
        except (OSError, ValueError) as error:
            raise StoreError(self.path, f"the record is damaged: {error}", MOVE, "damaged") from error


def kept_name(step: int) -> str:
    """The file with the models of a step."""
    return f"weights-{step:08}.safetensors"


def load(path: str | os.PathLike[str]) -> Record:
    """The record in a folder: `load("runs/markov-0123456789abcdef").trajectory["excess_loss"]`."""
    folder = Path(path)
    if folder.exists() and not (folder / RECORD).exists():
        if folder.suffix == ".partial":
            raise StoreError(folder, "this cell is unfinished", "Start its run again to finish it.", "missing")
        if any(folder.glob(f"*/{RECORD}")):
            raise StoreError(folder, "this is a folder of records", "Name one of those in it.", "foreign")
        if not IDENTITY.fullmatch(folder.name):  # under a cell's name, it is in the way of that cell
            raise StoreError(folder, f"not a Headway record: it has no {RECORD}", NAME_ONE, "foreign")
    return read_record(folder)


def read_record(folder: Path) -> Record:
    """Check a folder's `record.json` and that its files are there in full length; read no array yet."""
    content = _content(folder)
    try:
        known = {"cell": canonical(content["cell"])} if "cell" in content else {}
        content = files.unseal(content, known)
        record = Record(
            path=folder,
            identity=content["identity"],
            cell=_cell(folder, content, known["cell"]),
            provenance=content["provenance"],
            clock_of=content["clock_of"],
            reduced=content["reduced"],
            files=content["files"],
        )
        _require_tables(record)
        _require_files(folder, record.files)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise StoreError(folder, f"{RECORD} is damaged: {brief(error)}", MOVE, "damaged") from error
    return record


def glance(root: Path, identity: str) -> Mapping[str, Any]:
    """What `root/identity` says that its cell is; in half of the time of `read_named`.

    It must be a record of our format under the name of its settings, with all files in full length. Whether its other
    content fits its checksum, and whether its settings can be used, is not looked at.
    """
    folder = root / identity
    content = _content(folder)
    try:
        if content["identity"] != identity:
            raise StoreError(folder, f"this is the record of another cell, {content['identity']}", MOVE, "foreign")
        cell = content["cell"]
        if not isinstance(cell, dict):
            raise ValueError("its cell is not a set of named values")
        _require_named(cell, canonical(cell), identity)
        if not isinstance(cell["settings"], dict):
            raise ValueError("its settings are not a set of named values")
        _require_files(folder, content["files"])
        return cell
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise StoreError(folder, f"{RECORD} is damaged: {brief(error)}", MOVE, "damaged") from error


def _content(folder: Path) -> dict[str, Any]:
    """What `record.json` says, if it is one of our format and version; its seal is not yet checked."""
    try:
        content = files.parse(files.read(folder / RECORD, files.MOST_JSON))
    except (FileNotFoundError, NotADirectoryError) as error:
        if not folder.exists():
            remedy = "Check the name; `headway list` shows what is stored."
            raise StoreError(folder, "there is no such folder", remedy, "missing") from error
        raise StoreError(folder, f"not a Headway record: it has no {RECORD}", MOVE, "foreign") from error
    except (OSError, ValueError) as error:
        raise StoreError(folder, f"{RECORD} is damaged: {brief(error)}", MOVE, "damaged") from error
    _require_our_format(folder, content)
    return content


def brief(words: object) -> str:
    """An error as part of a sentence: one line, and not the whole of what a broken file holds."""
    text = " ".join(str(words).split())
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 60]} ... {text[-50:]}"


def write_record(
    folder: Path,
    cell: Cell,
    trajectory: Trajectory,
    provenance: Mapping[str, Any],
    weights: Mapping[str, np.ndarray] | None = None,
    reduced: Mapping[str, Any] | None = None,
    more: Mapping[str, Callable[[], bytes]] | None = None,
) -> None:
    """Fill the new folder `folder`, `record.json` last, and force everything to the disk.

    `more` are kept models and the state, made one after the other: all of them at once may be large.
    """
    contents: dict[str, Callable[[], bytes]] = {TRAJECTORY: lambda: arrays.encode_trajectory(trajectory)}
    if weights is not None:
        contents[WEIGHTS] = lambda: arrays.encode(weights)
    contents |= more or {}
    folder.mkdir()
    content = {
        "format": FORMAT,
        "version": VERSION,
        "identity": checked_identity(cell),
        "cell": cell.describe(),
        "clock_of": dict(trajectory.clock_of),
        "files": {name: files.write(folder / name, data()) for name, data in contents.items()},
        "reduced": dict(reduced or {}),
        "provenance": dict(provenance),
    }
    files.write(folder / RECORD, files.seal(content))
    files.settle(folder)


def _require_our_format(folder: Path, content: Mapping[str, Any]) -> None:
    if content.get("format") != FORMAT:
        raise StoreError(folder, f"not a Headway record, though it has a {RECORD}", MOVE, "foreign")
    version = content.get("version")
    if version != VERSION:
        problem = f"the record has format version {brief(repr(version))}, and this Headway reads version {VERSION}"
        raise StoreError(folder, problem, OTHER, "foreign")


def _cell(folder: Path, content: Mapping[str, Any], text: str) -> Cell:
    try:
        cell = revive_cell(content["cell"])
    except ValueError as error:
        raise StoreError(folder, f"its settings cannot be read: {brief(error)}", OTHER, "foreign") from error
    _require_named(content["cell"], text, content["identity"])
    return cell


def _require_named(description: Mapping[str, Any], text: str, identity: str) -> None:
    named = named_by(description, text)
    if named != identity:
        raise ValueError(f"its settings have the identity {named}, but it says {identity}")


def _require_tables(record: Record) -> None:
    """What is looked into later must be what it is taken for, whoever wrote it."""
    for name in ("provenance", "clock_of", "reduced", "files"):
        if not isinstance(getattr(record, name), dict):
            raise ValueError(f"its {name} is not a set of named values")
    if not all(isinstance(clock, str) for clock in record.clock_of.values()):
        raise ValueError("its clock_of does not name clocks")
    for name in ("provenance", "reduced"):
        files.require_shallow(getattr(record, name))
    coarse = record.reduced.get("arrays", {})
    if not isinstance(coarse, dict) or not all(map(is_known, coarse.values())):
        raise ValueError("its arrays were reduced in a way that this version of Headway does not know")


def _require_files(folder: Path, named: Mapping[str, Stamp]) -> None:
    known = {TRAJECTORY, WEIGHTS, STATE}
    if TRAJECTORY not in named or not all(name in known or KEPT.fullmatch(name) for name in named):
        raise ValueError(f"it names the files {sorted(named)}")
    for name, stamp in named.items():
        if type(stamp["bytes"]) is not int or type(stamp["sha256"]) is not str:
            raise ValueError(f"what it says of {name} is no size and checksum")
        try:
            size = os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118 - many are listed; a Path takes longer
        except FileNotFoundError:
            raise ValueError(f"{name} is missing") from None
        if size != stamp["bytes"]:
            raise ValueError(f"{name} has {size} bytes where {stamp['bytes']} were written")


def read_named(root: Path, identity: str) -> Record:
    """The record `root/identity`, which must be that cell's and lie there itself, not behind a link."""
    folder = root / identity
    if folder.is_symlink():
        raise StoreError(folder, "this is a link, and the store keeps real folders", MOVE, "foreign")
    record = read_record(folder)
    if record.identity != identity:
        problem = f"this is the record of another cell, {record.identity}"
        raise StoreError(folder, problem, MOVE, "foreign")
    return record
