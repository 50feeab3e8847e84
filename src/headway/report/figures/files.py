"""A figure becomes three files, a PNG for screens, a PDF for print and an SVG to edit; drawn twice, the same bytes."""

from __future__ import annotations

import io
import logging
import multiprocessing
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from headway.report.figures.style import RESOLUTION, styled
from headway.store.output import own_folder, write_output

# It says that the date of matplotlib's own font is odd.
logging.getLogger("fontTools").setLevel(logging.ERROR)
# Dates and versions would make equal figures differ.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
}
_COORDINATES = re.compile(rb' (?:d|x|y)="[^"]*"')
_DIGITS = re.compile(rb"(\d\.\d\d)\d+")
"""What matplotlib writes beyond a hundredth of a point: nobody sees it, and it is half of the file."""
PATIENCE = 300.0
"""Seconds that a process may take for its share of the figures, after which they are drawn here."""
_CAPTION = {"png": "Description", "pdf": "Subject", "svg": "Description"}
"""Where a file says what it shows (`report.captions`)."""


@styled
def save(figure: Figure, stem: Path | str) -> tuple[Path, Path, Path]:
    """Write `stem`.png, `stem`.pdf and `stem`.svg, each whole or not at all, and return their paths."""
    stem = Path(stem)
    own_folder(stem.parent)
    png, pdf, svg = paths_of(stem)
    engine = figure.get_layout_engine()
    for path in (png, pdf, svg):
        kind = path.suffix[1:]
        content = io.BytesIO()
        metadata = {**_METADATA[kind], **({_CAPTION[kind]: figure.get_label()} if figure.get_label() else {})}
        figure.savefig(content, format=kind, dpi=max(RESOLUTION, figure.dpi), metadata=metadata)
        write_output(path, tidied(content.getvalue()) if kind == "svg" else content.getvalue())
        # The layout of the first file serves the others: to find it takes as long as to draw. With a place-holder for
        # it, "none", matplotlib would draw everything once in vain.
        figure.set_layout_engine(None)
    figure.set_layout_engine(engine)
    return png, pdf, svg


def save_all(figures: Mapping[Path, Figure], most: int | None = None) -> list[Path]:
    """Write each of them as `save` does, under its stem, as many at once as there are processors, or `most`."""
    stems = list(figures)
    count = max(1, min(len(stems), most or len(os.sched_getaffinity(0)))) if _may_fork() else 1
    own, *others = [stems[first::count] for first in range(count)]
    fork = multiprocessing.get_context("fork") if others else multiprocessing
    helpers = [fork.Process(target=_save_share, args=(figures, share)) for share in others]
    for helper in helpers:
        helper.start()
    _save_each(figures, own)
    for helper, share in zip(helpers, others, strict=True):
        helper.join(PATIENCE)
        if helper.exitcode != 0:
            helper.kill()
            _save_each(figures, share)  # whatever went wrong is raised here
    return [path for stem in stems for path in paths_of(stem)]


def _save_each(figures: Mapping[Path, Figure], stems: Sequence[Path]) -> None:
    for stem in stems:
        save(figures[stem], stem)


def _save_share(figures: Mapping[Path, Figure], stems: Sequence[Path]) -> None:
    """In a process of its own, whose errors are reported by whoever draws the share again."""
    try:
        _save_each(figures, stems)
    except Exception:
        sys.exit(1)


def _may_fork() -> bool:
    """Linux alone; and the threads of an accelerator's library do not survive a fork."""
    return sys.platform == "linux" and "jax" not in sys.modules


def paths_of(stem: Path) -> tuple[Path, Path, Path]:
    """`stem`.png, `stem`.pdf, `stem`.svg; the name is kept as it is: with_suffix would cut "u=0.001" at its point."""
    png, pdf, svg = (stem.with_name(f"{stem.name}.{kind}") for kind in _METADATA)
    return png, pdf, svg


def tidied(drawing: bytes) -> bytes:
    """An SVG with its parts numbered as they come, and coordinates to a hundredth of a point."""
    return _COORDINATES.sub(lambda found: _DIGITS.sub(rb"\1", found[0]), _renamed(drawing))


def _renamed(drawing: bytes) -> bytes:
    """The parts of an SVG numbered as they come: matplotlib names them by chance, or after places in memory."""
    names: dict[bytes, bytes] = {}
    for name in re.findall(rb'id="([a-z]+[0-9a-f]{10})"', drawing):
        names.setdefault(name, b"part-%d" % len(names))
    return re.sub(rb"\b[a-z]+[0-9a-f]{10}\b", lambda found: names.get(found[0], found[0]), drawing)
