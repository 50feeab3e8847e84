"""How tests compile: fast, because most programs are run once; and once for all processes, and for later runs."""

import atexit
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from headway.sweep.cache_folder import Untrusted, bring, kind_of_machine, own_folder, prune

FLAGS = ["--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true"]
# From 0.12 on there is no such flag (the second was not tried there), and one that is not known ends the process.
if tuple(map(int, version("jaxlib").split(".")[:2])) < (0, 12):
    # In one piece: cutting a program for several threads takes a quarter of the compiler's time.
    FLAGS += ["--xla_cpu_use_fusion_emitters=false", "--xla_cpu_parallel_codegen_split_count=1"]

MUCH = {"xla_backend_optimization_level": 1}
"""For a program that computes much: it takes a second more to compile, and a fifth of the time to run."""


PLACE = "JAX_COMPILATION_CACHE_DIR"
MOST_BYTES = 1 << 30
"""Of what is kept for later runs."""


def share_compiled() -> None:
    """From now on this process, and all that it starts, compile a program, or a kernel, once for all of them."""
    folder = tempfile.mkdtemp(prefix="headway-compiled-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # Small programs, too: one that is found takes 3 ms, and one that is compiled 20.
    os.environ |= {PLACE: folder, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    # XLA would get the folder's name, and the names of programs would depend on it: no later run would find them.
    os.environ["JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES"] = "none"
    # Where Python may not write beside its sources, every process would compile all of JAX again: three quarters of
    # the time that its import takes.
    if sys.dont_write_bytecode and os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ["PYTHONPYCACHEPREFIX"] = f"{folder}-python"
        atexit.register(shutil.rmtree, f"{folder}-python", ignore_errors=True)


def compiled() -> Path:
    """Where the tests keep what they compiled."""
    return Path(os.environ[PLACE])


def take_compiled() -> None:
    """What earlier runs of this user's tests have compiled on such a machine."""
    with suppress(OSError):
        bring(_kept(), compiled())


def give_compiled() -> None:
    """What was compiled here, for later runs; where all went well, for a process that dies leaves halves."""
    with suppress(OSError):
        bring(compiled(), _kept())
        prune(_kept(), MOST_BYTES)


def _kept() -> Path:
    """In the user's own cache folder, where nobody else can write; if that cannot be, nothing is kept."""
    try:
        own = own_folder()
    except Untrusted as reason:
        raise OSError(str(reason)) from None
    if own is None:
        raise OSError("no cache folder can be made")
    folder = own / f"tests-{kind_of_machine()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
