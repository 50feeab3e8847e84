"""docs/reliability.md: what was injected, how often, what was lost; written by the tests that injected it."""

from __future__ import annotations

from pathlib import Path

BEGIN = "<!-- made by ./run reliability -->"
END = "<!-- end of what ./run reliability makes -->"
HEAD = ("| where | injected | times | what happened | lost |", "|---|---|---|---|---|")


def row(where: str, injected: str, times: int, happened: str, lost: str) -> str:
    return f"| {where} | {injected} | {times} | {happened} | {lost} |"


def merge(document: str, rows: list[str], when: str) -> str:
    """The document with these rows in its table; rows about other faults stay as they are."""
    before, middle = document.split(BEGIN)
    table, after = middle.split(END)
    kept = {_key(line): line for line in table.splitlines() if line.startswith("| ") and line not in HEAD}
    kept.update({_key(line): line for line in rows})
    ordered = sorted(kept.values(), key=_place)
    return "\n".join([before + BEGIN, *HEAD, *ordered, "", f"*{when}*", END + after])


def write(path: Path, rows: list[str], when: str) -> None:
    if rows:
        path.write_text(merge(path.read_text(), rows, when))


def _key(line: str) -> tuple[str, ...]:
    return tuple(line.split("|")[1:3])


def _place(line: str) -> int:
    order = ("here", "processes", "Slurm", "Ray")
    where = line.split("|")[1].strip()
    return order.index(where) if where in order else len(order)
