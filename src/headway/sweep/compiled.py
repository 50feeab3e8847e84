"""Compiled programs are kept in the user's own cache folder, so that a shape is compiled once for all runs.

JAX writes into its cache without care for others: a reader can meet half a file, and what a killed process left half
written stays. So every process has a folder of its own, into which it takes what there is, and from which it gives what
it compiled, whole and under its name in one step.
"""

import secrets
import shutil
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import jax
from jax.experimental.compilation_cache import compilation_cache

from headway.kernels import keeping
from headway.store.errors import Busy, StoreError
from headway.store.lock import is_locked, locked
from headway.sweep.cache_folder import Untrusted, bring, is_ours, kind_of_machine, own_folder, prune, put

OWN = ".own-"
LEAST_SECONDS = 0.2
"""What compiles faster than this is not worth a file."""
PLACE = "jax_compilation_cache_dir"
CHOICES = {
    "jax_persistent_cache_min_compile_time_secs": LEAST_SECONDS,
    # XLA would get the folder's name, of which the name of a program would then depend: nobody would find it again.
    "jax_persistent_cache_enable_xla_caches": "none",
}
_shares: list[tuple[Path, Path]] = []
"""(own, common) folders in use, the innermost last."""
MOST_BYTES = 2 << 30
"""Of all programs of a kind of machine; beyond it the oldest go."""
PATIENCE, PAUSE = 60.0, 0.1
"""Seconds: how long one waits for what another process compiles, and between two looks."""


@contextmanager
def kept_compiled(note: Callable[[str], None]) -> Generator[None]:
    """Use and keep compiled programs meanwhile; who chose another place for them keeps it.

    A cache that others could have written is not used, and `note` gets a sentence about it.
    """
    if getattr(jax.config, PLACE) is not None:
        yield
        return
    with ExitStack() as held:
        # Only the cache may fail in silence: an error of what is done meanwhile is the caller's, and must reach it.
        with suppress(Busy, StoreError, OSError):
            try:
                place = own_folder()
            except Untrusted as reason:
                note(str(reason))
                place = None
            if place is not None:
                common = place / kind_of_machine()
                common.mkdir(mode=0o700, exist_ok=True)
                own = common / f"{OWN}{secrets.token_hex(8)}"
                own.mkdir(mode=0o700)
                held.enter_context(locked(own.with_name(own.name + ".lock"), wait=False, on_wait=None))
                held.enter_context(_used(own, common))
        yield


@contextmanager
def _used(own: Path, common: Path) -> Generator[None]:
    """Let JAX work in the folder `own`, which takes from `common` and gives to it."""
    _sweep(common)
    before = {name: getattr(jax.config, name) for name in CHOICES}
    _use(str(own), CHOICES)
    _shares.append((own, common))
    keeping.made_once.append(made_once)
    try:
        share()
        yield
    finally:
        share()
        keeping.made_once.pop()
        _shares.pop()
        _use(None, before)
        shutil.rmtree(own, ignore_errors=True)


def share() -> None:
    """Take what others have compiled since, and give them what was compiled here."""
    for own, common in _shares[-1:]:
        bring(common, own)
        bring(own, common)


@contextmanager
def made_once(name: str) -> Generator[None]:
    """Meanwhile no other process makes the file `name`; it is taken from the others before and given to them behind.

    Processes of a sweep start together and want the same kernels. The lock of one that dies is free; one that is
    stopped is waited for no longer than `PATIENCE`, for a file made twice does no harm.
    """
    own, common = (folder / name for folder in _shares[-1])
    with ExitStack() as held:
        _wait(held, common.with_name(f".{name}.lock"))
        _renew(common, own)
        yield
        _renew(own, common)


def _wait(held: ExitStack, path: Path) -> None:
    end = time.monotonic() + PATIENCE
    with suppress(StoreError, OSError):
        while time.monotonic() < end:
            try:
                held.enter_context(locked(path, wait=False, on_wait=None))
                return
            except Busy:
                time.sleep(PAUSE)


def _renew(source: Path, destination: Path) -> None:
    """Put the file in the place of whatever is there, in one step."""
    with suppress(OSError):
        if not is_ours(source) or (destination.exists() and destination.samefile(source)):
            return
        draft = destination.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            put(source, draft)
            draft.replace(destination)
        finally:
            draft.unlink(missing_ok=True)


def _use(folder: str | None, choices: Mapping[str, Any]) -> None:
    for name, value in {PLACE: folder, **choices}.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


def _sweep(common: Path) -> None:
    """Remove the folders of processes that died."""
    for path in common.glob(f"{OWN}*"):
        if path.is_dir() and not is_locked(path.with_name(path.name + ".lock")):
            shutil.rmtree(path, ignore_errors=True)
            with suppress(OSError):
                path.with_name(path.name + ".lock").unlink()
    prune(common, MOST_BYTES)
