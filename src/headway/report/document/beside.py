"""The published numbers beside ours, each number outside with its cause: for the document and for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from headway.report.document import causes, one_changed, published_table, read_otherwise, sibling_numbers
from headway.report.document.tables import NamedRun


def beside(runs: Sequence[NamedRun]) -> list[str]:
    """Tables and their words, as Markdown; nothing where no run has published numbers."""
    parts: list[str] = []
    if published_table.rows(runs):
        parts += ["## Beside the published numbers", published_table.WORDS, published_table.published_table(runs)]
        parts += _with(causes.WORDS, causes.causes(runs))
        parts += _with(read_otherwise.WORDS, read_otherwise.read_otherwise(runs))
        parts += _with(one_changed.WORDS, one_changed.one_changed(runs))
    if sibling_numbers.rows(runs):
        parts += ["### The other papers", sibling_numbers.WORDS, sibling_numbers.sibling_table(runs)]
        parts += _with(causes.WORDS, causes.sibling_causes(runs))
    return parts


def _with(words: str, found: str) -> list[str]:
    return [words, found] if found else []
