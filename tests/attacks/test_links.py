"""Nothing is written through a link, whatever name a link is planted under: what it points to stays as it is."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.attacks.shell import TINY
from tests.fuzz.fuzzing import fuzz, in_many_cases

from headway.records import Cell, Trajectory
from headway.store import Store, StoreError, failure, files
from headway.store.output import own_folder, write_output
from headway.tasks.run import Settings

CELL = Cell(Settings(), (0,))
PRECIOUS = b"alias ls='ls --color'\n"
LINKED = (
    "{id}",
    "{id}.lock",
    "{id}.alive",
    "{id}.failed.json",
    "{id}.failed.json.tmp",
    "{id}.partial",
    "{id}.partial/cell.json",
    "{id}.partial/cell.json.tmp",
    "{id}.partial/checkpoint.json",
    "{id}.partial/checkpoint.json.tmp",
    "{id}.partial/part-000001.safetensors",
    "{id}.partial/part-000001.safetensors.tmp",
    "{id}.partial/state-000001.safetensors.tmp",
    "{id}.partial/record",
    "{id}.partial/record/record.json.tmp",
    "{id}.damaged-1",
)
"""Names that the work on a cell writes, or may meet."""


@pytest.fixture(autouse=True)
def disk_that_does_not_wait(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def worked(root: Path) -> None:
    """Everything that writes: a failure, a checkpoint, a record; a refusal is the store's own error."""
    values = Trajectory((0,), {"step": np.arange(1)}, {"loss": np.zeros((1, 1))}, {"loss": "step"})
    for step in ("fail", "save", "finish"):
        try:
            with Store(root).open(CELL, wait=False) as work:
                if work.record is not None:
                    return
                position = work.resume().position
                if step == "fail":
                    raise ZeroDivisionError("planned")
                if position == 0:
                    work.save(values, {"x": values["loss"]}, 1)
                if step == "finish":
                    work.finish({}, {"device": "none"})
        except (StoreError, ZeroDivisionError):
            continue


def plant(root: Path, names: list[str], to_folder: bool) -> tuple[Path, Path]:
    """Links under these names, to a file or a folder outside; one inside of a link that was planted is left out."""
    outside = root.parent / "outside"
    outside.mkdir(parents=True)
    (outside / "precious").write_bytes(PRECIOUS)
    root.mkdir()
    for name in names:
        path = root / name.format(id=CELL.identity)
        if any(above.is_symlink() for above in path.parents) or os.path.lexists(path):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(outside if to_folder else outside / "precious")
    return outside, outside / "precious"


@in_many_cases(60, 1500)
def test_links_under_any_of_the_names_that_are_written_lead_nowhere(tmp_path, cases):
    numbers = iter(range(10**6))

    def check(case: tuple[list[str], bool]) -> None:
        root = tmp_path / str(next(numbers)) / "runs"
        outside, precious = plant(root, *case)
        worked(root)
        assert precious.read_bytes() == PRECIOUS
        assert [path.name for path in outside.iterdir()] == ["precious"]
        assert root.is_dir()

    names = st.lists(st.sampled_from(LINKED), min_size=1, max_size=6, unique=True)
    fuzz(cases, st.tuples(names, st.booleans()), check)


@pytest.mark.parametrize("name", LINKED)
def test_each_name_alone_leads_nowhere_and_the_cell_is_made_or_refused(tmp_path, name):
    root = tmp_path / "runs"
    _, precious = plant(root, [name], False)
    worked(root)
    assert precious.read_bytes() == PRECIOUS
    if name in ("{id}", "{id}.lock"):
        with pytest.raises(StoreError), Store(root).open(CELL):
            pass
    else:
        assert Store(root).has(CELL), "the run is not kept from its end"


def test_a_dangling_link_makes_no_file_where_it_points(tmp_path):
    folder = tmp_path / "markov-0123456789abcdef"
    failure.note_of(folder).with_name(failure.note_of(folder).name + files.TEMPORARY).symlink_to(tmp_path / "made")
    failure.note(folder, ZeroDivisionError("planned"))
    assert "planned" in (failure.read(folder) or "")
    assert not (tmp_path / "made").exists()


def test_pages_figures_and_tables_replace_a_link_and_are_not_written_through_it(tmp_path):
    (tmp_path / "precious").write_bytes(PRECIOUS)
    (tmp_path / "page.html").symlink_to(tmp_path / "precious")
    write_output(tmp_path / "page.html", b"page")
    assert (tmp_path / "precious").read_bytes() == PRECIOUS
    assert (tmp_path / "page.html").read_bytes() == b"page" and not (tmp_path / "page.html").is_symlink()
    (tmp_path / "figures").symlink_to(tmp_path)
    with pytest.raises(StoreError, match="link"):
        own_folder(tmp_path / "figures")


def test_a_command_in_a_folder_full_of_links_changes_nothing_outside(headway, tmp_path):
    """The names of a finished run, planted before the same run is made by somebody else."""
    assert headway(*TINY, "--into", "first").returncode == 0
    [made] = Store(tmp_path / "first").records()
    (tmp_path / "precious").write_bytes(PRECIOUS)
    for name in LINKED[2:]:
        path = tmp_path / "runs" / name.format(id=made.identity)
        if not path.parent.is_symlink() and "record" not in name and not name.endswith((".partial", "damaged-1")):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(tmp_path / "precious")
    (tmp_path / "runs" / ".sweep").symlink_to(tmp_path / "first")
    ended = headway(*TINY)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert (tmp_path / "precious").read_bytes() == PRECIOUS
    assert Store(tmp_path / "runs").has(made.cell)
    beside = set((tmp_path / "first").iterdir())
    other = headway(*TINY, "--training.steps", "3", "--on", "processes:1")
    assert other.returncode == 2 and "nothing is written through one" in other.stderr, other.stderr[-2000:]
    assert set((tmp_path / "first").iterdir()) == beside
