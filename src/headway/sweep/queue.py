"""Which program next: of those that are ready, the one with the longest way to the end of the sweep before it.

    way(job) = seconds(job) + max over the jobs that need it of way(them)

A job whose worker died is tried again when nothing else is left, alone: what killed it may have been its neighbours'
memory, and its next death must not cost others theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Place = Literal["device", "cpu"]


@dataclass(frozen=True)
class Job:
    """A program that somebody has to run."""

    number: int
    """Of its bundle in the order."""
    seconds: float = 1.0
    """How long it takes alone, as far as one can know."""
    work: float = 0.0
    """Of them, those in which it holds the device."""
    place: Place = "device"
    """The first device of JAX, or the CPU beside it."""
    needs: frozenset[int] = frozenset()
    """Jobs that must be over before, done or failed."""

    def without(self, share: float) -> Job:
        """What is left of it."""
        return replace(self, seconds=(1 - share) * self.seconds, work=(1 - share) * self.work)


class Queue:
    """Jobs that wait, that are worked on, and that are over."""

    def __init__(self, jobs: Sequence[Job], retries: int = 2) -> None:
        self._jobs = {job.number: job for job in jobs}
        far = ways(jobs)
        self._order = sorted(self._jobs, key=lambda each: (-far[each], each))
        self._waiting = set(self._jobs)
        self._working: set[int] = set()
        self._alone: list[int] = []
        self._not_before: dict[int, float] = {}
        self._deaths: dict[int, int] = {}
        self._retries = retries

    @property
    def over(self) -> bool:
        return not (self._waiting or self._working or self._alone)

    @property
    def alone(self) -> bool:
        """Whether the next has to run alone: nobody works, and whatever else is left waits for it."""
        return bool(self._alone) and not self._working and not any(map(self._ready, self._waiting))

    def wanted(self, place: Place) -> int:
        """How many jobs wait or are worked on there."""
        return sum(self._jobs[each].place == place for each in self._waiting | self._working)

    def place(self, number: int) -> Place:
        return self._jobs[number].place

    def take(self, place: Place, now: float = 0.0) -> int | None:
        """The job to begin with; None if none is ready."""
        for each in self._order:
            if self._jobs[each].place == place and self._not_before.get(each, now) <= now and self._ready(each):
                return self._begin(each)
        return None

    def take_alone(self) -> int | None:
        """The next of those that run alone."""
        if not self.alone:
            return None
        number = self._alone.pop(0)
        self._working.add(number)
        return number

    def finish(self, number: int) -> None:
        """It is done, or failed, which its folders say."""
        self._working.discard(number)

    def give_back(self, number: int, not_before: float = 0.0) -> None:
        """Nobody works on it any more, and nothing is wrong with it; others may do, so it waits for a while."""
        self._working.discard(number)
        self._waiting.add(number)
        self._order.insert(0, number)
        self._not_before[number] = not_before

    def bury(self, number: int) -> bool:
        """Its worker died; whether it is tried again."""
        self._working.discard(number)
        self._deaths[number] = self._deaths.get(number, 0) + 1
        again = self._deaths[number] <= self._retries
        if again:
            self._alone.append(number)
        return again

    def rest(self, shares: Mapping[int, float]) -> list[Job]:
        """What is left of the jobs, of which these shares are done already."""
        left = [self._jobs[each] for each in sorted({*self._waiting, *self._alone, *self._working})]
        return [job.without(shares[job.number]) if job.number in shares else job for job in left]

    def abandon(self) -> None:
        """Nobody can do anything more."""
        self._waiting, self._order, self._alone = set(), [], []

    def _ready(self, number: int) -> bool:
        needs = self._jobs[number].needs
        return not needs or not needs & (self._waiting | self._working | set(self._alone))

    def _begin(self, number: int) -> int:
        self._waiting.discard(number)
        self._order.remove(number)
        self._working.add(number)
        return number


def ways(jobs: Iterable[Job]) -> dict[int, float]:
    """Seconds from the beginning of each job to the end of the last that needs it, with workers enough."""
    known = {job.number: job for job in jobs}
    after: dict[int, list[int]] = {number: [] for number in known}
    for job in known.values():
        for needed in job.needs & known.keys():
            after[needed].append(job.number)
    found: dict[int, float] = {}

    def way(number: int) -> float:
        if number not in found:
            found[number] = known[number].seconds + max(map(way, after[number]), default=0.0)
        return found[number]

    return {number: way(number) for number in known}


def span(jobs: Sequence[Job], workers: Mapping[Place, int]) -> float:
    """Seconds from the first to the last.

    As long as those who run at once leave room on a device, each takes as long as alone; else all are slower by what
    they want of it: a job that holds it for the part u = work / seconds of its time goes on at the rate 1 / max(1, sum
    of u).
    """
    queue, free, by_number = Queue(jobs), dict(workers), {job.number: job for job in jobs}
    left: dict[int, float] = {}
    now = 0.0
    while True:
        for place in free:
            while free[place] and (number := queue.take(place)) is not None:
                free[place] -= 1
                left[number] = by_number[number].seconds
        if not left:
            return now
        load = dict.fromkeys(free, 0.0)
        for number in left:
            load[by_number[number].place] += by_number[number].work / max(by_number[number].seconds, 1e-9)
        slow = {number: max(1.0, load[by_number[number].place]) for number in left}
        step = min(left[number] * slow[number] for number in left)
        now += step
        left = {number: rest - step / slow[number] for number, rest in left.items()}
        for number in [number for number, rest in left.items() if rest <= 1e-9]:
            del left[number]
            queue.finish(number)
            free[by_number[number].place] += 1


def at_least(jobs: Sequence[Job], workers: Mapping[Place, int]) -> float:
    """Seconds that no order of them can undercut, and near which the queue comes; sooner computed than a schedule."""
    found = 0.0
    for place, count in workers.items():
        own = [job for job in jobs if job.place == place]
        seconds = [job.seconds for job in own]
        found = max(found, sum(job.work for job in own), sum(seconds) / max(1, count), max(seconds, default=0.0))
    return found
