"""A printed statement, held against instances that satisfy its assumptions, and the same for its correction."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Check:
    """One outcome an instance. A theorem holds if it holds in all of them: one counterexample is enough."""

    name: str
    printed: tuple[bool, ...]
    corrected: tuple[bool, ...]
    """As `printed` where nothing had to be corrected."""
    worst: float = 0.0
    """How far the print is from the truth in the worst instance; what is compared is in the check's docstring."""

    @property
    def as_printed(self) -> str:
        return "holds" if all(self.printed) else "fails"

    @property
    def as_corrected(self) -> str:
        return "holds" if all(self.corrected) else "fails"


def check(name: str, printed: Iterable[Any], corrected: Iterable[Any] | None = None, worst: float = 0.0) -> Check:
    """A `Check` from any sequences of truth values; without `corrected`, the print needed no correction."""
    said = tuple(bool(outcome) for outcome in printed)
    return Check(name, said, said if corrected is None else tuple(bool(outcome) for outcome in corrected), float(worst))


def table(checks: Mapping[str, Check]) -> str:
    """In how many instances each holds, in Markdown; how far off only where the print fails."""
    lines = ["| statement | as printed | as corrected | worst |", "|---|---|---|---|"]
    for name, found in checks.items():
        printed = f"{found.as_printed} {sum(found.printed)}/{len(found.printed)}"
        corrected, worst = "", ""
        if found.as_printed == "fails":
            corrected = f"{found.as_corrected} {sum(found.corrected)}/{len(found.corrected)}"
            worst = f"{found.worst:.4g}" if found.worst else ""
        lines.append(f"| {name} | {printed} | {corrected} | {worst} |")
    return "\n".join(lines)
