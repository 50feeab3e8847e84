"""Debian's Slurm, munge and libfaketime, and PyPI's Ray and submitit, into one folder of the checkout.

    python -m tests.reliability.install     # in the checkout; `./run reliability` calls it

Packages are downloaded and unpacked but not installed: no service starts, no user is made, nothing outside changes.
"""

import shutil
import sys

from tests.environment import call, make
from tests.reliability.places import CHECKOUT, DEBIAN, PLACE

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge", "libfaketime")
PYTHON = CHECKOUT / "locks" / "reliability.lock"
"""Ray and submitit with all that they need, each by its hash; Debian's packages are signed."""
PROGRAMS = {"mkfs.ext4": "e2fsprogs", "mount": "mount", "losetup": "mount"}
"""Of the system, and in every Debian."""


def say(words: str) -> None:
    sys.stderr.write(f"reliability: {words}\n")


def unpack() -> None:
    """Every package that the system lacks, into `debian`."""
    archives = PLACE / "archives"
    shutil.rmtree(DEBIAN, ignore_errors=True)
    (archives / "partial").mkdir(parents=True, exist_ok=True)
    say(f"unpacking {', '.join(PACKAGES)} of Debian (once)")
    call("apt-get", "-qq", "update")
    where = ("-o", f"Dir::Cache::archives={archives}")
    call("apt-get", "install", "-qq", "-y", "--download-only", "--no-install-recommends", *where, *PACKAGES)
    for archive in sorted(archives.glob("*.deb")):
        call("dpkg-deb", "-x", archive, DEBIAN)


def main() -> None:
    missing = {package for program, package in PROGRAMS.items() if not shutil.which(program)}
    if missing:
        sys.exit(f"reliability: install {', '.join(sorted(missing))} first, with apt-get.")
    if not shutil.which("apt-get"):
        sys.exit("reliability: Slurm is taken from Debian's packages, and here is no apt-get. Use a Debian or Ubuntu.")
    done = PLACE / "stamp"
    wanted = repr((PACKAGES, PYTHON.read_text(), sys.version, sys.executable))
    if done.is_file() and done.read_text() == wanted:
        return
    PLACE.mkdir(exist_ok=True)
    done.unlink(missing_ok=True)
    unpack()
    say("installing Ray and submitit from PyPI (once)")
    make(PLACE / "venv", PYTHON)
    done.write_text(wanted)  # last, so that an interrupted installation is repeated


if __name__ == "__main__":
    main()
