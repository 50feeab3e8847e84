"""Unfinished work on disk: parts, a state, and one small file that names them.

    checkpoint.json          position, and the stamps of the state and of every part before it
    state-000007.safetensors what the run needs to go on
    part-000001.safetensors  what was measured up to the first save, and so on
    weights-00000120.safetensors  models of a step that the record will keep, where it was asked to

`checkpoint.json` is replaced last and in one step. A process that dies at any moment therefore leaves
the old checkpoint with all its files, or the new one with all of its; files that neither names are swept.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from headway.records import Cell, Trajectory
from headway.store import arrays, files
from headway.store.files import Stamp
from headway.store.joining import outline, require_alike, ticks_after
from headway.store.record import KEPT, kept_name

FORMAT = "headway unfinished work"
VERSION = 1
CELL = "cell.json"
CHECKPOINT = "checkpoint.json"
STATE = re.compile(r"state-\d{6,}\.safetensors")
PART = re.compile(r"part-\d{6,}\.safetensors")
SAID = ("number", "position", "outline", "state", "parts")
ADDED = ("kept", "notes")
"""Of which older checkpoints say nothing."""


@dataclass(frozen=True)
class Progress:
    """What `checkpoint.json` says, and the last tick of every clock."""

    number: int = 0
    """How many times the work was saved."""
    position: int = 0
    outline: Mapping[str, Any] | None = None
    """What all parts have in common; none before the first part."""
    state: Mapping[str, Stamp] = field(default_factory=dict)
    parts: Mapping[str, Stamp] = field(default_factory=dict)
    kept: Mapping[str, Stamp] = field(default_factory=dict)
    """Files with the models of earlier steps."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What the record's provenance will say besides."""
    ticks: Mapping[str, Any] = field(default_factory=dict)


def begin(folder: Path, cell: Cell, begun: Mapping[str, Any]) -> None:
    """A new folder for the unfinished work on `cell`, which says by which code it was begun."""
    folder.mkdir(exist_ok=True)
    if folder.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, "it is a link", str(folder))
    content = {"format": FORMAT, "version": VERSION, "cell": cell.describe(), "begun": dict(begun)}
    files.write(folder / CELL, files.seal(content))
    files.settle(folder)
    files.settle(folder.parent)


