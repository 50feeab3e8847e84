"""A sweep by the command line that takes about half a minute: five cells in two programs, cut into three pieces."""

from __future__ import annotations

import json
import random
import shlex
import subprocess
import sys
import time
from pathlib import Path

from tests.reliability.cells import bits
from tests.reliability.places import environment
from tests.reliability.processes import end, wait_until

from headway.store import Store

SETTINGS = shlex.split(
    "--seeds 2 --task.vocab 5 --task.blocks 1 2 --task.horizon 4 --model.heads 2 --training.batch 8 "
    "--training.samples 20 --training.test-samples 16 --training.steps 20000 --evaluation.points 200 "
    "--evaluation.snapshots 3 --evaluation.also 7"
)
CELLS = 5
PATIENCE = 420.0
"""Seconds after which a sweep hangs."""


class Sweep:
    """`headway run init-scale` into a folder, on an engine."""

    def __init__(self, root: Path, on: str, *options: str, **variables: str) -> None:
        self.root, self.variables = root, variables
        self.words = [sys.executable, "-m", "headway", "run", "init-scale", "--no-page", *SETTINGS]
        self.words += ["--into", str(root), "--on", on, *(word for each in options for word in ("--engine", each))]
        self.start()

    def start(self) -> None:
        self.log = self.root.with_name(f"{self.root.name}.log")
        with self.log.open("ab") as file:
            self.process = subprocess.Popen(
                self.words, stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=self.root.parent,
                env=environment(**self.variables), start_new_session=True,
            )  # fmt: skip

    def wait_until_it_trains(self, chance: random.Random, cells: int = 1) -> None:
        """Until so many cells have been begun, and a little longer."""
        wait_until(lambda: len(list(self.root.glob("*.alive"))) >= cells or self._over(), PATIENCE, "a cell is begun")
        time.sleep(chance.uniform(2, 12))

    def wait_until_it_saved(self) -> None:
        """Until some cell has a checkpoint."""
        saved = self.root.glob
        wait_until(lambda: list(saved("*.partial/checkpoint.json")) or self._over(), PATIENCE, "a checkpoint is saved")

    def end(self) -> int:
        """The exit code of the command."""
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.close()
            raise TimeoutError(f"the sweep hangs; it said: {self.log.read_text()[-3000:]}") from None

    def positions(self) -> dict[str, int]:
        """How far each unfinished cell was saved."""
        found = {}
        for path in self.root.glob("*.partial/checkpoint.json"):
            found[path.parent.name] = json.loads(path.read_text())["position"]
        return found

    def outcome(self) -> dict[str, str]:
        """The bits of every cell."""
        return {record.identity: bits(record) for record in Store(self.root).records()}

    def close(self) -> None:
        end([self.process])

    def _over(self) -> bool:
        return self.process.poll() is not None
