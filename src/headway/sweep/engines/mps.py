"""NVIDIA's Multi-Process Service: kernels of several processes run on a GPU at the same time, not by turns.

Its daemon is started by a shell that waits for its own input to end and then lets the daemon quit. The pipe to it
is ours alone, so it ends with this process, however that ends.
"""

from __future__ import annotations

import os
import selectors
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from headway.store.output import own_folder
from headway.sweep.engines.gpus import VISIBLE

CONTROL = "nvidia-cuda-mps-control"
PIPES, LOGS = "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY"
USUAL = Path("/tmp/nvidia-mps")
LONGEST = 90
"""Bytes of a folder's path: those of a socket in it must be less than 108."""
STARTING, QUITTING = 30.0, 60.0
SCRIPT = f"""
if {CONTROL} -d </dev/null >/dev/null 2>&1; then echo started; else echo refused; fi
read -r nothing
echo quit | {CONTROL} >/dev/null 2>&1
rm -rf "${PIPES}"
"""


class Service:
    """A running service, ours or somebody else's."""

    def __init__(self, environment: Mapping[str, str], shell: subprocess.Popen | None = None) -> None:
        self.environment = environment
        """What its clients need."""
        self._shell = shell

    @property
    def ours(self) -> bool:
        return self._shell is not None

    def stop(self) -> None:
        """Let it quit, if it is ours, and wait until it has; its clients must be gone."""
        if self._shell is None:
            return
        assert self._shell.stdin is not None
        with suppress(OSError):
            self._shell.stdin.close()
        try:
            self._shell.wait(QUITTING)
        except subprocess.TimeoutExpired:
            self._shell.kill()
            self._shell.wait()
        self._shell = None


def start(folder: Path, environ: Mapping[str, str] = os.environ) -> tuple[Service | None, str]:
    """A service whose files lie in `folder`, or the one that runs already; and a sentence about it."""
    if environ.get(PIPES) or (USUAL / "control").exists():
        return Service({}), "processes share the GPU through the MPS that is running"
    if shutil.which(CONTROL, path=environ.get("PATH")) is None:
        return None, f"processes share the GPU by turns: {CONTROL} is not installed, with which they would be faster"
    place = folder.resolve()
    if len(os.fsencode(place)) > LONGEST:
        return None, f"processes share the GPU by turns: {place} is too long a path for MPS, with at most {LONGEST}"
    own_folder(place)
    told = {PIPES: str(place), LOGS: str(place)}
    # It serves all GPUs: among those that it sees, clients count from 0.
    environment = {name: value for name, value in environ.items() if name != VISIBLE} | told
    shell = subprocess.Popen(
        ["/bin/sh", "-c", SCRIPT],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=environment, start_new_session=True,
    )  # fmt: skip
    service = Service(told, shell)
    if _answer(shell) == b"started\n":
        return service, "processes share the GPU through MPS"
    service.stop()
    return None, f"processes share the GPU by turns: {CONTROL} could not start"


def _answer(shell: subprocess.Popen) -> bytes:
    assert shell.stdout is not None
    with selectors.DefaultSelector() as selector, shell.stdout as pipe:
        selector.register(pipe, selectors.EVENT_READ)
        return pipe.readline() if selector.select(STARTING) else b""
