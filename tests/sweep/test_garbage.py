"""A process of Headway's own looks for garbage seldom; a program that only imports it looks as often as ever."""

import subprocess
import sys

import pytest

SEEN = "import atexit, gc; atexit.register(lambda: print(gc.get_threshold() == USUAL, gc.get_freeze_count() > 0))"
"""Registered first, and so called last: what holds when Python looks for the last time."""
IMPORT = "from headway.cli import main"


@pytest.mark.parametrize(
    ("program", "holds"),
    [
        ("main()", "False True"),
        ("main(['--version'])", "True False"),
        ("import headway.sweep.garbage", "True False"),
        (
            "import runpy; sys.argv[1:] = ['--help']; runpy.run_module('headway.sweep.worker', None, '__main__')",
            "False True",
        ),
    ],
    ids=["the command", "called with arguments", "imported", "a worker"],
)
def test_garbage_is_looked_for_seldom_and_not_at_the_end(program, holds):
    code = f"import gc, sys; USUAL = gc.get_threshold(); {SEEN}; {IMPORT}; {program}"
    ended = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True)
    assert ended.stdout.splitlines()[-1] == holds, ended.stderr
