"""When to measure: at steps that grow by a factor, every so many, or at these; and at most a share of the time."""

from __future__ import annotations

from dataclasses import dataclass

from headway.settings.checks import require


@dataclass(frozen=True)
class Schedule:
    """Step 0, and then every step that is `growth` times the last one measured (at least one more)."""

    growth: float | None = 1.1
    """None where `every` or `at` decides."""
    every: int | None = None
    """Also every so many steps."""
    at: tuple[int, ...] = ()
    """Also at these steps; with `at` alone, set growth to None."""
    share: float | None = 0.04
    """A probe waits while those before it took more than this share of the time since the first; None: none waits."""

    def __post_init__(self) -> None:
        require(self.growth is None or self.growth > 1, f"the schedule's growth is {self.growth}; it must exceed 1.")
        require(
            self.every is None or self.every >= 1, f"the schedule measures every {self.every} steps; use 1 or more."
        )
        require(self.share is None or 0 < self.share < 1, f"the schedule's share is {self.share}, not between 0 and 1.")
        require(
            bool(self.growth or self.every or self.at),
            "the schedule never measures: give it growth, every or at.",
        )

    def due(self, step: int, last: int | None) -> bool:
        """Whether something was to be measured after the step `last` and up to `step`."""
        if last is None:
            return True
        if step <= last:
            return False
        grown = self.growth is not None and step >= max(last + 1, self.growth * last)
        passed = self.every is not None and step // self.every > last // self.every
        return grown or passed or any(last < each <= step for each in self.at)

    def affordable(self, spent: float, elapsed: float) -> bool:
        """Whether the probes so far took no more than their share of the seconds since the first began."""
        return self.share is None or spent <= self.share * elapsed
