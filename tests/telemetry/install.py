"""PyTorch (a CPU build), transformers and Lightning into an environment of their own.

    python -m tests.telemetry.install     # in the checkout; `./run telemetry` calls it

It sees what `.venv` has, and is made anew only when the lock changes.
"""

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PLACE = CHECKOUT / ".telemetry"
LOCK = CHECKOUT / "locks" / "telemetry-tests.lock"
"""Each package by its hash; torch is the CPU build, because the usual one brings gigabytes of CUDA."""


def call(*command: str | Path) -> None:
    outcome = subprocess.run(command, capture_output=True, text=True)
    if outcome.returncode:
        sys.exit(f"telemetry: this failed: {' '.join(map(str, command))}\n{outcome.stdout}{outcome.stderr}")


def main() -> None:
    done, folder = PLACE / "stamp", PLACE / "venv"
    wanted = repr((LOCK.read_text(), sys.version, sys.executable))
    if done.is_file() and done.read_text() == wanted:
        return
    sys.stderr.write("telemetry: installing PyTorch, transformers and Lightning (once)\n")
    PLACE.mkdir(exist_ok=True)
    done.unlink(missing_ok=True)
    call(sys.executable, "-m", "venv", "--clear", folder)
    [packages] = folder.glob("lib/python3*/site-packages")
    [others] = {path for path in map(Path, sys.path) if path.name == "site-packages" and path.is_dir()}
    # Behind its own: what pip finds there it does not install again.
    (packages / "headway-telemetry.pth").write_text(f"{others.resolve()}\n{CHECKOUT / 'src'}\n")
    quiet = ("-q", "--disable-pip-version-check", "--no-compile")
    call(folder / "bin/python", "-m", "pip", "install", *quiet, "--require-hashes", "-r", LOCK)
    done.write_text(wanted)  # last, so that an interrupted installation is repeated


if __name__ == "__main__":
    main()
