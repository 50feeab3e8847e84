"""Train the tiny cells in a folder, saving at every evaluation; say every step that was measured.

python -m tests.reliability.once ROOT [SECONDS_BETWEEN_STEPS]
"""

import sys
import time

from tests.reliability.cells import CELLS

from headway.store import Store
from headway.sweep import here
from headway.sweep.watch import Silence


class Loud(Silence):
    def __init__(self, pause: float) -> None:
        self.pause = pause

    def advance(self, step, losses, rungs):
        sys.stdout.write(f"step {step}\n")
        sys.stdout.flush()
        time.sleep(self.pause)


if __name__ == "__main__":
    here.SAVE_EVERY = 0
    here.run_cells(CELLS, Store(sys.argv[1]), Loud(float(sys.argv[2]) if sys.argv[2:] else 0.05))
