"""Stop a process at a random moment, look at the disk as kill -9 would leave it, and let it go on.

What kill -9 leaves is what the kernel was told until then. A process that SIGSTOP has stopped has told it exactly that,
so a copy of its folder, in which no lock is held, is what its death would have left. Only one thing differs: SIGKILL
can end a process in the midst of a write and SIGSTOP cannot; `tear` makes up for it.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.reliability.cells import CELLS
from tests.reliability.places import environment


class Resident:
    """A process of `resident.py` that can be frozen."""

    def __init__(self, cache: Path, **more: str) -> None:
        kept = {
            "JAX_COMPILATION_CACHE_DIR": str(cache),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.resident"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(**kept, **more),
        )
        self.seconds = 0.2
        """What an undisturbed run takes, about."""

    def begin(self, root: Path) -> None:
        self._began = time.monotonic()
        self._say(f"{root}\n")

    def end(self) -> str:
        """What came of it: `done`, `refused ...` or `failed ...`."""
        said = self.process.stdout.readline().rstrip("\n")
        if not said:
            raise RuntimeError(f"the process ended with the code {self.process.wait()}; look at what it wrote.")
        return said

    def run(self, root: Path) -> str:
        self.begin(root)
        return self.end()

    def frozen_at(self, moment: float, act: Callable[[], None]) -> None:
        """Do `act` while the process stands still, `moment` seconds after its run began; if that fails, let it end."""
        time.sleep(max(0.0, self._began + moment - time.monotonic()))
        os.kill(self.process.pid, signal.SIGSTOP)
        try:
            os.waitpid(self.process.pid, os.WUNTRACED)  # returns when every thread stands still
            act()
        except BaseException:
            os.kill(self.process.pid, signal.SIGCONT)
            self.end()
            raise
        os.kill(self.process.pid, signal.SIGCONT)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def _say(self, words: str) -> None:
        self.process.stdin.write(words)
        self.process.stdin.flush()


def warmed(resident: Resident, folder: Path) -> Resident:
    """Let it compile what it can need, both cells together and each alone, and time a run."""
    assert resident.run(folder / "both") == "done"
    for number, missing in enumerate((CELLS[:1], CELLS[1:], CELLS)):
        root = folder / str(number)
        shutil.copytree(folder / "both", root)
        for cell in missing:
            shutil.rmtree(root / cell.identity)
        began = time.monotonic()
        assert resident.run(root) == "done"
        resident.seconds = time.monotonic() - began
    return resident


def tear(root: Path, chance: random.Random) -> bool:
    """Cut a file that was being written somewhere; whether there was one."""
    torn = [path for path in root.rglob("*.tmp") if path.is_file()]
    for path in torn:
        os.truncate(path, chance.randint(0, path.stat().st_size))
    return bool(torn)
