"""Records that many machines wrote, each into a folder of its own: one command reads them all."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headway.store import Store

KIND = "construction"


@pytest.fixture
def folders(made_records, tmp_path) -> list[Path]:
    """Three copies of the same records; in the second the hand-made solution has other numbers."""
    a, b, c = (tmp_path / name for name in "abc")
    for folder in (a, b, c):
        shutil.copytree(made_records, folder)
    [record] = [each for each in Store(a).records() if each.cell.kind == KIND]
    shutil.rmtree(b / record.identity)
    arrays = {name: values + 1 for name, values in record.trajectory.arrays.items()}
    with Store(b).open(record.cell) as work:
        work.place(replace(record.trajectory, arrays=arrays), {})
    return [a, b, c]


def verdict(headway, *folders: Path) -> str:
    said = headway("claims", "A20", "--grid", "quick", "--from", *folders)
    assert said.code == 0, said.err
    return said.out


def test_the_same_record_in_several_folders_counts_once(headway, folders):
    a, _, c = folders
    assert verdict(headway, a, c) == verdict(headway, a) == verdict(headway, c)


def test_of_records_that_contradict_each_other_the_first_folder_has_the_say(headway, folders):
    a, b, _ = folders
    assert verdict(headway, a) != verdict(headway, b)
    assert verdict(headway, a, b) == verdict(headway, a)
    assert verdict(headway, b, a) == verdict(headway, b)


def test_what_one_folder_lacks_another_brings(headway, folders):
    a, _, c = folders
    for path in (*a.glob(f"{KIND}-*"), *c.glob("markov-*")):
        shutil.rmtree(path)
    assert verdict(headway, a, c) == verdict(headway, c, a) != verdict(headway, a)


def test_a_listing_tells_of_every_folder_what_it_holds_even_of_a_damaged_one(headway, folders):
    a, b, c = folders
    for path in b.glob("*/trajectory.safetensors"):
        path.write_bytes(b"half")
    said = headway("list", "--from", a, b, c)
    assert said.code == 0
    assert [line for line in said.out.splitlines() if line.startswith("/")] == [f"{each}:" for each in folders]
    assert (said.out.count("\n  done "), said.out.count("\n  damaged ")) == (6, 3)
    assert "construction  quick  1/1 runs" in " ".join(said.out.split()).replace(" quick 1/1", "  quick  1/1")
