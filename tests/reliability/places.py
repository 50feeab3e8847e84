"""Where the suite keeps what it installs: one folder of the checkout, and nothing outside it."""

import os
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PLACE = CHECKOUT / ".reliability"
"""Programs and packages; `install.py` fills it, and it may be deleted."""
DEBIAN = PLACE / "debian"
"""Debian's packages, unpacked: what would lie under / lies here."""
LIBRARIES = DEBIAN / "usr/lib" / f"{os.uname().machine}-linux-gnu"
CLOCK = LIBRARIES / "faketime/libfaketimeMT.so.1"


def environment(**more: str) -> dict[str, str]:
    """What a process needs that is to import Headway from this checkout and find the unpacked programs.

    It keeps compiled programs where a user's would: what it leaves half written when it is killed is a fact here.
    """
    programs = [str(DEBIAN / "usr/bin"), str(DEBIAN / "usr/sbin"), str(Path(sys.executable).parent)]
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("JAX_")},
        "PATH": os.pathsep.join([*programs, os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(map(str, (CHECKOUT / "src", CHECKOUT))),
        "JAX_PLATFORMS": "cpu",
        **more,
    }
