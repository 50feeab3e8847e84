"""An environment that sees what `.venv` has and holds more: for tests that need large or unusual libraries."""

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]


def call(*command: str | Path) -> None:
    """Run a command in silence; if it fails, everything it said and the end."""
    outcome = subprocess.run(command, capture_output=True, text=True)
    if outcome.returncode:
        sys.exit(f"this failed: {' '.join(map(str, command))}\n{outcome.stdout}{outcome.stderr}")


def make(folder: Path, lock: Path) -> None:
    """Make `folder` anew: first the packages of `lock`, each by its hash, then those of `.venv`, then Headway."""
    call(sys.executable, "-m", "venv", "--clear", folder)
    [packages] = folder.glob("lib/python3*/site-packages")
    [others] = {path for path in map(Path, sys.path) if path.name == "site-packages" and path.is_dir()}
    # Behind its own: what pip finds there it does not install again.
    (packages / "headway.pth").write_text(f"{others.resolve()}\n{CHECKOUT / 'src'}\n")
    quiet = ("-q", "--disable-pip-version-check", "--no-compile")
    call(folder / "bin/python", "-m", "pip", "install", *quiet, "--require-hashes", "-r", lock)
