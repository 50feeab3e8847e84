"""A record as a moving picture."""

from __future__ import annotations

from pathlib import Path

from headway.export.errors import require_place
from headway.report.about import about_of
from headway.report.figures.animation import animate
from headway.store import Record
from headway.store.output import write_output


def export_animation(record: Record, path: Path, seed: int = 0, overwrite: bool = False) -> Path:
    """One seed of a record as a GIF, named as its task names things."""
    require_place(path, overwrite)
    about = about_of(record.cell.settings, record.provenance, record.trajectory)
    blocks = tuple(lags for _, lags in about.groups)
    names = [f"rung {k}" if "_{" in name else name for k, name in enumerate(about.rungs)][1:]
    write_output(path, animate(record.trajectory, seed, names, blocks or None))
    return path
