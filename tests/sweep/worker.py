"""Run the tiny cell in a store, saving at every evaluation, and say every step that was measured.

python worker.py ROOT
"""

import sys
import time

from tests.training.tiny import TINY

from headway.records import Cell
from headway.store import Store
from headway.sweep import here
from headway.sweep.watch import Silence

PAUSE = 0.02
"""Seconds between two steps, in which a death changes nothing; the rest of the time is spent computing and saving."""


class Loud(Silence):
    def advance(self, step, losses, rungs):
        sys.stdout.write(f"step {step}\n")
        sys.stdout.flush()
        time.sleep(PAUSE)


if __name__ == "__main__":
    here.SAVE_EVERY = 0
    here.run_cells([Cell(TINY, (0, 1, 2))], Store(sys.argv[1]), Loud())
