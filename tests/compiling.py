"""How tests compile: fast, because most programs are run once, and once for all processes of a session."""

import atexit
import os
import shutil
import sys
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


PLACE = "JAX_COMPILATION_CACHE_DIR"


def keep_compiled() -> None:
    """From now on this process, and all that it starts, compile a program, or a kernel, once for all of them."""
    folder = tempfile.mkdtemp(prefix="headway-compiled-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # Small programs, too: one that is found takes 3 ms, and one that is compiled 20.
    os.environ |= {PLACE: folder, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    # Where Python may not write beside its sources, every process would compile all of JAX again: three quarters of
    # the time that its import takes.
    if sys.dont_write_bytecode and os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ["PYTHONPYCACHEPREFIX"] = f"{folder}-python"
        atexit.register(shutil.rmtree, f"{folder}-python", ignore_errors=True)


def compiled() -> Path:
    """Where the tests keep what they compiled."""
    return Path(os.environ[PLACE])
