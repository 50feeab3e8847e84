"""Everything that the page's JavaScript reads, as plain words and numbers; figures with every pixel as it was drawn."""

from __future__ import annotations

import base64
import gzip
import io
import struct
from typing import Any

from PIL import Image  # comes with matplotlib

from headway.records import Finding
from headway.report.captions import caption_of
from headway.report.page.packing import plain_json
from headway.report.page.views import FigureGroup, Report


def payload(report: Report) -> dict[str, Any]:
    """The report as one JSON value."""
    return {
        "title": report.title,
        "runs": [view.payload for view in report.runs],
        "findings": [{"grid": grid, **_finding(finding)} for grid, finding in report.findings],
        "figures": [_figures(group) for group in report.figures],
        "commands": list(report.commands),
        "notes": list(report.notes),
        "highlights": plain_json(report.highlights),
        "papers": plain_json(report.papers),
        "titles": dict(report.titles),
        "unlisted": report.unlisted,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {**plain_json(finding), "verdict": finding.verdict}


def _figures(group: FigureGroup) -> dict[str, Any]:
    figures = [
        {"name": name, "svg": pack_text(drawing) if drawing else None, **pack_figure(content)}
        for name, content in group.figures
        for drawing in [group.drawings.get(name)]
    ]
    return {"key": group.key, "title": group.title, "grid": group.grid, "own": group.own, "figures": figures}


def pack_text(content: bytes) -> str:
    """Compressed, with no date in it, so that the same content is the same text."""
    return base64.b64encode(gzip.compress(content, compresslevel=6, mtime=0)).decode("ascii")


def pack_figure(png: bytes) -> dict[str, Any]:
    """The picture, what it shows, and its size in pixels: the page keeps that room free before it is decoded."""
    width, height = struct.unpack(">II", png[16:24])  # the first chunk of every PNG begins with them
    kind, content = min(("png", png), ("webp", as_webp(png)), key=lambda each: len(each[1]))
    data = base64.b64encode(content).decode("ascii")
    return {"caption": caption_of(png), "width": width, "height": height, "type": kind, "data": data}


def as_webp(png: bytes) -> bytes:
    """The same pixels in a WebP file, which takes about half of the room; more effort would save a tenth of it."""
    content = io.BytesIO()
    Image.open(io.BytesIO(png)).save(content, "webp", lossless=True, exact=True, method=1, quality=25)
    return content.getvalue()
