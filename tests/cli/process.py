"""`headway` in a process of its own, as users have it, except that it compiles fast and keeps what it compiled."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.forked import run
from tests.compiling import FLAGS, compiled

ROOT = Path(__file__).parent.parent.parent

# Says "waiting" when the training has come to a step, and waits there for a signal.
STOP_AT = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background starts its children deaf to Ctrl-C
from headway.cli import main, screen
advance = screen.Screen.advance
def stop(self, step, losses, rungs):
    advance(self, step, losses, rungs)
    if step >= {step}:
        print("waiting", flush=True)
        time.sleep(60)
screen.Screen.advance = stop
main(sys.argv[1:])
"""


@dataclass(frozen=True)
class Shell:
    """A folder to call commands in, and a place for what the compiler made."""

    folder: Path
    cache: Path = field(default_factory=compiled)

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "COLUMNS": "250",
            "XLA_FLAGS": " ".join(FLAGS),
            "JAX_COMPILATION_CACHE_DIR": str(self.cache),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }

    def call(self, *arguments: object, program: Path | None = None) -> subprocess.CompletedProcess[str]:
        """`headway ARGUMENTS`, to its end; `program` stands in for headway."""
        command = [*(["-m", "headway"] if program is None else [str(program)]), *map(str, arguments)]
        return run(command, self.folder, self.environment, 1800)

    def stop_at(self, step: int, *arguments: object) -> "subprocess.Popen[str]":
        """`headway ARGUMENTS` up to a step, where it waits."""
        process = subprocess.Popen(
            [sys.executable, "-c", STOP_AT.format(step=step), *map(str, arguments)],
            cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        if process.stdout.readline() != "waiting\n":
            process.kill()
            raise AssertionError(f"the run ended before step {step}: {process.communicate()[1]}")
        return process
