"""A folder of runs, whoever made it, never runs code: what lies in it is read as numbers and text, or not at all."""

import shutil

import pytest
from tests.attacks.shell import TINY

from headway.store import Store

# Ends the process as soon as anything in the folder of compiled programs that came with the runs is touched.
GUARDED = """
import os, sys
def hear(event, arguments):
    if event in ("open", "os.link", "os.rename", "os.scandir", "os.listdir", "os.mkdir"):
        if any(".compiled" in os.fsdecode(each) for each in arguments if isinstance(each, (str, bytes))):
            os.write(2, f"{event} {arguments}".encode())
            os._exit(66)
sys.addaudithook(hear)
from headway.cli import main
main()
"""


def test_programs_that_came_with_a_folder_of_runs_are_not_even_opened(headway, home, tmp_path):
    assert headway(*TINY, "--into", tmp_path / "first").returncode == 0
    programs = list(home.glob("cache/headway/compiled/*/*-cache"))
    assert programs, "the user's own cache has them"
    planted = tmp_path / "runs" / ".compiled" / programs[0].parent.name
    shutil.copytree(programs[0].parent, planted)
    ended = headway(*TINY, program=GUARDED)
    assert ended.returncode == 0, ended.stderr[-2000:]
    [one], [two] = (list(Store(tmp_path / name).records()) for name in ("first", "runs"))
    assert one.files == two.files


@pytest.mark.slow
@pytest.mark.parametrize("where", ["/proc/nobody", "/dev/null", "relative"])
def test_without_a_place_for_a_cache_everything_works(headway, where):
    ended = headway(*TINY, HOME="/proc/nobody", XDG_CACHE_HOME=where)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert "compiles anew" not in ended.stderr


def test_a_cache_that_others_can_write_is_ignored_in_one_sentence(headway, tmp_path):
    place = tmp_path / "cache" / "headway" / "compiled"
    place.mkdir(parents=True)
    place.chmod(0o777)
    ended = headway(*TINY, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert ended.stderr.count(f"{place} can be written by others, so no compiled programs are taken from there") == 1
    assert not list(place.iterdir())


@pytest.mark.slow
def test_a_module_in_the_working_folder_is_not_imported_by_workers(headway, tmp_path):
    """Somebody calls `headway run --on processes:1` in a folder that came with a numpy.py."""
    for name in ("numpy", "jax", "rich", "headway"):
        (tmp_path / f"{name}.py").write_text(f"open('executed', 'w').write({name!r})\n")
    program = "import sys; sys.path = [each for each in sys.path if each]\nfrom headway.cli import main; main()"
    ended = headway(*TINY, "--on", "processes:1", program=program)
    assert not (tmp_path / "executed").exists()
    assert ended.returncode == 0, ended.stderr[-2000:]
