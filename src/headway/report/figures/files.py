"""A figure becomes three files, a PNG for screens, a PDF for print and an SVG to edit; drawn twice, the same bytes."""

from __future__ import annotations

import io
import logging
import re
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
_CAPTION = {"png": "Description", "pdf": "Subject", "svg": "Description"}
"""Where a file says what it shows (`report.captions`)."""


@styled
def save(figure: Figure, stem: Path | str) -> tuple[Path, Path, Path]:
    """Write `stem`.png, `stem`.pdf and `stem`.svg, each whole or not at all, and return their paths."""
    stem = Path(stem)
    own_folder(stem.parent)
    # The name is kept as it is: with_suffix would cut "u=0.001" at its point.
    png, pdf, svg = (stem.with_name(f"{stem.name}.{kind}") for kind in _METADATA)
    for path in (png, pdf, svg):
        kind = path.suffix[1:]
        content = io.BytesIO()
        metadata = {**_METADATA[kind], **({_CAPTION[kind]: figure.get_label()} if figure.get_label() else {})}
        figure.savefig(content, format=kind, dpi=max(RESOLUTION, figure.dpi), metadata=metadata)
        write_output(path, _renamed(content.getvalue()) if kind == "svg" else content.getvalue())
    return png, pdf, svg


def _renamed(drawing: bytes) -> bytes:
    """The parts of an SVG numbered as they come: matplotlib names them by chance, or after places in memory."""
    names: dict[bytes, bytes] = {}
    for name in re.findall(rb'id="([a-z]+[0-9a-f]{10})"', drawing):
        names.setdefault(name, b"part-%d" % len(names))
    return re.sub(rb"\b[a-z]+[0-9a-f]{10}\b", lambda found: names.get(found[0], found[0]), drawing)
