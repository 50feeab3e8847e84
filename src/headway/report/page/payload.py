"""Everything that the page's JavaScript reads, as plain words and numbers; figures are PNG files, byte for byte."""

from __future__ import annotations

import base64
import gzip
import struct
from typing import Any

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
        {"name": name, "svg": pack_text(group.drawings.get(name)), **pack_figure(content)}
        for name, content in group.figures
    ]
    return {"key": group.key, "title": group.title, "grid": group.grid, "figures": figures}


def pack_text(content: bytes | None) -> str | None:
    """Compressed, with no date in it, so that the same drawing is the same text."""
    return None if content is None else base64.b64encode(gzip.compress(content, mtime=0)).decode("ascii")


def pack_figure(png: bytes) -> dict[str, Any]:
    """The file, what it shows, and its size in pixels: the page keeps that room free before the picture is decoded."""
    width, height = struct.unpack(">II", png[16:24])  # the first chunk of every PNG begins with them
    return {"caption": caption_of(png), "width": width, "height": height, "data": base64.b64encode(png).decode("ascii")}
