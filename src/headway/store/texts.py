"""Texts that come from records are data: no terminal obeys them, no spreadsheet computes them."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a cell for a formula."""


def visible(text: str) -> str:
    """The text with every sign that a terminal would obey written out, as in \\x1b; line ends stay."""
    if all(each.isprintable() or each == "\n" for each in text):
        return text
    return "".join(each if each.isprintable() or each == "\n" else repr(each)[1:-1] for each in text)


def printable(text: str) -> str:
    """Text that a terminal shows as it is: a hostile name may hold colours, line ends, or bytes that are no letters."""
    return text if text.isprintable() else repr(text)[1:-1]


def csv_cell(text: str) -> str:
    """The text as a cell that no spreadsheet takes for a formula; numbers stay numbers."""
    if not text.startswith(FORMULA):
        return text
    try:
        float(text)
        return text
    except ValueError:
        return f"'{text}"
