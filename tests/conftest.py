"""Every test runs on the CPU, with the shapes and types of Headway's functions checked at run time."""

import os
import shutil
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

SOURCE = Path(__file__).parent.parent / "src" / "headway"
UNCHECKED = {"cli", "experiments"}
"""They import what they annotate with only for the type checker, so that help does not wait for NumPy."""

os.environ.setdefault("JAX_PLATFORMS", "cpu")
install_import_hook(
    [f"headway.{path.stem}" for path in SOURCE.iterdir() if path.stem not in UNCHECKED], "shapes.checked"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow tests run when `--slow` or `-m` asks for them; otherwise they are left out."""
    if config.getoption("--slow") or "slow" in config.option.markexpr:
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the browser, for tests marked `browser`."""
    found = filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    return next(found, None) or pytest.skip("no Chromium on the PATH; on Debian: apt-get install chromium")
