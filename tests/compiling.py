"""How tests compile: fast, because most programs are run once, and once for a process and all that it starts."""

import atexit
import functools
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

FLAGS = ["--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true"]
# From 0.12 on there is no such flag (the second was not tried there), and one that is not known ends the process.
if tuple(map(int, version("jaxlib").split(".")[:2])) < (0, 12):
    # In one piece: cutting a program for several threads takes a quarter of the compiler's time.
    FLAGS += ["--xla_cpu_use_fusion_emitters=false", "--xla_cpu_parallel_codegen_split_count=1"]

MUCH = {"xla_backend_optimization_level": 1}
"""For a program that computes much: it takes a second more to compile, and a fifth of the time to run."""


@functools.cache
def compiled() -> Path:
    """Where this process, and those that it starts, keep compiled programs until it ends."""
    folder = Path(tempfile.mkdtemp(prefix="headway-compiled-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
