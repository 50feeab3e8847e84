"""The few functions that a notebook needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.analysis import Stages
from headway.lookup import answer
from headway.records import Cell
from headway.settings import Settings, SettingsError
from headway.store import Record, Store


def run(settings: Settings, seeds: int | Sequence[int] = 4, into: str | Path = "runs", quiet: bool = False) -> Record:
    """Train `settings` with these seeds, or find the record in the folder `into`; an interrupted run goes on."""
    chosen = tuple(range(seeds)) if isinstance(seeds, int) else tuple(int(seed) for seed in seeds)
    if not chosen or len(set(chosen)) != len(chosen) or min(chosen) < 0:
        raise SettingsError(f"seeds is {seeds!r}, but it must be a number of seeds or different numbers from 0 on.")
    cell, store = Cell(settings, chosen), Store(into)
    found = answer(cell, [store])
    if found is None:
        from headway.cli.screen import Screen
        from headway.sweep.here import run_cells
        from headway.sweep.watch import Silence

        if quiet:
            run_cells([cell], store, Silence())
        else:
            with Screen() as screen:
                run_cells([cell], store, screen)
        found = store.load(cell)
    return found


def stages(record: Record) -> list[Stages]:
    """The stages of every seed, found from its KL to the rungs."""
    from headway.analysis.seed_stages import ladder_stages

    return ladder_stages(record.trajectory)


def page(records: Record | Sequence[Record], path: str | Path, title: str = "Headway") -> Path:
    """One self-contained page about one or several runs, trained or flows; portraits are shown with their flows."""
    from headway.report.build import any_view
    from headway.report.page import Report, write_page

    several = [records] if isinstance(records, Record) else list(records)
    portraits = [(each.cell.settings, each.trajectory) for each in several if each.cell.kind == "portrait"]
    shown = [each for each in several if each.cell.kind != "portrait"]
    views = tuple(
        any_view(f"run {number}", each.cell.settings, each.trajectory, dict(each.provenance), portraits)
        for number, each in enumerate(shown, start=1)
    )
    return write_page(path, Report(title, "", views))
