"""`headway list`: the experiments with their grids, and every record on disk by its name."""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table

from headway.cli.arguments import USUAL, folders_with_records, seeds_of
from headway.cli.parsing import parse
from headway.experiments import NAMES, find
from headway.records import Cell
from headway.store import Entry, Store
from headway.store.kinds import revive_cell
from headway.store.older import upgraded
from headway.store.status import without_collecting
from headway.store.texts import printable

USAGE = """\
List the experiments, their grids and how much of each is on disk; then the first records of every folder
with the settings that distinguish them.

examples:
  headway list
  headway list --from results     the paper-scale runs
  headway list --all              every record
  headway list --check            compare every number with its checksum
"""

FIGURES = "figures"
"""Our own folder among the records."""
MOST_DONE = 20
"""So many of a folder are read and named; the rest is glanced at and counted."""


@dataclass(frozen=True)
class Options:
    """Where to look."""

    from_: Annotated[tuple[Path, ...], tyro.conf.arg(name="from")] = USUAL
    """Folders with records."""
    all: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Read and list every record, however many there are."""
    check: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Compare every number of every record with its checksum; exits with 1 if a record is damaged or is not a record
    that this version can use."""


def main(arguments: Sequence[str]) -> None:
    options = parse(Options, arguments, prog="headway list", description=USAGE)
    with without_collecting():
        _show(options)


def _show(options: Options) -> None:
    closely = None if options.all or options.check else MOST_DONE
    folders = folders_with_records(options.from_)
    listings = {folder: Store(folder).status(thorough=options.check, closely=closely) for folder in folders}
    table = Table(box=None, padding=(0, 2))
    for heading in ("experiment", "grid", "on disk", "what it shows"):
        table.add_column(heading)
    known = {_run(told) for entries in listings.values() for entry in entries if (told := entry.description)}
    for name in NAMES:
        experiment = find(name)
        for number, (grid, runs) in enumerate(experiment.grids.items()):
            cells = [Cell(settings, seeds_of(experiment, grid)) for settings in runs.values()]
            done = sum(_run(cell.describe()) in known for cell in cells)
            first = number == 0
            table.add_row(name if first else "", grid, f"{done}/{len(cells)} runs", experiment.title if first else "")
    Console(highlight=False, markup=False).print(table)
    for folder, entries in listings.items():
        own = [entry for entry in entries if entry.identity != FIGURES]
        print(f"\n{printable(str(folder))}:{'' if own else ' no records'}")
        for line in _lines(own):
            print(line)
    if options.check:
        _check([entry for entries in listings.values() for entry in entries if entry.identity != FIGURES])


def _check(entries: Sequence[Entry]) -> None:
    """How many are sound; 1 as the exit code if any is not."""
    bad = [entry for entry in entries if entry.state in ("damaged", "foreign")]
    done = sum(entry.state == "done" for entry in entries)
    print(f"\n{done} records are intact; {len(bad)} are damaged or not records of Headway.")
    if bad:
        raise SystemExit(1)


def _run(description: Mapping[str, Any]) -> bytes:
    """What a cell computes, whatever its seeds and whatever it is compared with: that does for a grid's run."""
    settings, source = description["settings"], description.get("source", "")
    kind = description["kind"]
    if not source and upgraded(settings, kind) != settings:  # written by an older version
        today = revive_cell(description).describe()
        kind, settings = today["kind"], today["settings"]
    task = settings.get("task", {})
    if task.get("references"):
        settings = {**settings, "task": {**task, "references": []}}
    # Quicker than JSON, and distinguishes 2 from 2.0 as JSON does; it is never read back.
    return marshal.dumps([kind, source, _in_order(settings)], 2)


def _in_order(told: Any) -> Any:
    """Names in an order that does not depend on who wrote them."""
    return {name: _in_order(told[name]) for name in sorted(told)} if isinstance(told, dict) else told


def _lines(entries: Sequence[Entry]) -> Iterator[str]:
    """A line for each that was read; those that were glanced at are counted. Whatever is not done is always named."""
    glanced = [entry for entry in entries if entry.glimpsed is not None]
    for entry in entries:
        if entry.glimpsed is None:
            yield f"  {entry.state:<10} {printable(entry.identity)}  {printable(entry.summary)}"
    if len(entries) > MOST_DONE:
        counts = Counter(entry.state for entry in entries)
        yield "  in all: " + ", ".join(f"{count} {state}" for state, count in counts.items())
    if glanced:
        yield f"  {len(glanced)} of them were only checked briefly; `headway list --all` reads and lists them."
