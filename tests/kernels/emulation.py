"""Kernels in CUDA C, compiled for a CPU with a thread in the place of each lane: no GPU is needed."""

import hashlib
import shutil
import subprocess
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import pytest
from tests.compiling import compiled

from headway.sweep.cache_folder import put

HERE = Path(__file__).parent / "emulated"
COMPILER = shutil.which("g++") or ""
needs_a_compiler = pytest.mark.skipif(not COMPILER, reason="no g++ on the PATH; on Debian: apt-get install g++")
OPTIONS = ("-std=c++20", "-O1", "-w", "-pthread", '-DSOURCE="kernels.h"')


def text_of(name: str) -> str:
    """Of a file of kernels, with the rows that it may include; `emulated/lanes.h` has what those stand on."""
    source = files("headway.kernels.cuda")
    rows = (source / "rows.cuh").read_text()
    text = (source / f"{name}.cu").read_text().replace('#include "rows.cuh"', rows)
    return text.replace('#include "tensor_cores.cuh"', "")


def run(name: str, text: str, macros: Mapping[str, object], folder: Path) -> None:
    """The arrays in a folder -> what the program `emulated/NAME.cpp` makes of them by the kernels of this text."""
    (folder / "kernels.h").write_text(text)
    subprocess.run([_built(name, text, macros, folder)], check=True, cwd=folder, timeout=300)


def _built(name: str, text: str, macros: Mapping[str, object], folder: Path) -> Path:
    """The program, compiled once for all runs of the tests."""
    words = [*OPTIONS, *(f"-D{macro}={value}" for macro, value in macros.items())]
    sources = [text, *((HERE / each).read_text() for each in ("lanes.h", f"{name}.cpp"))]
    place = compiled() / f"emulated-{name}-{hashlib.sha256(repr((words, sources)).encode()).hexdigest()[:32]}"
    if not place.exists():
        own = folder / "run"
        subprocess.run([COMPILER, *words, "-I", HERE, "-I", folder, HERE / f"{name}.cpp", "-o", own], check=True)
        put(own, place)
    place.chmod(0o700)  # a copy has lost it
    return place
