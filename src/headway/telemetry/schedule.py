"""When to measure: at steps that grow by a factor, every so many, or at these; and at most a share of the time."""

from __future__ import annotations

import math
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
    """Of the run's time that probes may take: one that would take more waits (see `Budget`). None: none waits."""

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


@dataclass
class Budget:
    """What probes may cost: the share of the run's time, spread over the run as the logarithm of its steps.

    Stages come early, in steps that double, and so do the probes. Of a run whose length is known, the first steps may
    therefore use what the last ones will not: with the seconds a step takes, the least that were measured, the cost at
    step s stays below share * seconds * steps * log(2 + s) / log(2 + steps). Without a length it stays below the share
    of the time that has passed. The first probe, in which kernels are loaded, counts as much as the second.
    """

    share: float | None
    steps: int | None = None
    first: float = 0.0
    """Seconds of the first probe."""
    took: float = 0.0
    """Seconds of all."""
    spent: float = 0.0
    """Seconds that count."""
    cost: float = 0.0
    """Seconds of the last probe: what the next will take."""
    pace: float | None = None
    """Seconds a step takes."""
    probes: int = 0
    _began: float = 0.0
    _last: tuple[int, float] = (0, 0.0)

    def allows(self, step: int, now: float) -> bool:
        """Whether a probe at this step and this time fits."""
        if self.share is None or self.probes == 0:
            return True
        if self.steps is None or step > self.steps:
            return self.spent + self.cost <= self.share * (now - self._began)
        if self.pace is None:
            return True  # Nobody knows how long the run will take before two probes were some steps apart.
        part = math.log(2 + step) / math.log(2 + self.steps)
        return self.spent + self.cost <= self.share * self.pace * self.steps * part

    def probed(self, step: int, began: float, ended: float) -> None:
        """A probe took place, with the accelerator idle at both ends."""
        self.took += ended - began
        if self.probes == 0:
            self.first, self._began = ended - began, ended
        else:
            pace = (began - self._last[1]) / max(1, step - self._last[0])
            self.pace = pace if self.pace is None else min(self.pace, pace)
            self.cost = ended - began
            self.spent += self.cost + (min(self.first, self.cost) if self.probes == 1 else 0.0)
        self.probes += 1
        self._last = (step, ended)
