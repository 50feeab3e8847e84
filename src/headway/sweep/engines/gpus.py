"""The GPUs that JAX would use, without taking hold of any."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata

VISIBLE = "CUDA_VISIBLE_DEVICES"
QUERY = ["nvidia-smi", "--query-gpu=index,uuid,memory.total,name", "--format=csv,noheader,nounits"]


@dataclass(frozen=True)
class Gpu:
    """One of them."""

    index: str
    """As `CUDA_VISIBLE_DEVICES` names it."""
    memory: int
    """Bytes."""
    name: str = "GPU"


def gpus(environ: Mapping[str, str] = os.environ) -> tuple[Gpu, ...]:
    """None where there is no NVIDIA driver, where JAX has no code for it, or where it was asked to use the CPU."""
    platforms = environ.get("JAX_PLATFORMS", "").split(",")
    if not ({"", "cuda", "gpu"} & set(platforms)) or not jax_has_cuda():
        return ()
    return visible(_listed(environ), environ.get(VISIBLE))


def jax_has_cuda() -> bool:
    """Whether a package is installed by which JAX uses NVIDIA's GPUs."""
    return any("cuda" in each.name for each in metadata.entry_points(group="jax_plugins"))


def visible(listed: Mapping[str, Gpu], chosen: str | None) -> tuple[Gpu, ...]:
    """Those that were chosen, by index or by the beginning of a UUID, in that order; all if nobody chose."""
    if chosen is None:
        return tuple({gpu.index: gpu for gpu in listed.values()}.values())
    found = []
    for word in filter(None, (word.strip() for word in chosen.split(","))):
        gpu = next((gpu for name, gpu in listed.items() if name == word or _is_uuid(name, word)), None)
        if gpu is None:
            break  # as CUDA does: what comes behind an unknown name does not count
        found.append(gpu)
    return tuple(found)


def _is_uuid(name: str, word: str) -> bool:
    return word.startswith("GPU-") and name.startswith(word)


def _listed(environ: Mapping[str, str]) -> dict[str, Gpu]:
    """Index and UUID -> GPU."""
    program = shutil.which(QUERY[0], path=environ.get("PATH"))
    if program is None:
        return {}
    try:
        told = subprocess.run([program, *QUERY[1:]], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    found: dict[str, Gpu] = {}
    for line in told.splitlines():
        index, _, rest = line.partition(", ")
        uuid, _, rest = rest.partition(", ")
        memory, _, name = rest.partition(", ")
        if index.isdigit() and memory.isdigit():
            found[index] = found[uuid] = Gpu(index, int(memory) << 20, name.strip())
    return found
