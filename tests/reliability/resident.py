"""A process that trains the tiny cells in one folder after another, so that Python and JAX start once.

    python -m tests.reliability.resident      # a folder per line on its input, an outcome per line on its output

Sweep, store, checkpoints and training are the real ones; only the compiled program is kept from run to run.
"""

import functools
import sys
import traceback

from tests.reliability.cells import CELLS

from headway.store import Store, StoreError
from headway.sweep import here


@functools.cache
def group(cells, capacity):
    return Group(list(cells), [[] for _ in cells], capacity)


def run(root: str) -> str:
    try:
        here.run_cells(CELLS, Store(root))
    except StoreError as error:
        return f"refused {error}"
    except Exception:
        return "failed " + traceback.format_exc().replace("\n", " / ")
    return "done"


if __name__ == "__main__":
    Group = here.Group
    here.Group = lambda cells, references, capacity: group(tuple(cells), capacity)
    here.SAVE_EVERY = 0
    for line in sys.stdin:
        sys.stdout.write(run(line.rstrip("\n")) + "\n")
        sys.stdout.flush()
