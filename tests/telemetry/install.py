"""PyTorch (a CPU build), transformers and Lightning into an environment of their own.

    python -m tests.telemetry.install     # in the checkout; `./run telemetry` calls it

It is made anew only when the lock changes.
"""

import sys

from tests.environment import CHECKOUT, make

PLACE = CHECKOUT / ".telemetry"
LOCK = CHECKOUT / "locks" / "telemetry-tests.lock"
"""Each package by its hash; torch is the CPU build, because the usual one brings gigabytes of CUDA."""


def main() -> None:
    done = PLACE / "stamp"
    wanted = repr((LOCK.read_text(), sys.version, sys.executable))
    if done.is_file() and done.read_text() == wanted:
        return
    sys.stderr.write("telemetry: installing PyTorch, transformers and Lightning (once)\n")
    PLACE.mkdir(exist_ok=True)
    done.unlink(missing_ok=True)
    make(PLACE / "venv", LOCK)
    done.write_text(wanted)  # last, so that an interrupted installation is repeated


if __name__ == "__main__":
    main()
