"""Where a number comes from: versions, commit, device, time. Nothing about who or on which machine."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import headway

PACKAGES = ("jax", "jaxlib", "numpy")

# For a copy of the source that travels without its history, such as to a machine with an accelerator.
COMMIT_VARIABLE = "HEADWAY_COMMIT"


def provenance(device: str, seconds: float) -> dict[str, Any]:
    """What to keep beside a record: the code that made it, the device, the wall time, and now (UTC)."""
    return {
        **sources(),
        "device": device,
        "seconds": round(float(seconds), 3),
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


@cache
def sources() -> dict[str, Any]:
    """The versions and the commit that run in this process; `None` where something cannot be known."""
    return {
        "versions": {
            "python": platform.python_version(),
            "headway": headway.__version__,
            **{name: _version(name) for name in PACKAGES},
        },
        "system": f"{platform.system()} {platform.machine()}",
        **commit(),
    }


def commit(folder: Path = Path(__file__).parent.parent) -> dict[str, Any]:
    """The commit of the source in `folder`, and whether that source has changed since."""
    # An installed copy may lie inside somebody else's repository: only tracked files say something.
    if _git(folder, "ls-files") and (head := _git(folder, "rev-parse", "HEAD")):
        return {"commit": head, "changed": bool(_git(folder, "status", "--porcelain", "--", "."))}
    named = os.environ.get(COMMIT_VARIABLE, "")
    return {"commit": named if re.fullmatch("[0-9a-f]{7,64}", named) else None, "changed": None}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _git(folder: Path, *arguments: str) -> str | None:
    """What git answers, or None where there is no git, no repository or no answer."""
    # Inside a hook these variables point to another repository than the one of `folder`.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        answer = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(folder), *arguments],
            capture_output=True, text=True, timeout=10, check=True, env=environment,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
