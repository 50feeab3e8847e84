"""An error of the disk ends the command with 2, its cause and a remedy, wherever the cells are computed."""

import os

import pytest
from tests.attacks.shell import TINY, refused
from tests.experiments.made import made_results

from headway.records import Cell
from headway.store import Store

PLACES = ("here", pytest.param("processes:1", marks=pytest.mark.slow))

REMOVE = """
import shutil, sys
from headway.cli import main, screen
def remove(self, step, losses, rungs):
    shutil.rmtree("runs", ignore_errors=True)
screen.Screen.advance = remove
main(sys.argv[1:])
"""


def fill(folder, leave):
    """Another file takes all the room but `leave` bytes, whole pages of it."""
    room = os.statvfs(folder)
    with (folder / "ballast").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize - leave)


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize("leave", [0, 16384])
def test_a_full_disk_reaches_the_user_and_with_room_the_same_command_goes_on(headway, small_disk, on, leave):
    with small_disk("256k") as disk:
        fill(disk, leave)
        once = ("--engine", "retries=0") if on != "here" else ()
        ended = headway(*TINY, "--into", disk / "runs", "--on", on, *once)
        refused(ended, "No space left on device", "Free some space")
        (disk / "ballast").unlink()
        assert headway(*TINY, "--into", disk / "runs", "--on", on).returncode == 0


def test_a_disk_that_is_full_when_the_page_is_written_reaches_the_user(headway, small_disk, tmp_path):
    settings, trajectory = made_results("construction")["construction"]
    with Store(tmp_path / "runs").open(Cell(settings, trajectory.seeds)) as work:
        work.place(trajectory, {})
    with small_disk("64k") as disk:
        ended = headway("report", "construction", "--from", tmp_path / "runs", "--into", disk)
        refused(ended, "No space left on device", str(disk))
        assert not [path for path in disk.rglob("*") if path.name.startswith(".")], "and nothing half is left"


def test_a_screen_on_a_full_disk_is_told_once(headway, tmp_path):
    """`headway list > /dev/full`"""
    program = "import os, sys; os.dup2(os.open('/dev/full', os.O_WRONLY), 1)\nfrom headway.cli import main; main()"
    ended = headway("list", program=program)
    refused(ended, "No space left on device")
    assert ended.stderr.count("No space") == 1


def test_a_folder_that_is_removed_while_it_runs_reaches_the_user(headway, tmp_path):
    ended = headway(*TINY, program=REMOVE)
    refused(ended, "No such file or directory", "runs/markov-", "Start again")


@pytest.mark.parametrize("on", PLACES)
def test_junk_in_the_place_of_a_reference_reaches_the_user_and_stays(headway, tmp_path, on):
    assert headway(*TINY, "--task.references", "1").returncode == 0
    [reference] = [record for record in Store(tmp_path / "runs").records() if record.cell.settings.task.context == 1]
    others = [path for path in (tmp_path / "runs").iterdir() if path.name != reference.identity]
    for path in [*others, reference.path]:
        path.rename(tmp_path / path.name)
    (reference.path).mkdir()
    (reference.path / "junk").write_text("junk")
    ended = headway(*TINY, "--task.references", "1", "--on", on)
    refused(ended, reference.identity, "Move the folder away")
    assert [path.name for path in reference.path.iterdir()] == ["junk"]
