"""What to do about a package that only an extra of Headway installs, such as PyTorch or Ray."""

from __future__ import annotations

import sys
from pathlib import Path


def to_install(extra: str) -> str:
    """A sentence that helps whoever called: `./run` keeps an environment of its own, which extras do not reach."""
    if _made_by_run(Path(sys.prefix)):
        return (
            "`./run` has its own environment, without extras. Make another one in the checkout, "
            f"python3 -m venv env && env/bin/pip install '.[{extra}]', and call env/bin/headway instead of ./run."
        )
    return f"Install it: pip install '.[{extra}]' in the checkout."


def _made_by_run(environment: Path) -> bool:
    """The script stamps the environment that it makes beside itself."""
    return (environment / "stamp").is_file() and (environment.parent / "run").is_file()
