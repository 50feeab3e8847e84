"""Hand cells out to an engine's workers, and watch their folders until nothing is left to wait for."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from headway import registry
from headway.records import Cell
from headway.settings.keeping import NOTHING, Keep
from headway.store import Store, StoreError, files
from headway.store import failure as failures_on_disk
from headway.store.errors import explained
from headway.store.output import own_folder
from headway.store.plan import announced
from headway.sweep.arrange import arrange
from headway.sweep.bundle import Bundle, cut, encode, waves
from headway.sweep.cost import Costs
from headway.sweep.engines import Engine, Order, Started
from headway.sweep.fitting import limit_of, require_fitting
from headway.sweep.keeping import require_keepable
from headway.sweep.log_progress import LogProgress
from headway.sweep.queue import Job
from headway.sweep.tally import Count, Tally, failures
from headway.sweep.users_code import look_at_users_code
from headway.training.chunks import planned

FOLDER = ".sweep"
"""Orders, and the logs of workers."""
ROOM = 1 << 16
"""Bytes that a folder must take for its workers to work, and to say why they cannot."""
LOOK = 1.0
"""Seconds between two looks at the folders."""

Tell = Callable[[Tally], None]


class SweepError(RuntimeError):
    """Cells that could not be computed, in words for the user."""


class Detached(Exception):  # noqa: N818 - nothing is wrong
    """Workers go on without us; the words say how to look after them."""


def hand_out(
    cells: Sequence[Cell],
    store: Store,
    engine: Engine,
    tell: Tell,
    *,
    detach: bool = False,
    keep: Keep = NOTHING,
    costs: Costs | None = None,
) -> None:
    """Compute every cell that the store lacks, and whatever they compare themselves with, by an engine's workers.

    An interrupt stops workers that cannot outlive us, once they have saved; others go on, and `Detached` says so.
    `costs` say what takes long, for an engine that wants to know.
    """
    require_keepable(keep, cells)
    look_at_users_code(cells, store, LogProgress())
    with planned(None if engine.layout is None else engine.layout.memory):
        require_fitting(cells, store, limit_of(engine, len(cells)), engine.workers or 1)
    wanted = list(dict.fromkeys(each for cell in cells for each in (*cell.needs(), cell)))
    missing = [cell for cell in wanted if not store.has(cell)]
    for cell in missing:
        # What failed in an earlier sweep is tried again, once.
        failures_on_disk.forget(store.root / cell.identity)
    if detach:
        _leave(cells, store, engine, keep)
    count, trouble = Count(store.root, missing), ""

    def look(started: Started) -> None:
        told = {"working": started.working(), "notes": tuple(started.notes()), "ahead": started.ahead()}
        tell(replace(count.look(), **told))

    first, second = waves(cells, keep)
    # With a layout, everything at once: nobody waits for the last of the first wave.
    handed = [first, second] if engine.layout is None else [[*first, *second]]
    with announced(store.root, cells):
        for wave in handed:
            trouble = _wave(wave, store, engine, look, costs or Costs()) or trouble
    _require_done(store, missing, trouble)


def _leave(cells: Sequence[Cell], store: Store, engine: Engine, keep: Keep) -> NoReturn:
    """Hand everything out at once, what is compared after what it is compared with, and look after none of it."""
    started: Started | None = None
    words = []
    for wave in waves(cells, keep):
        left = _left(wave, store, engine.workers or 1, ready=False)
        if left:
            with _order(left, store, (), keep=True) as order:
                started = engine.start(order, started)
            words.append(started.words())
    raise Detached("\n".join(words))


def _wave(
    bundles: Sequence[Bundle], store: Store, engine: Engine, look: Callable[[Started], None], costs: Costs
) -> str:
    """Hand out what is missing, and again what was lost; the last words of a worker that ended badly."""
    trouble = ""
    for _ in range(1 + engine.retries):
        if engine.layout is None:
            left, jobs = _left(bundles, store, engine.workers or 1), ()
        else:
            with planned(engine.layout.memory):
                left, jobs = arrange(_left(bundles, store, 1, ready=False), engine.layout, costs)
        if not left:
            break
        with _order(left, store, jobs, keep=engine.outlives) as order:
            started = engine.start(order, None)
            _follow(started, engine, Count(store.root, [cell for bundle in left for cell in bundle.cells]), look)
            trouble = started.trouble() or trouble
    return trouble


def _left(bundles: Sequence[Bundle], store: Store, workers: int, *, ready: bool = True) -> list[Bundle]:
    """What is neither done nor failed, if `ready` only what has all it needs; each shape cut for so many workers."""
    left = []
    for bundle in bundles:
        failed = failures(store.root, bundle.cells)
        cells = tuple(
            cell
            for cell in bundle.cells
            if cell not in failed
            and not store.has(cell)
            and (not ready or all(store.has(each) for each in cell.needs()))
        )
        left += cut(replace(bundle, cells=cells), workers) if cells else []
    return left


def _follow(started: Started, engine: Engine, count: Count, look: Callable[[Started], None]) -> None:
    try:
        while started.going() and not (engine.outlives and count.look().over):
            look(started)
            started.wait(LOOK)
        look(started)
    except KeyboardInterrupt:
        if engine.outlives:
            raise Detached(started.words()) from None
        started.stop()
        look(started)
        raise
    except BaseException:
        if not engine.outlives:
            started.stop()
        raise


def _require_done(store: Store, cells: Sequence[Cell], trouble: str) -> None:
    failed = failures(store.root, cells)
    lost = [cell for cell in cells if cell not in failed and not store.has(cell)]
    if failed:
        cell, words = next(iter(failed.items()))
        raise SweepError(
            f"{len(failed)} of {len(cells)} cells failed; {cell.identity}: {words.splitlines()[-1]}. Tracebacks are in "
            f"{store.root}/*{failures_on_disk.SUFFIX}; the same command tries them again."
        )
    if lost:
        _require_writable(store.root)
        logs = f" Look at the logs in {store.root / FOLDER}." if (store.root / FOLDER).is_dir() else ""
        last = f" The last words of a worker: {trouble.splitlines()[-1]}" if trouble else logs
        raise SweepError(
            f"{len(lost)} of {len(cells)} cells were lost with their workers, again and again.{last} What was saved "
            "is intact; the same command resumes from it."
        )


def _require_writable(root: Path) -> None:
    """A disk that takes nothing takes no worker's last words either: try it, and say what is wrong with it."""
    probe = root / f".room-{secrets.token_hex(8)}"
    with explained(root, "writing there"):
        files.write(probe, bytes(ROOM))
        probe.unlink()


@contextmanager
def _order(bundles: Sequence[Bundle], store: Store, jobs: tuple[Job, ...], *, keep: bool) -> Generator[Order]:
    """The bundles in a file of the store's; `keep` leaves it for workers that are still to come."""
    folder = store.root / FOLDER
    path = folder / f"{secrets.token_hex(4)}.json"
    with explained(folder, "writing the order of the sweep"):
        _require_own(own_folder(folder))
        files.write(path, encode(bundles).encode())
    try:
        yield Order(store.root, path, len(bundles), registry.files(), jobs, tuple(each.cells for each in bundles))
    finally:
        if not keep:
            _remove(folder, path.stem)


def _require_own(folder: Path) -> None:
    """What lies there is carried out by workers, and Slurm's jobs unpickle theirs: nobody else may write it."""
    if folder.stat().st_uid != os.geteuid():
        remedy = "Remove it when nothing runs there, or choose another folder for the runs."
        raise StoreError(folder, "the orders of workers there belong to another user", remedy, "foreign")
    folder.chmod(0o700)


def _remove(folder: Path, stem: str) -> None:
    for path in folder.glob(f"{stem}*"):
        with suppress(OSError):
            path.unlink()
    with suppress(OSError):
        folder.rmdir()
