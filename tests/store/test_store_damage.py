"""A folder that is not what it should be gives a clear error and is never touched."""

import json
import os
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headway.records import Cell
from headway.settings.plain import Open
from headway.store import Store, StoreError, files, load
from headway.tasks.run import Settings

ARRAYS = "trajectory.safetensors"


def rewrite(folder, change):
    """Change record.json as a forger would: with a seal that fits."""
    content = files.unseal(files.parse((folder / "record.json").read_bytes()))
    change(content)
    (folder / "record.json").write_bytes(files.seal(content))


def edit(folder, old, new):
    path = folder / "record.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def truncate(folder):
    data = (folder / ARRAYS).read_bytes()
    (folder / ARRAYS).write_bytes(data[:-1])


def flip(folder, name=ARRAYS, place=-1):
    data = bytearray((folder / name).read_bytes())
    data[place] ^= 1
    (folder / name).write_bytes(data)


def replace_by_link(folder):
    target = folder.parent.parent / "elsewhere"
    shutil.move(folder / ARRAYS, target)
    (folder / ARRAYS).symlink_to(target)


def replace_by_pipe(folder):
    (folder / "record.json").unlink()
    os.mkfifo(folder / "record.json")


def rename_setting(content):
    content["cell"]["settings"]["task"]["vokab"] = content["cell"]["settings"]["task"].pop("vocab")


