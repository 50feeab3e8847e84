"""kill -9 at any moment changes no bit of what comes out in the end."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.compiling import compiled

import headway
from headway.sweep.here import run_cells

WORKER = Path(__file__).parent / "worker.py"


def launch(root):
    places = (Path(headway.__file__).parents[1], WORKER.parents[2])
    kept = {
        "JAX_COMPILATION_CACHE_DIR": str(compiled()),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    return subprocess.Popen(
        [sys.executable, str(WORKER), str(root)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **kept, "PYTHONPATH": os.pathsep.join(map(str, places))},
    )


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_ends_with_the_same_bits(store, undisturbed, bits):
    moments, reached = random.Random(0), []
    for lines in (2, 2, 1):
        process = launch(store.root)
        try:
            said = [process.stdout.readline() for _ in range(lines)]
            time.sleep(moments.uniform(0, 0.03))
        finally:
            process.kill()
        rest, _ = process.communicate()
        reached.append([int(line.split()[1]) for line in [*said, *rest.splitlines()] if line.startswith("step")])
    assert all(steps for steps in reached), "every process trained before it died"
    assert reached[1][0] > reached[0][0], "the second went on where the first had stopped"
    if not store.has(undisturbed.cell):
        run_cells([undisturbed.cell], store)
    assert bits(store.load(undisturbed.cell)) == bits(undisturbed)
    assert [path.name for path in store.root.iterdir()] == [undisturbed.cell.identity], "nothing is left behind"
