"""Find and kill processes by what they are: those below another, and the workers of a sweep."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path


def below(root: int) -> list[int]:
    """The process, its children and theirs, the youngest generation last."""
    parents: dict[int, list[int]] = {}
    for pid in _all():
        with suppress(OSError, ValueError, IndexError):
            # The name in brackets may hold blanks; the parent is the second word after it.
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(pid)
    found = [root]
    for pid in found:
        found += parents.get(pid, [])
    return found


def named(*words: str) -> list[int]:
    """The processes whose command line has all of these words in it."""
    found = []
    for pid in _all():
        with suppress(OSError):
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if all(word in line for word in words) and pid != os.getpid():
                found.append(pid)
    return found


def workers(root: Path) -> list[int]:
    """The workers of a sweep into that folder."""
    return named("headway.sweep.worker", f"--store {root}")


def kill(pids: Iterable[int], number: int = signal.SIGKILL) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def kill_workers(root: Path, most: int | None = None) -> None:
    """Kill workers of a sweep, of which there must be some."""
    found = workers(root)[:most]
    assert found, "nobody works on the sweep"
    kill(found)


def end(processes: Iterable[subprocess.Popen]) -> None:
    """Kill each of them with everything below it, and wait until they are gone."""
    processes = [each for each in processes if each.poll() is None]
    kill(pid for each in processes for pid in reversed(below(each.pid)))
    for each in processes:
        each.wait()


def wait_until(true: Callable[[], object], seconds: float, what: str) -> None:
    until = time.monotonic() + seconds
    while not true():
        if time.monotonic() > until:
            raise TimeoutError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.2)


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody uses."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _all() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
