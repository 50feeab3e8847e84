"""`headway bench`: the benchmarks lie beside the source in a checkout, and are no part of the installed package."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from headway.cli import UserError

CHECKOUT = Path(__file__).parents[3]


def main(arguments: Sequence[str]) -> None:
    """Hand over to benchmarks/bench/command.py; the package itself neither needs nor imports it."""
    if not (CHECKOUT / "benchmarks" / "bench").is_dir():
        raise UserError(
            "the benchmarks come with the source checkout, in its folder benchmarks/, and not with the installed "
            "package: call `./run bench` in a checkout."
        )
    sys.path.insert(0, str(CHECKOUT))
    importlib.import_module("benchmarks.bench.command").main(arguments)
