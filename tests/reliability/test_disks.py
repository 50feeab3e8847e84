"""A disk that fills up or turns read-only is told in one sentence, and costs only what was not yet saved."""

import random
import shutil

from tests.reliability import faults
from tests.reliability.cells import CELLS, leftovers, outcome

from headway.store import Store

TIMES = 40


def disturbed(resident, root, moment, inject):
    """What a run says whose disk changes at that moment."""
    resident.begin(root)
    resident.frozen_at(moment, inject)
    return resident.end()


def test_a_disk_that_fills_up(resident, expected, tell):
    chance, refused = random.Random(11), 0
    with faults.disk() as disk:
        for number in range(TIMES):
            root = disk.root / str(number)
            said = disturbed(
                resident, root, chance.uniform(0, resident.seconds), lambda: disk.fill(chance.randrange(30_000))
            )
            if said != "done":
                refused += 1
                assert "No space left on device. Free some space and start again" in said
            disk.empty()
            assert resident.run(root) == "done"
            assert outcome(root) == expected
            assert leftovers(root) == set()
            shutil.rmtree(root)
    assert refused > TIMES // 4
    tell("here", "a full disk at a random moment", TIMES, f"{refused} runs said so and went on when there was room")


def test_a_disk_that_turns_read_only(resident, expected, tell):
    """ext4 does that by itself when it meets an error."""
    chance, refused = random.Random(12), 0
    with faults.disk() as disk:
        for number in range(TIMES):
            root = disk.root / str(number)
            said = disturbed(resident, root, chance.uniform(0, resident.seconds), disk.fail)
            if said != "done":
                refused += 1
                assert "Read-only file system" in said or "Input/output error" in said
            disk.repair()
            assert resident.run(root) == "done"
            assert outcome(root) == expected
            assert leftovers(root) == set()
            shutil.rmtree(root)
    assert refused > TIMES // 4
    tell("here", "a disk that meets an error and turns read-only", TIMES, f"{refused} runs said so and went on later")


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
    tell("here", "a read-only folder", 2, "an empty one is refused in a sentence, a finished one is read")
