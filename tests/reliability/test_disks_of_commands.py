"""An error of the disk reaches whoever gave the command, wherever its cells are computed; mended, it goes on."""

import shutil

import pytest
from tests.reliability import faults
from tests.reliability.processes import kill, wait_until, workers
from tests.reliability.sweeping import PATIENCE, Sweep

OPTIONS = {"here": (), "processes:2": ("retries=0",)}
NAMES = {"here": "here", "processes:2": "processes"}


def told(sweep, *words):
    """The command ended with 2, and said these words without a traceback."""
    assert sweep.end() == 2, sweep.log.read_text()
    said = sweep.log.read_text()
    assert "Traceback" not in said and all(each in said for each in words), said[-3000:]


def goes_on(sweep, swept):
    """Given again, it ends with the same bits as an undisturbed one."""
    kill(workers(sweep.root))
    sweep.start()
    assert sweep.end() == 0, sweep.log.read_text()
    assert sweep.outcome() == swept


def a_full_disk(disk, on, options, swept, tell, where, **variables):
    """Full as soon as a cell is begun."""
    sweep = Sweep(disk.root / "runs", on, *options, **variables)
    try:
        wait_until(lambda: list(sweep.root.glob("*.alive")) or sweep._over(), PATIENCE, "a cell is begun")
        disk.fill(0)
        told(sweep, "No space left on device", "Free some space")
        disk.empty()
        goes_on(sweep, swept)
    finally:
        sweep.close()
        kill(workers(sweep.root))
    happened = "exit code 2, cause and remedy; repeated with room, it ended bit-identical"
    tell(where, "`headway run init-scale`: the disk fills up after a cell has begun", 1, happened)


@pytest.mark.parametrize("on", OPTIONS)
def test_a_full_disk(on, swept, tell):
    with faults.disk() as disk:
        a_full_disk(disk, on, OPTIONS[on], swept, tell, NAMES[on])


@pytest.mark.parametrize("on", OPTIONS)
def test_something_else_in_the_place_of_a_record(on, swept, tell, tmp_path):
    junk = tmp_path / "runs" / min(swept)
    junk.mkdir(parents=True)
    (junk / "junk").write_text("junk")
    sweep = Sweep(tmp_path / "runs", on, *OPTIONS[on])
    try:
        told(sweep, junk.name, "Move the folder away")
        assert [path.name for path in junk.iterdir()] == ["junk"]
        shutil.rmtree(junk)
        goes_on(sweep, swept)
    finally:
        sweep.close()
        kill(workers(sweep.root))
    happened = "exit code 2, the folder is named and stays; moved away, it ended bit-identical"
    tell(NAMES[on], "`headway run init-scale`: something else is in the place of a record", 1, happened)


@pytest.mark.parametrize("on", OPTIONS)
def test_the_folder_is_read_only(on, swept, tell, tmp_path):
    (tmp_path / "runs").mkdir()
    with faults.read_only(tmp_path / "runs"):
        sweep = Sweep(tmp_path / "runs", on, *OPTIONS[on])
        told(sweep, "Read-only file system", "Choose another folder")
    tell(NAMES[on], "`headway run init-scale` into a read-only folder", 1, "exit code 2, cause and remedy")
