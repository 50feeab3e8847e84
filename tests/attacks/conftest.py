import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from tests.attacks.shell import Call, call


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that all commands of these tests share, so that each program is compiled once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def headway(home: Path, tmp_path: Path) -> Call:
    """`headway ARGUMENTS` in an empty folder."""
    return partial(call, home, tmp_path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Callable[[str], Iterator[Path]]:
    """with small_disk("64k") as folder: a disk of its own, in memory, that holds so much."""

    @contextmanager
    def made(size: str) -> Iterator[Path]:
        if os.getuid():
            pytest.skip("only root can mount a small disk")
        folder = tmp_path / "disk"
        folder.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True)
        if mounted.returncode:
            pytest.skip("a small disk cannot be mounted here")
        try:
            yield folder
        finally:
            subprocess.run(["umount", folder], check=True)

    return made
