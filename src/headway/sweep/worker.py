"""`python -m headway.sweep.worker --store ROOT --order FILE`: compute bundles of cells, wherever this was started.

FILE is an order as `bundle.encode` writes it. `--only 3` takes one bundle of it; `--serve` takes those that it is
asked for through a pipe, one after the other (`serving`).

It leaves with 0 when everything it was asked for is done, 1 when some cell failed (its note says why), 2 when the store
cannot be used, and 75 when it had to stop and saved what it had: the same command then goes on.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from headway.experiments.load import load_experiment
from headway.settings.keeping import NOTHING
from headway.store import Store, StoreError
from headway.sweep.bundle import Bundle, decode, pack
from headway.sweep.compiled import kept_compiled
from headway.sweep.garbage import collect_seldom
from headway.sweep.here import run_bundles
from headway.sweep.log_progress import LogProgress
from headway.sweep.serving import Reports, own_pipe, serve
from headway.sweep.watch import Watch

DONE, FAILED, REFUSED, AGAIN = 0, 1, 2, 75
"""Exit codes; the last one is what sysexits.h calls a temporary failure."""
STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP)
"""What schedulers send before they kill, and what people send."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute what was ordered; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m headway.sweep.worker", description="Compute bundles of cells.")
    parser.add_argument("--store", type=Path, required=True, help="folder of the records")
    parser.add_argument("--order", type=Path, required=True, help="JSON file that says which cells")
    parser.add_argument("--code", action="append", default=[], help="a user's file that defines tasks of the order")
    parser.add_argument("--only", type=int, help="take only the bundle of this number, from 0 on")
    parser.add_argument("--serve", action="store_true", help="read numbers of bundles from standard input")
    parser.add_argument("--with-parent", action="store_true", help="stop, and save, when the parent process dies")
    options = parser.parse_args(arguments)
    stop_gently()
    if options.with_parent:
        follow_parent(os.getppid())
    watch = Reports(own_pipe()) if options.serve else LogProgress()
    try:
        for path in options.code:
            load_experiment(path)
        bundles = decode(options.order.read_bytes())
        if isinstance(watch, Reports):
            return DONE if serve(bundles, Store(options.store), sys.stdin.buffer, watch) else FAILED
        return work(bundles if options.only is None else [bundles[options.only]], Store(options.store), watch)
    except KeyboardInterrupt:
        watch.note("asked to stop; what was measured is saved")
        return AGAIN
    except StoreError as error:
        watch.note(str(error))
        return REFUSED


def work(bundles: Sequence[Bundle], store: Store, watch: Watch) -> int:
    """Compute the bundles, and first whatever they are compared with, if nobody has; the exit code."""
    needed = [reference for bundle in bundles for cell in bundle.cells for reference in cell.needs()]
    missing = [cell for cell in dict.fromkeys(needed) if not store.has(cell)]
    with kept_compiled(watch.note):
        errors = run_bundles(pack(missing, bundles[0].keep if bundles else NOTHING), store, watch, once=True)
        errors += run_bundles(bundles, store, watch, once=True)
    for error in errors:
        watch.note(f"{type(error).__name__}: {error}")
    return FAILED if errors else DONE


def stop_gently() -> None:
    """Let the first signal interrupt the work, which saves what it has; later ones shall not disturb that."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        for each in STOPPING:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    for each in STOPPING:
        signal.signal(each, interrupt)


def follow_parent(parent: int) -> None:
    """Stop when the process that started this one is gone: nobody would stop it later."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=look, name="headway-parent", daemon=True).start()


if __name__ == "__main__":
    collect_seldom()
    sys.exit(main())
