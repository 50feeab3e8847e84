"""How often a process of Headway's own looks for garbage: a command or a worker, never a program that imports Headway.

Tracing makes objects by the million, and nearly none of them are garbage that only a search finds: with Python's usual
thresholds the searches take a tenth of the time before the first step. At the end one more would look through all of
JAX, half a second, for memory that the system takes back anyway.
"""

import atexit
import gc


def collect_seldom() -> None:
    """From now on, and not at the end; what registers its own end later, as JAX does, comes before that."""
    gc.set_threshold(50_000, 20, 20)
    atexit.register(gc.freeze)