def is_bare(folder: Path) -> bool:
    """Whether a folder of ours holds nothing that was computed."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    return {path.name for path in folder.iterdir()} <= {CELL, CELL + files.TEMPORARY}


def read_begin(folder: Path) -> dict[str, Any]:
    """What `begin` wrote."""
    return _read_json(folder / CELL)


def append(
    folder: Path,
    before: Progress,
    part: Trajectory | None,
    state: Mapping[str, np.ndarray],
    position: int,
    kept: Mapping[int, Mapping[str, np.ndarray] | None] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> Progress:
    """Save `part` and `state` so that they count both or not at all.

    `kept` are the models of every step that are kept by now, None for those that were saved before; others go.
    """
    number = before.number + 1
    common, ticks, parts = before.outline, before.ticks, dict(before.parts)
    if part is not None:
        # Found out now rather than after hours, when the parts are joined.
        require_alike(common or outline(part), outline(part))
        common, ticks = outline(part), ticks_after(ticks, part)
        name = f"part-{number:06}.safetensors"
        parts[name] = files.write(folder / name, arrays.encode_trajectory(part))
    name = f"state-{number:06}.safetensors"
    stamps = {name: files.write(folder / name, arrays.encode(state))}
    models = {}
    for step, weights in (kept or {}).items():
        name = kept_name(step)
        # What was saved of a step stays: it holds the models of at least as many seeds.
        models[name] = before.kept[name] if name in before.kept else _write_models(folder / name, weights)
    said = before.notes if notes is None else dict(notes)
    after = Progress(number, position, common, stamps, parts, models, said, ticks)
    files.settle(folder)
    content = {name: getattr(after, name) for name in (*SAID, *ADDED)}
    files.write(folder / CHECKPOINT, files.seal({"format": FORMAT, "version": VERSION, **content}))
    files.settle(folder)
    for name in (*before.state, *(before.kept.keys() - after.kept.keys())):
        # If it stays, the next sweep takes it.
        with suppress(OSError):
            (folder / name).unlink()
    return after


def read_progress(folder: Path, cell: Cell) -> tuple[Progress, list[Trajectory], dict[str, np.ndarray] | None]:
    """The last complete checkpoint of `cell`; a ValueError if it cannot be trusted."""
    if not folder.is_dir() or folder.is_symlink():
        raise ValueError("it is not a folder")
    if read_begin(folder)["cell"] != cell.describe():
        raise ValueError("it is the work on another cell")
    if not (folder / CHECKPOINT).exists():
        _require_beginning(folder)
        return Progress(), [], None
    progress = read_checkpoint(folder)
    parts = read_parts(folder, progress, cell.seeds)
    ticks: Mapping[str, Any] = {}
    for part in parts:
        ticks = ticks_after(ticks, part)
    [(name, stamp)] = progress.state.items()
    state = arrays.decode(files.read_stamped(folder / name, stamp))
    return dataclasses.replace(progress, ticks=ticks), parts, state


def read_checkpoint(folder: Path) -> Progress:
    """What the last complete checkpoint says, without the ticks: no array is read."""
    content = _read_json(folder / CHECKPOINT)
    added = {name: content[name] for name in ADDED if name in content}
    names, kept = [*content["state"], *content["parts"]], added.get("kept", {})
    sound = all(STATE.fullmatch(name) or PART.fullmatch(name) for name in names) and all(map(KEPT.fullmatch, kept))
    if not sound or len(content["state"]) != 1:
        raise ValueError(f"its checkpoint names {[*names, *kept]}")
    if not isinstance(added.get("notes", {}), dict):
        raise ValueError("what it notes is not a set of named values")
    return Progress(**{name: content[name] for name in SAID}, **added)


def read_kept(folder: Path, progress: Progress, step: int) -> bytes:
    """The file with the models of a step, checked against its stamp."""
    return files.read_stamped(folder / kept_name(step), progress.kept[kept_name(step)])


def read_parts(folder: Path, progress: Progress, seeds: tuple[int, ...]) -> list[Trajectory]:
    """Every part that the checkpoint names, checked against its stamp."""
    known = progress.outline["arrays"] if progress.outline else {}
    clock_of = {name: clock for name, (clock, *_) in known.items()}
    return [
        arrays.decode_trajectory(files.read_stamped(folder / name, stamp), seeds, clock_of)
        for name, stamp in progress.parts.items()
    ]


def sweep(folder: Path, progress: Progress) -> None:
    """Remove what a process that died left between two checkpoints."""
    kept = {CELL, CHECKPOINT, *progress.state, *progress.parts, *progress.kept}
    for path in folder.iterdir():
        if path.name in kept:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def set_aside(folder: Path) -> Path:
    """Keep work that cannot be read under another name, out of the way."""
    stem, number = folder.name.removesuffix(".partial"), 1
    while os.path.lexists(aside := folder.with_name(f"{stem}.damaged-{number}")):
        number += 1
    folder.rename(aside)
    files.settle(folder.parent)
    return aside


def _write_models(path: Path, weights: Mapping[str, np.ndarray] | None) -> Stamp:
    if weights is None:
        raise ValueError(f"{path.name} counts as saved, but no checkpoint names it.")
    return files.write(path, arrays.encode(weights))


def _require_beginning(folder: Path) -> None:
    """Without a checkpoint there can be files of the first save, which was cut off, and of no later one."""
    for path in folder.iterdir():
        if (STATE.fullmatch(path.name) or PART.fullmatch(path.name)) and "-000001." not in path.name:
            raise ValueError(f"{CHECKPOINT} is missing, though {path.name} is there")


def _read_json(path: Path) -> dict[str, Any]:
    content = files.parse(files.read(path, files.MOST_JSON))
    if content.get("format") != FORMAT or content.get("version") != VERSION:
        raise ValueError(f"{path.name} was written by another version of Headway or by something else")
    return files.unseal(content)
