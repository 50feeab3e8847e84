"""A disk that fills up or turns read-only is told in one sentence, and costs only what was not yet saved."""

import random
import shutil

from tests.reliability import faults
from tests.reliability.cells import CELLS, leftovers, outcome

from headway.store import Store

TIMES = 40


def refusals(resident, expected, disk, chance, inject, mend, reasons):
    """How many of the runs whose disk changes at a random moment said why; mended, each goes on and loses nothing."""
    refused = 0
    for number in range(TIMES):
        root = disk.root / str(number)
        resident.begin(root)
        resident.frozen_at(chance.uniform(0, resident.seconds), inject)
        said = resident.end()
        if said != "done":
            refused += 1
            assert any(reason in said for reason in reasons)
        mend()
        assert resident.run(root) == "done"
        assert outcome(root) == expected
        assert leftovers(root) == set()
        shutil.rmtree(root)
    assert refused > TIMES // 4
    return refused


def _told(refused, after):
    return f"{refused} runs reported it and {after}, {TIMES - refused} had written everything before; all bit-identical"


def test_a_disk_that_fills_up(resident, expected, tell):
    chance, reasons = random.Random(11), ("No space left on device. Free some space and start again",)
    with faults.disk() as disk:
        fill = lambda: disk.fill(chance.randrange(30_000))  # noqa: E731
        refused = refusals(resident, expected, disk, chance, fill, disk.empty, reasons)
    tell("here", "a full disk at a random moment", TIMES, _told(refused, "resumed when there was room"))


def test_a_disk_that_turns_read_only(resident, expected, tell):
    """ext4 does that by itself when it meets an error."""
    chance, reasons = random.Random(12), ("Read-only file system", "Input/output error")
    with faults.disk() as disk:
        refused = refusals(resident, expected, disk, chance, disk.fail, disk.repair, reasons)
    tell("here", "a disk that fails and becomes read-only", TIMES, _told(refused, "resumed later"))


def test_a_folder_that_was_read_only_from_the_start(resident, expected, tmp_path, tell):
    root = tmp_path / "runs"
    root.mkdir()
    with faults.read_only(root):
        said = resident.run(root)
        assert "Read-only file system. Choose another folder for the runs, or make this one writable" in said
    assert list(root.iterdir()) == []
    assert resident.run(root) == "done"
    with faults.read_only(root):
        assert outcome(root) == expected, "what is done can be read"
        assert resident.run(root) == "done"
        assert all(Store(root).has(cell) for cell in CELLS)
    tell("here", "a read-only folder", 2, "an empty one is refused with an error, a finished one is read")
