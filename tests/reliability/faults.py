"""Disks that fill up or turn read-only, files that lose bits, clocks that jump."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.reliability.places import CLOCK


def call(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class Disk:
    """A small ext4 disk of its own, in a file, mounted at `root`."""

    def __init__(self, image: Path, root: Path, mebibytes: int = 16) -> None:
        self.image, self.root = image, root
        root.mkdir()
        with image.open("wb") as file:
            file.truncate(mebibytes << 20)
        call("mkfs.ext4", "-q", "-m", "0", image)
        self.mount()

    def mount(self) -> None:
        call("mount", "-o", "loop,errors=remount-ro", self.image, self.root)

    def unmount(self) -> None:
        call("umount", self.root)

    def fill(self, leave: int) -> None:
        """Another file takes all the room but about `leave` bytes."""
        room = os.statvfs(self.root)
        wanted = max(room.f_bavail * room.f_frsize - leave, 1)
        with (self.root / ".ballast").open("wb") as file:
            while True:
                try:
                    return os.posix_fallocate(file.fileno(), 0, wanted)
                except OSError as error:
                    if error.errno != errno.ENOSPC or wanted == 1:
                        raise
                    wanted = max(wanted - room.f_frsize, 1)

    def empty(self) -> None:
        (self.root / ".ballast").unlink()

    def fail(self) -> None:
        """The kernel meets an error on the disk and from then on only reads from it."""
        device = Path(call("findmnt", "-no", "SOURCE", self.root)).name
        Path(f"/sys/fs/ext4/{device}/trigger_fs_error").write_text("1")

    def repair(self) -> None:
        """Unmount, check and mount again, as one does after such an error."""
        self.unmount()
        checked = subprocess.run(["e2fsck", "-f", "-y", self.image], capture_output=True, text=True)
        if checked.returncode > 1:  # 1 is said of errors that were mended
            raise RuntimeError(f"the disk could not be repaired: {checked.stdout}{checked.stderr}")
        self.mount()


@contextmanager
def disk(mebibytes: int = 16) -> Iterator[Disk]:
    with tempfile.TemporaryDirectory() as folder:
        made = Disk(Path(folder) / "image", Path(folder) / "disk", mebibytes)
        try:
            yield made
        finally:
            made.unmount()


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """The folder seen through a mount that only reads, which binds root too."""
    call("mount", "--bind", folder, folder)
    try:
        call("mount", "-o", "remount,bind,ro", folder)
        yield
    finally:
        call("umount", folder)


def flip(path: Path, chance: random.Random) -> None:
    """One bit becomes the other."""
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def cut(path: Path, chance: random.Random) -> None:
    """The end of the file is lost, up to all of it."""
    os.truncate(path, chance.randrange(path.stat().st_size))


class Clock:
    """The wall clock of the processes that are started with `variables`; it can be set while they run.

    Elapsed time goes on as it does when somebody sets a real clock, and files keep the time of the kernel.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.jump("+0")
        self.variables = {
            "LD_PRELOAD": str(CLOCK),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def jump(self, offset: str) -> None:
        """To another time: `+400d`, `-3600`, `+0`."""
        temporary = self.file.with_name(self.file.name + ".new")
        temporary.write_text(f"{offset}\n")
        temporary.replace(self.file)
