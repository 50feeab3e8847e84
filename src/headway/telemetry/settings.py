"""What a watched run is called by, and the words for its arrays; needs no PyTorch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from headway.records import About
from headway.telemetry.schedule import Schedule

PREFIX = "head_scores/"
"""Before a score's name: an array (seed, evaluation, layer, head)."""

WORDS = {
    "entropy": "entropy of attention, nats",
    "first_token": "attention to the first token",
    "previous_token": "previous token: attention to the token before",
    "duplicate_token": "duplicate token: attention to earlier occurrences",
    "prefix_matching": "prefix matching (induction): attention to what followed earlier occurrences",
    "prefix_matching_as_printed": "prefix matching as printed: attention to what came before earlier occurrences",
    "copying": "copying: share of the attended token in what the head raises, -1 to 1",
    "beyond": "attention further back than the lags that are kept",
}
"""Scores of a head by name, in words."""
SCORES = tuple(WORDS)
IN_CONTEXT = (50, 500)
"""The tokens of the in-context score, as published."""


@dataclass(frozen=True)
class TelemetrySettings:
    """Somebody's training run: what its record is found by."""

    KIND: ClassVar[str] = "telemetry"

    name: str = ""
    """What the user calls it."""
    model: str = ""
    """The model's class."""
    parameters: int = 0
    probe: str = ""
    """A digest of the probe's tokens."""
    rows: int = 0
    length: int = 0
    vocab: int = 0
    scores: tuple[str, ...] = SCORES
    rungs: tuple[str, ...] = ()
    """Reference predictors, from knowing nothing on; none without a ladder."""
    ladder: str = ""
    """A digest of what they say on the probe."""
    lags: int = 64
    in_context: tuple[int, int] = IN_CONTEXT
    """Tokens whose losses the in-context score compares."""
    schedule: Schedule = field(default_factory=Schedule)
    checkpoints: tuple[str, ...] = ()
    """Of a folder of checkpoints: their names."""

    def about(self) -> About:
        """The run in words."""
        early, late = self.in_context
        scores = tuple((PREFIX + name, WORDS[name]) for name in self.scores)
        whole = ("in_context_score", f"in-context score: loss at token {late} minus loss at token {early}")
        return About(
            title=f"{self.model or 'A PyTorch model'}, {self.parameters:,} parameters"
            + (f" ({self.name})" if self.name else ""),
            rungs=self.rungs,
            loss="cross-entropy on the probe",
            measures=(whole, *scores, ("probe_failed", "probes that failed")),
        )
