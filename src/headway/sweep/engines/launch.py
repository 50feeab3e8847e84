"""A worker in a process of its own, as every engine starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import headway


def command(
    root: Path, order: Path, code: Sequence[str] = (), *, only: int | None = None, serve: bool = False
) -> list[str]:
    """The command line of a worker: of all bundles, `only` one, or those that it will be asked for (`serve`).

    `code` are users' files that it loads.

    They are named here and not in the order, which lies among the records: nothing that lies there says what is run.
    """
    which = ["--serve"] if serve else [] if only is None else ["--only", str(only)]
    files = [word for path in code for word in ("--code", path)]
    # -P: a file called numpy.py in the working folder, which may have come with somebody's runs, is not imported.
    begin = [sys.executable, "-P", "-m", WORKER]
    return [*begin, "--store", str(root), "--order", str(order), *files, *which, "--with-parent"]


WORKER = "headway.sweep.worker"


def spawn(
    words: list[str], log: IO[bytes] | None = None, more: Mapping[str, str] | None = None, *, pipes: bool = False
) -> subprocess.Popen:
    """Start it in a session of its own: a Ctrl-C at the terminal is for us, and we pass it on.

    With `pipes` one can ask it for more and hear from it; its words still go to the log.
    """
    # Wherever Headway was imported from, its worker is the same.
    source = str(Path(headway.__file__).parents[1])
    places = os.pathsep.join(dict.fromkeys([source, *filter(None, [os.environ.get("PYTHONPATH")])]))
    environment = {**os.environ, "PYTHONPATH": places, **(more or {})}
    ask, hear = (subprocess.PIPE, subprocess.PIPE) if pipes else (subprocess.DEVNULL, log)
    return subprocess.Popen(words, stdin=ask, stdout=hear, stderr=log, env=environment, start_new_session=True)


def ask_to_stop(process: subprocess.Popen) -> None:
    """Let a worker save what it has and leave."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)


def attend(process: subprocess.Popen) -> int:
    """The exit code of a worker; when we are to stop meanwhile, so is it, and it may finish saving."""
    try:
        return process.wait()
    except BaseException:
        ask_to_stop(process)
        process.wait()
        raise
