"""Everything that the page's JavaScript reads, as plain words and numbers; figures with every pixel as it was drawn."""

from __future__ import annotations

import base64
import gzip
import io
import os
import struct
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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
        "figures": _figures(report.figures),
        "commands": list(report.commands),
        "notes": list(report.notes),
        "highlights": plain_json(report.highlights),
        "papers": plain_json(report.papers),
        "titles": dict(report.titles),
        "unlisted": report.unlisted,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {**plain_json(finding), "verdict": finding.verdict}


def _figures(groups: Sequence[FigureGroup]) -> list[dict[str, Any]]:
    """Packed by threads: what compresses them lets others work meanwhile."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        packed = [[threads.submit(_figure, group, *figure) for figure in group.figures] for group in groups]
        figures = [[each.result() for each in own] for own in packed]
    return [
        {"key": group.key, "title": group.title, "grid": group.grid, "own": group.own, "figures": own}
        for group, own in zip(groups, figures, strict=True)
    ]


def _figure(group: FigureGroup, name: str, png: bytes) -> dict[str, Any]:
    drawing = group.drawings.get(name)
    return {"name": name, "svg": pack_text(drawing) if drawing else None, **pack_figure(png)}


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
