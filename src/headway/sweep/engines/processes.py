"""`--on processes:N`: N workers on this machine, each asked for one program after the other, the longest first.

What a worker computes is locked in the store, so another command over the same cells shares the work. A worker that
dies is replaced, and what it was doing is done again at the end, alone.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Mapping
from typing import Any

from headway.settings import SettingsError
from headway.store import failure
from headway.store.texts import visible
from headway.sweep.engines import Engine, Order, mps
from headway.sweep.engines.gpus import gpus
from headway.sweep.engines.layout import AHEAD, Layout, widest
from headway.sweep.engines.options import Option, read_options
from headway.sweep.engines.process import Process
from headway.sweep.queue import Place, Queue, at_least
from headway.sweep.tally import Working
from headway.sweep.worker import AGAIN as STOPPED
from headway.sweep.worker import REFUSED

OPTIONS = {"retries": Option(int, "how often lost cells are handed out again", least=0)}
PATIENCE = 120.0
"""Seconds that a worker has to save what it has before it is killed."""
PATIENT = 3
"""Workers that may end before they can begin, of few; of many, as many as there are."""
FULL = "RESOURCE_EXHAUSTED"
"""What XLA says when a device has no memory left."""
LATER = 2.0
"""Seconds after which one asks again for what another command computes."""


def processes(count: str, options: Mapping[str, Any]) -> Engine:
    """An engine of `count` processes."""
    if not (count.isascii() and count.isdigit() and 1 <= int(count) <= 4096):
        raise SettingsError(
            f"--on is 'processes:{count}', but the number of processes is from 1 to 4096, as in processes:4."
        )
    found = gpus()
    wide = widest(found, os.cpu_count() or 1)
    layout = Layout(int(count), found, wide.beside if found else 0, wide.fraction)
    return engine_of(layout, read_options("processes", options, OPTIONS).get("retries", 2))


def engine_of(layout: Layout, retries: int = 2) -> Engine:
    """An engine of these workers."""
    if layout.gpus:  # from here on this process only plans: the memory of the device is the workers'
        os.environ.setdefault(AHEAD, "false")
    return Engine(
        "processes",
        lambda order, _after: Processes(order, layout, retries),
        layout.workers,
        0,
        limit=layout.limit,
        layout=layout,
    )


class Processes:
    """Workers of this machine, which end with this process."""

    def __init__(self, order: Order, layout: Layout, retries: int) -> None:
        self._order, self._layout, self._whole = order, layout, layout
        self._queue = Queue(order.jobs, retries)
        self._workers: list[Process] = []
        self._gone: list[Working] = []
        self._notes: list[str] = []
        self._trouble = ""
        self._service: mps.Service | None = None
        self._started = self._stillborn = 0
        self._stopping = False
        self._share()
        self._fill()

    def going(self) -> bool:
        self._listen(0.0)
        self._hand_out()
        going = bool(self._workers) or not (self._queue.over or self._stopping)
        if not going:
            self._unshare()
        return going

    def wait(self, seconds: float) -> None:
        """Until one of them says something, but not longer."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self._workers:
            if self._listen(left) and self._hand_out():
                return

    def stop(self) -> None:
        self._stopping = True
        self._stop_all()
        self._unshare()

    def words(self) -> str:
        return ""

    def trouble(self) -> str:
        return self._trouble

    def notes(self) -> list[str]:
        said, self._notes = self._notes, []
        return said

    def working(self) -> tuple[Working, ...]:
        return tuple(self._gone) + tuple(worker.working() for worker in self._workers)

    def ahead(self) -> float | None:
        shares = {each.doing: each.share for each in self._workers if each.doing is not None}
        return at_least(self._queue.rest(shares), {"device": self._layout.workers, "cpu": self._layout.beside})

    def _share(self) -> None:
        if self._layout.gpus and self._layout.workers > 1:
            self._service, words = mps.start(self._order.path.with_name(f"{self._order.path.stem}-mps"))
            self._notes.append(words)

    def _unshare(self) -> None:
        if self._service is not None:
            self._service.stop()
            self._service = None

    def _fill(self) -> None:
        """As many workers as there is work for, up to the layout's."""
        places: tuple[tuple[Place, int], ...] = (("device", self._layout.workers), ("cpu", self._layout.beside))
        for place, most in places:
            there = sum(worker.place == place for worker in self._workers)
            for _ in range(min(most, self._queue.wanted(place)) - there):
                self._start(place)

    def _start(self, place: Place) -> None:
        number = self._started
        self._started += 1
        shared = {} if self._service is None else dict(self._service.environment)
        log = self._order.path.with_name(f"{self._order.path.stem}-{number}.log")
        environment = self._layout.environment(number, place) | shared
        self._workers.append(Process(self._order, number, place, log, environment))

    def _listen(self, seconds: float) -> bool:
        """Hear what workers say within so long; whether any did, or ended."""
        if not self._workers:
            return False
        with selectors.DefaultSelector() as selector:
            for worker in self._workers:
                selector.register(worker.pipe, selectors.EVENT_READ, worker)
            found = selector.select(seconds)
        for key, _ in found:
            self._hear(key.data)
        return bool(found)

    def _hear(self, worker: Process) -> None:
        for said in worker.hear():
            if said.get("say") == "note":
                self._notes.append(f"process {worker.number}: {visible(str(said.get('text', '')))}")
            elif said.get("say") == "over":
                number, worker.doing = worker.doing, None
                if number is not None and said.get("busy"):
                    self._queue.give_back(number, time.monotonic() + LATER)
                elif number is not None and FULL in str(said.get("failed")) and self._layout != self._whole.alone():
                    self._set_aside(number, worker)
                elif number is not None:
                    self._queue.finish(number)
        if worker.closed:
            self._end(worker)

    def _hand_out(self) -> bool:
        """Give something to everybody who waits; whether anybody got or lost something."""
        if self._stopping:
            return False
        changed, now = False, time.monotonic()
        for worker in [each for each in self._workers if each.waits]:
            number = self._queue.take(worker.place, now)
            if number is not None:
                worker.ask(number)
            elif self._queue.alone or not self._queue.wanted(worker.place):
                worker.dismiss()
            changed = True
        if not self._workers:
            self._go_on()
        return changed

    def _go_on(self) -> None:
        """Everybody has left: what killed its worker is tried by one that has everything, or others begin anew."""
        if self._stillborn >= max(PATIENT, self._whole.workers):
            self._queue.abandon()
        if self._queue.over:
            self._unshare()
        elif self._queue.alone:
            number = self._queue.take_alone()
            assert number is not None
            self._unshare()
            self._layout = self._whole.alone()
            self._notes.append("trying again, alone, what a process was computing when it died")
            self._start(self._queue.place(number))
            self._workers[-1].ask(number)
        else:
            self._layout = self._whole
            if self._service is None:
                self._share()
            self._fill()

    def _end(self, worker: Process) -> None:
        """A worker has left; if something is wrong, say what, and see that its work is done."""
        code = worker.process.wait()
        worker.close()
        self._workers.remove(worker)
        self._gone.append(worker.working())
        if code:
            self._trouble = worker.last_words() or self._trouble
        if code == REFUSED:  # the disk takes nothing, which everybody would find out
            self._queue.abandon()
        if worker.doing is None or code == REFUSED:
            self._queue.finish(-1 if worker.doing is None else worker.doing)
            if not worker.ready:
                self._stillborn += 1
                self._notes.append(f"process {worker.number} {_fate(code)} before it could begin")
                if self._stillborn < max(PATIENT, self._whole.workers):
                    self._fill()
            return
        if code == STOPPED:  # somebody asked it to, and it has saved
            self._queue.give_back(worker.doing)
            self._fill()
            return
        again = self._queue.bury(worker.doing)
        words = f"process {worker.number} {_fate(code)} while it was computing {worker.run or 'a program'}"
        self._notes.append(f"{words}; {'it will be tried again, alone' if again else 'it is given up'}")
        if not again:
            self._note_failed(worker.doing, words)
        if self._service is not None and self._service.ours and self._workers:
            self._renew()
        self._fill()

    def _renew(self) -> None:
        """A client of MPS that dies can stop all others: they save and leave, and begin again with another service."""
        self._notes.append("the others save, and resume with a new MPS")
        self._stop_all()
        self._unshare()
        self._share()

    def _stop_all(self) -> None:
        """Let everybody save and leave; what they were doing waits again."""
        for worker in self._workers:
            worker.ask_to_stop()
        until = time.monotonic() + PATIENCE
        for worker in self._workers:
            try:
                worker.finish(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.finish(PATIENCE)
            if worker.doing is not None:
                self._queue.give_back(worker.doing)
            self._gone.append(worker.working())
        self._workers = []

    def _set_aside(self, number: int, worker: Process) -> None:
        """A program that did not fit into its share of a device is tried again, alone, where it has all of it."""
        if not self._queue.bury(number):
            return
        words = f"{worker.run or 'a program'} did not fit into its share of the device's memory"
        self._notes.append(f"process {worker.number}: {words}; it will be tried again, alone")
        for cell in self._order.cells[number]:
            failure.forget(self._order.root / cell.identity)

    def _note_failed(self, number: int, words: str) -> None:
        """So that nobody tries again before somebody asks."""
        for cell in self._order.cells[number]:
            folder = self._order.root / cell.identity
            if not folder.exists() and not failure.note_of(folder).exists():
                failure.note(folder, RuntimeError(f"{words}, again and again"))


def _fate(code: int) -> str:
    """Exit codes of those killed by a signal are negative."""
    if code == -9:
        return "was killed (signal 9; the kernel does that when memory is full)"
    return f"was ended by signal {-code}" if code < 0 else f"left with code {code}"
