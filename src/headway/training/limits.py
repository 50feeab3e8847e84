"""free = min over all limits of (limit - what others use): a machine, its groups of processes, this process, its job.

Linux holds a container, or a job of a cluster, by a control group (cgroup). Groups are nested, and each may have a
limit: the smallest counts. Version 1 and version 2 of their files are read, also side by side.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

UNLIMITED = 1 << 60
"""From here on a number says that there is no limit; version 1 writes the largest that it has."""
OWN = "HEADWAY_MEMORY"
"""A limit of one's own, in bytes: who starts several workers gives each its part."""


@dataclass(frozen=True)
class Limit:
    """What one process may take, in bytes, what it holds already included."""

    free: int
    source: str
    """Who says so, in words."""
    shared: bool = True
    """Whether processes beside this one take from the same."""

    def part(self, workers: int) -> Limit:
        """What each of so many processes at once may take."""
        if workers == 1 or not self.shared:
            return self
        return replace(self, free=self.free // workers, source=f"{self.source}, for each of {workers} processes")


@dataclass(frozen=True)
class _Files:
    """How a version of cgroups names its files."""

    limits: tuple[str, ...]
    used: str
    cached: tuple[str, ...]
    """Lines of memory.stat that count copies of files, which the kernel drops before it ends a process."""


VERSIONS = {
    "cgroup2": _Files(("memory.max", "memory.high"), "memory.current", ("inactive_file", "active_file")),
    "cgroup": _Files(("memory.limit_in_bytes",), "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")),
}
"""Above memory.high the kernel ends nobody, but slows everybody down until little goes on: it counts as a limit."""


def limits(root: Path = Path("/"), environ: Mapping[str, str] = os.environ) -> list[Limit]:
    """Every limit that holds for this process, of a Linux whose files are below `root`."""
    held = _kilobytes(root / "proc/self/status", "RssAnon") or 0
    return [*_of_machine(root, held), *_of_groups(root, held), *_of_process(root, held), *_of_job(environ)]


def smallest(found: list[Limit], workers: int = 1) -> Limit | None:
    """The limit that counts for each of so many processes; None where nobody says any."""
    return min((each.part(workers) for each in found), key=lambda each: each.free, default=None)


def _of_machine(root: Path, held: int) -> Iterator[Limit]:
    available = _kilobytes(root / "proc/meminfo", "MemAvailable")
    if available is not None:
        yield Limit(available + held, "the machine's free memory")
        return
    with suppress(OSError, ValueError, AttributeError):  # what others use is not known
        yield Limit(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2, "half of the machine's memory")


def _of_groups(root: Path, held: int) -> Iterator[Limit]:
    for kind, top, inner in _groups(root):
        files = VERSIONS[kind]
        for depth in range(len(inner.parts), -1, -1):
            group = top.joinpath(*inner.parts[:depth])
            for name in files.limits:
                limit = _number(group / name)
                if limit is None or limit >= UNLIMITED:
                    continue
                cached = sum(_stat(group / "memory.stat").get(line, 0) for line in files.cached)
                others = max(0, (_number(group / files.used) or 0) - cached - held)
                yield Limit(max(0, limit - others), f"the control group's {name} in {_shown(group, root)}")


def _groups(root: Path) -> Iterator[tuple[str, Path, PurePosixPath]]:
    """(version, where its tree is mounted, this process's group in that tree)."""
    own = {}
    for line in _lines(root / "proc/self/cgroup"):
        number, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if number == "0" and not controllers:
            own["cgroup2"] = group
        elif "memory" in controllers.split(","):
            own["cgroup"] = group
    for line in _lines(root / "proc/self/mountinfo"):
        mount, _, filesystem = line.partition(" - ")
        fields, (kind, _source, options) = mount.split(), (*filesystem.split(), "", "", "")[:3]
        if kind in own and len(fields) > 4 and (kind == "cgroup2" or "memory" in options.split(",")):
            yield kind, root / _unescaped(fields[4]).lstrip("/"), _below(own[kind], _unescaped(fields[3]))


def _below(group: str, mounted: str) -> PurePosixPath:
    """The group as seen from what is mounted; a container sees its own group as the top."""
    path = PurePosixPath(group)
    if ".." in path.parts or not path.is_relative_to(mounted):
        return PurePosixPath()
    return path.relative_to(mounted)


def _of_process(root: Path, held: int) -> Iterator[Limit]:
    """Address space is taken by much that is never touched: what it holds beyond memory is not free."""
    try:
        import resource
    except ModuleNotFoundError:  # no Unix
        return
    for name, line in (("RLIMIT_AS", "VmSize"), ("RLIMIT_DATA", "VmData")):
        limit, _ = resource.getrlimit(getattr(resource, name))
        if limit != resource.RLIM_INFINITY and limit < UNLIMITED:
            taken = _kilobytes(root / "proc/self/status", line) or 0
            yield Limit(max(0, limit - max(0, taken - held)), f"this process's {name} (ulimit)", shared=False)


def _of_job(environ: Mapping[str, str]) -> Iterator[Limit]:
    """Slurm names megabytes; 0 stands for all of a node."""
    own = _count(environ, OWN)
    if own is not None:
        yield Limit(own, OWN, shared=False)
    per_node = _count(environ, "SLURM_MEM_PER_NODE")
    if per_node:
        yield Limit(per_node << 20, "Slurm's SLURM_MEM_PER_NODE")
    for name, numbers in (
        ("SLURM_MEM_PER_CPU", ("SLURM_CPUS_ON_NODE", "SLURM_JOB_CPUS_PER_NODE")),
        ("SLURM_MEM_PER_GPU", ("SLURM_GPUS_ON_NODE",)),
    ):
        each = _count(environ, name)
        number = next(filter(None, (_count(environ, other) for other in numbers)), None)
        if each and number:
            yield Limit(each * number << 20, f"Slurm's {name} times {number}")


def _count(environ: Mapping[str, str], name: str) -> int | None:
    """The first number of a variable: of several kinds of nodes Slurm writes 8(x2),4."""
    found = re.match(r"\d{1,18}", environ.get(name, ""), re.ASCII)
    return int(found[0]) if found else None


def _kilobytes(path: Path, name: str) -> int | None:
    for line in _lines(path):
        if line.startswith(f"{name}:"):
            with suppress(ValueError, IndexError):
                return int(line.split()[1]) * 1024
    return None


def _number(path: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int(path.read_text())
    return None  # there is no such file, or it holds "max"


def _stat(path: Path) -> dict[str, int]:
    pairs = (line.split() for line in _lines(path))
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _lines(path: Path) -> list[str]:
    with suppress(OSError, ValueError):
        return path.read_text().splitlines()
    return []


def _unescaped(word: str) -> str:
    """Blanks and the like in a path are written as \\040."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), word)


def _shown(group: Path, root: Path) -> str:
    return f"/{group.relative_to(root)}"