DAMAGES = {
    "truncated": (truncate, "damaged", r"trajectory.safetensors has \d+ bytes where \d+ were written"),
    "bit-flipped": (flip, "damaged", "does not have the SHA-256 it was written with"),
    "without-arrays": (lambda f: (f / ARRAYS).unlink(), "damaged", "trajectory.safetensors is missing"),
    "weights-lost": (
        lambda f: (f / "weights.safetensors").unlink(),
        "damaged",
        "weights.safetensors is missing",
    ),
    "weights-flipped": (lambda f: flip(f, "weights.safetensors"), "damaged", "does not have the SHA-256"),
    "without-record": (
        lambda f: (f / "record.json").unlink(),
        "foreign",
        "not a Headway record: it has no record.json",
    ),
    "bad-json": (lambda f: edit(f, "{", ""), "damaged", "record.json is damaged: it is not valid JSON"),
    "not-an-object": (lambda f: (f / "record.json").write_text("[1]"), "damaged", "JSON, but not an object"),
    "deep-json": (lambda f: (f / "record.json").write_text("[" * 10**5), "damaged", "not valid JSON"),
    "with-nan": (lambda f: edit(f, '"seconds": 0.5', '"seconds": NaN'), "damaged", "it contains NaN"),
    "edited-by-hand": (
        lambda f: edit(f, '"ratio": 1.7', '"ratio": 1.8'),
        "damaged",
        "does not fit the checksum in it",
    ),
    "another-program": (
        lambda f: edit(f, "headway record", "recipe"),
        "foreign",
        "not a Headway record, though it has",
    ),
    "future-version": (
        lambda f: rewrite(f, lambda c: c.update(version=2)),
        "foreign",
        r"format version 2, and this Headway reads version 1.*Use the version of Headway that made it",
    ),
    "other-settings": (
        lambda f: rewrite(f, rename_setting),
        "foreign",
        r"Chain lacks 'vocab': made by another version of Headway",
    ),
    "other-kind": (
        lambda f: rewrite(f, lambda c: c["cell"].update(kind="soup")),
        "damaged",
        "its settings have the identity soup-",
    ),
    "other-identity": (
        lambda f: rewrite(f, lambda c: c["cell"]["settings"]["task"].update(ratio=1.8)),
        "damaged",
        "its settings have the identity markov-",
    ),
    "a-link": (replace_by_link, "damaged", "is not an ordinary file|has .* bytes where"),
    "a-pipe": (replace_by_pipe, "damaged", "record.json is not an ordinary file"),
    "a-file-elsewhere": (
        lambda f: rewrite(f, lambda c: c["files"].update({"../secret": c["files"][ARRAYS]})),
        "damaged",
        "it names the files",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_or_foreign_folder_is_named_explained_and_left_as_it_is(damage, record, store, worker, fingerprint):
    harm, state, text = DAMAGES[damage]
    harm(record.path)
    before = fingerprint(store.root)
    with pytest.raises(StoreError, match=text) as caught, store.open(worker.CELL):
        pass
    assert str(record.path) in str(caught.value)
    assert "othing was changed" in str(caught.value)
    with pytest.raises(StoreError, match=text):
        load(record.path).verify()
    [entry] = store.status(thorough=True)
    assert entry.state == state
    assert entry.identity == worker.CELL.identity
    assert fingerprint(store.root) == before


def test_no_flipped_bit_goes_unnoticed(record):
    generator = np.random.default_rng(0)
    for name in ("record.json", ARRAYS, "weights.safetensors"):
        whole = (record.path / name).read_bytes()
        for place in range(0, len(whole), 1 + len(whole) // 300):
            changed = bytearray(whole)
            changed[place] ^= 1 << generator.integers(8)
            (record.path / name).write_bytes(changed)
            with pytest.raises(StoreError):
                load(record.path).verify()
        (record.path / name).write_bytes(whole)
    load(record.path).verify()


class Payload:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def test_a_pickle_in_the_place_of_arrays_is_refused_and_not_run(record, store, worker, tmp_path):
    import hashlib

    data = pickle.dumps(Payload(tmp_path / "ran"))
    pickle.loads(data)
    assert (tmp_path / "ran").exists(), "the payload works"
    (tmp_path / "ran").unlink()

    (record.path / ARRAYS).write_bytes(data)
    stamp = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    rewrite(record.path, lambda content: content["files"].update({ARRAYS: stamp}))
    with pytest.raises(StoreError, match=r"trajectory\.safetensors is damaged: not a safetensors file"):
        load(record.path).trajectory  # noqa: B018
    with pytest.raises(StoreError), store.open(worker.CELL):
        pass
    assert not (tmp_path / "ran").exists()


def test_the_record_of_another_cell_does_not_stand_in_for_this_one(record, store, worker):
    other = replace(worker.CELL, seeds=(4, 5, 6))
    shutil.copytree(record.path, store.root / other.identity)
    with pytest.raises(StoreError, match=f"this is the record of another cell, {worker.CELL.identity}"):
        store.load(other)
    assert load(store.root / other.identity).cell == worker.CELL


def test_a_link_in_the_place_of_a_record_is_refused(record, store, worker, tmp_path):
    shutil.move(record.path, tmp_path / "moved")
    record.path.symlink_to(tmp_path / "moved")
    with (
        pytest.raises(StoreError, match="this is a link, and the store keeps real folders"),
        store.open(worker.CELL),
    ):
        pass
    assert load(tmp_path / "moved").cell == worker.CELL


@pytest.mark.parametrize("kind", ["../markov", "markov/..", " ", "MARKOV"])
def test_a_cell_cannot_leave_the_store(kind, store):
    with (
        pytest.raises(ValueError, match="holds settings of the kind 'markov'"),
        store.open(Cell(Settings(), (0,), kind)),
    ):
        pass
    assert not store.root.exists()


@pytest.mark.parametrize("kind", ["../copy", "copy/..", " ", "COPY"])
def test_a_users_kind_cannot_leave_the_store(kind, store):
    with pytest.raises(ValueError, match="cannot name a folder of the store"):
        store.has(Cell(Open({"task": {}}), (0,), kind, "0123456789abcdef"))


def test_settings_of_the_wrong_kind_are_refused_before_they_are_computed(store):
    with pytest.raises(ValueError, match="holds Chain, but it needs the settings of a whole run"):
        store.has(Cell(Settings().task, (0,)))
    with pytest.raises(ValueError, match="'construction' holds settings of the kind 'markov'"):
        store.has(Cell(Settings(), (0,), "construction"))


@pytest.mark.parametrize(
    "name", ["cell.json", "checkpoint.json", "state-000002.safetensors", "part-000001.safetensors"]
)
@pytest.mark.parametrize("harm", ["flipped", "lost", "link"])
def test_damaged_unfinished_work_is_set_aside_told_and_begun_anew(
    name, harm, store, worker, expected, same, fingerprint
):
    part, state = worker.advance(worker.start(), 8)
    with store.open(worker.CELL) as work:
        work.resume()
        work.save(part, state, 8)
        part, state = worker.advance(state, 8)
        work.save(part, state, 16)
    partial = store.root / f"{worker.CELL.identity}.partial"
    if harm == "flipped":
        flip(partial, name, 100)
    elif harm == "lost":
        (partial / name).unlink()
    else:
        shutil.move(partial / name, store.root / "elsewhere")
        (partial / name).symlink_to(store.root / "elsewhere")
    before = fingerprint(partial)
    with store.open(worker.CELL) as work:
        resumed = work.resume()
        assert (resumed.parts, resumed.checkpoint, resumed.position) == ([], None, 0)
        assert f"It is kept as {worker.CELL.identity}.damaged-1" in (resumed.warning or "")
        assert same(worker.compute(work), expected)
    aside = store.root / f"{worker.CELL.identity}.damaged-1"
    assert fingerprint(aside) == before
    assert {entry.identity: entry.state for entry in store.status()} == {
        worker.CELL.identity: "done",
        aside.name: "damaged",
    }


def test_a_link_in_the_place_of_unfinished_work_is_not_followed(store, worker, tmp_path, fingerprint):
    part, state = worker.advance(worker.start(), 8)
    with store.open(worker.CELL) as work:
        work.resume()
        work.save(part, state, 8)
    partial, elsewhere = store.root / f"{worker.CELL.identity}.partial", tmp_path / "elsewhere"
    shutil.move(partial, elsewhere)
    (elsewhere / "thesis.txt").write_text("years of work")
    partial.symlink_to(elsewhere)
    before = fingerprint(elsewhere)
    with store.open(worker.CELL) as work:
        assert "it is not a folder" in (work.resume().warning or "")
        worker.compute(work)
    assert fingerprint(elsewhere) == before


def test_what_is_missing_is_told_apart_from_what_is_damaged(record, store, worker, tmp_path):
    with pytest.raises(
        StoreError, match=r"there is no such folder\. Check the name; `headway list` shows what is stored"
    ):
        store.load(replace(worker.CELL, seeds=(9,)))
    with pytest.raises(StoreError, match=r"this is a folder of records\. Name one of those in it"):
        load(store.root)
    partial = tmp_path / f"{worker.CELL.identity}.partial"
    partial.mkdir()
    with pytest.raises(StoreError, match=r"this cell is unfinished\. Start its run again to finish it"):
        load(partial)


def test_a_damaged_record_stops_a_listing_unless_somebody_takes_the_error(record, store, worker):
    other = replace(worker.CELL, seeds=(4,))
    with store.open(other) as work:
        work.place(replace(record.trajectory, seeds=(4,), **cut(record.trajectory)), {})
    truncate(record.path)
    with pytest.raises(StoreError, match="bytes where"):
        list(store.records())
    errors = []
    assert [found.cell for found in store.records(on_damaged=errors.append)] == [other]
    assert [error.path for error in errors] == [record.path]


def cut(trajectory):
    """The first seed alone."""
    return {
        group: {name: values[:1] for name, values in getattr(trajectory, group).items()}
        for group in ("arrays", "facts")
    }


def test_json_of_a_record_is_plain_and_says_what_it_is(record):
    content = json.loads((record.path / "record.json").read_text())
    assert content["format"] == "headway record"
    assert content["cell"]["seeds"] == [3, 1, 2]
    assert content["clock_of"]["kl_rungs"] == "evaluation"
    assert np.all([len(stamp["sha256"]) == 64 for stamp in content["files"].values()])


def test_a_store_that_is_not_there_is_empty(tmp_path, worker):
    store = Store(tmp_path / "nothing")
    assert (store.has(worker.CELL), list(store.records()), store.status()) == (False, [], [])
    assert not store.root.exists()
