"""page = template + style + data + chart library + our modules, in one file that asks nothing of the network.

A text from a run (a title, a label, a claim) can contain anything, so it is kept from becoming markup or code
three times over: it is escaped here, it is only ever shown as text by the modules, and the page's own
security policy lets no script run but the ones written below, known by their hashes, and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from headway.report.page.payload import pack_text, payload
from headway.report.page.views import Report
from headway.store.output import write_output

MODULES = (
    "dom.js",
    "words.js",
    "formula.js",
    "counting.js",
    "terms.js",
    "data.js",
    "colour.js",
    "saving.js",
    "caption.js",
    "pen.js",
    "selection.js",
    "stages.js",
    "settling.js",
    "align.js",
    "curves.js",
    "traces.js",
    "panels.js",
    "linekeys.js",
    "marks.js",
    "figure.js",
    "matrix.js",
    "pictures.js",
    "numbers.js",
    "bands.js",
    "charts.js",
    "legend.js",
    "combined.js",
    "heads.js",
    "masses.js",
    "values.js",
    "lags.js",
    "measures.js",
    "scores.js",
    "attending.js",
    "stretch.js",
    "simplex.js",
    "stand.js",
    "triangle.js",
    "plane.js",
    "portrait.js",
    "narration.js",
    "story.js",
    "walk.js",
    "view.js",
    "lead.js",
    "summary.js",
    "masthead.js",
    "drawing.js",
    "positions.js",
    "reading.js",
    "playback.js",
    "choices.js",
    "address.js",
    "compare.js",
    "controls.js",
    "outcome.js",
    "filters.js",
    "verdicts.js",
    "taskpicture.js",
    "glossary.js",
    "findings.js",
    "results.js",
    "gallery.js",
    "runs.js",
    "live.js",
    "main.js",
)
"""In the order of their imports: each uses only what stands before it."""

STYLES = (
    "base.css",
    "controls.css",
    "pictures.css",
    "triangle.css",
    "walk.css",
    "flow.css",
    "tables.css",
    "gallery.css",
    "live.css",
    "results.css",
    "narrow.css",
)

_IMPORT = re.compile(r"^import\s.*?;\n", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(r"^export\s+", re.MULTILINE)


def write_page(path: str | os.PathLike[str], report: Report) -> Path:
    """Write the report to `path`, whole or not at all, and return the path."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # A reader who reloads while we write must see the old page or the new one, never half of one.
    write_output(path, page(report).encode())
    return path


def page(report: Report, live: Mapping[str, Any] | None = None) -> str:
    """The whole text of the page; one that is served has `live` among its data, and may ask its server for more."""
    # Without a run there is no chart to draw; a page that is served may get one while it lies open.
    library = _inside_script(chart_library()) if report.runs or live is not None else ""
    modules = _inside_script(joined_modules())
    data, pictures = without_pictures({**payload(report), **(live or {})})
    return _fill(
        _asset("template.html"),
        {
            "title": html.escape(report.title),
            "introduction": html.escape(report.introduction),
            "policy": html.escape(_policy(library, modules) + ("" if live is None else "; connect-src 'self'")),
            "style": "".join(map(_asset, STYLES)),
            "data": embedded(data),
            "pictures": "\n".join(pictures),
            "library": library,
            "modules": modules,
        },
    )


def chart_library() -> str:
    """The script of plotly.js, as it came."""
    return (files("headway.report.page") / "library" / "plotly-basic.min.js").read_text(encoding="utf-8")


def without_pictures(data: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The data with numbers of lines in place of figures: these are compressed already, and wait to be looked at."""
    pictures: list[str] = []

    def placed(figure: dict[str, Any]) -> dict[str, Any]:
        own = {name: figure[name] for name in ("data", "svg") if figure[name] is not None}
        pictures.extend(own.values())
        return {**figure, **{name: len(pictures) - len(own) + place for place, name in enumerate(own)}}

    figures = [{**group, "figures": [placed(each) for each in group["figures"]]} for group in data["figures"]]
    return {**data, "figures": figures}, pictures


def embedded(value: object) -> str:
    """JSON, compressed, as base64: nothing in it can end the script element that holds it."""
    return pack_text(json.dumps(value, allow_nan=False, separators=(",", ":")).encode())


def joined_modules() -> str:
    """Our ES modules as one scope, which needs no `import`, no `export` and no file beside the page.

    As a classic script it runs where it stands, before the chart library; a module would wait for everything.
    In a strict block, unlike in a function, two declarations of one name are an error and not a surprise.
    """
    joined = "".join(_EXPORT.sub("", _IMPORT.sub("", _asset(name))) for name in MODULES)
    return f'"use strict";\n{{\n{joined}}}\n'


def _policy(*scripts: str) -> str:
    """Only these scripts run, nothing is fetched or sent; pictures may come from the page itself (chart export)."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    # The default does not cover forms and <base>, by which a page could still send or lead away.
    own = "default-src 'none'; base-uri 'none'; form-action 'none'"
    return f"{own}; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"


def _inside_script(text: str) -> str:
    """The HTML parser ends a script at the first `</script`, even inside a string, and rewrites CRLF."""
    return in_ascii(re.sub(r"</(script)", r"<\\/\1", text.replace("\r\n", "\n"), flags=re.IGNORECASE))


def in_ascii(script: str) -> str:
    r"""Every letter beyond ASCII as \uXXXX, which means the same in strings, patterns and names.

    With one such letter a browser holds all of a script in two bytes a letter, and is slower to compile it.
    """

    def escaped(letter: re.Match[str]) -> str:
        return "".join(rf"\u{unit}" for unit in re.findall("....", letter[0].encode("utf-16-be").hex()))

    return re.sub(r"[^\x00-\x7f]", escaped, script)


def _asset(name: str) -> str:
    return (files("headway.report.page") / "assets" / name).read_text(encoding="utf-8")


def _fill(template: str, values: dict[str, str]) -> str:
    """Replace every {{name}} once, in one pass, so that a value which contains {{name}} is left as it is."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], template)
