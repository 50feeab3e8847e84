"""Whatever lies in a folder of records, it is read or refused with the reason, and stays as it is."""

import contextlib
import hashlib
import importlib
import io
import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.fuzz.fuzzing import fuzz, in_many_cases, is_a_message, values

RECORD, ARRAYS, WEIGHTS = "record.json", "trajectory.safetensors", "weights.safetensors"
STATES = {"done", "unfinished", "running", "damaged", "foreign", "failed", "stale", "waiting"}
Change = Callable[[Path], None]


@pytest.fixture(scope="module")
def sound(as_users_have_it, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one whole record."""
    records, store = importlib.import_module("headway.records"), importlib.import_module("headway.store")
    settings = importlib.import_module("headway.presets").minimal_quick()
    arrays = {"excess_loss": np.ones((2, 3), np.float32), "kl_rungs": np.ones((2, 3, 4), np.float32)}
    made = records.Trajectory((0, 1), {"evaluation": np.arange(3)}, arrays, dict.fromkeys(arrays, "evaluation"))
    root = tmp_path_factory.mktemp("sound") / "runs"
    with store.Store(root).open(records.Cell(settings, (0, 1))) as work:
        work.place(made, store.provenance("none: made up", 0.0), {"query": np.ones((2, 3))})
    return root


def forged(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change record.json and give it a seal that fits, as another version would."""
    files = importlib.import_module("headway.store.files")
    content = files.unseal(files.parse((folder / RECORD).read_bytes()))
    change(content)
    with contextlib.suppress(ValueError):  # NaN cannot be sealed: then it is a broken file
        (folder / RECORD).write_bytes(files.seal(content))
        return
    (folder / RECORD).write_text(json.dumps(content))


def places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value inside."""
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [path, *(way for key, value in inner for way in places(value, (*path, key)))]


def at(content: Any, way: tuple[Any, ...], value: Any, how: str) -> None:
    for key in way[:-1]:
        content = content[key]
    if how == "remove":
        del content[way[-1]]
    elif how == "add" and isinstance(content, dict):
        content[str(value)[:20]] = value
    else:
        content[way[-1]] = value


def bytes_changed(name: str, place: int, how: str, data: bytes) -> Change:
    def change(folder: Path) -> None:
        old = (folder / name).read_bytes()
        cut = place % len(old)
        flipped = bytes([old[cut] ^ (1 << place % 8)])
        new = {"cut": old[:cut], "flip": old[:cut] + flipped + old[cut + 1 :], "insert": old[:cut] + data + old[cut:]}
        (folder / name).write_bytes(new.get(how, data))

    return change


def json_changed(way: int, value: Any, how: str) -> Change:
    def change(folder: Path) -> None:
        def edit(content: dict[str, Any]) -> None:
            ways = places(content)[1:]
            at(content, ways[way % len(ways)], value, how)

        forged(folder, edit)

    return change


def arrays_changed(name: str, shape: list[int], dtype: str) -> Change:
    """Other arrays under a stamp and a seal that fit."""

    def change(folder: Path) -> None:
        encode = importlib.import_module("headway.store.arrays").encode
        data = encode(
            {"clocks/evaluation": np.arange(3), "arrays/excess_loss": np.ones((2, 3)), name: np.ones(shape, dtype)}
        )
        (folder / ARRAYS).write_bytes(data)
        stamp = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        forged(folder, lambda content: content["files"].update({ARRAYS: stamp}))

    return change


def thing_changed(name: str, how: str) -> Change:
    """Something else in the place of a file."""

    def change(folder: Path) -> None:
        (folder / name).unlink()
        acts: dict[str, Callable[[], Any]] = {
            "folder": (folder / name).mkdir,
            "pipe": lambda: os.mkfifo(folder / name),
            "link": lambda: (folder / name).symlink_to("/dev/zero"),
            "circle": lambda: (folder / name).symlink_to(name),
            "deep": lambda: (folder / name).write_text('{"a":' * 100_000),
            "number": lambda: (folder / name).write_text('{"version": ' + "9" * 5000 + "}"),
        }
        acts.get(how, lambda: None)()

    return change


names = st.sampled_from([RECORD, ARRAYS, WEIGHTS])
numbers = st.integers(0, 2**16)
changes = st.one_of(
    st.builds(
        bytes_changed, names, numbers, st.sampled_from(["cut", "flip", "insert", "replace"]), st.binary(max_size=9)
    ),
    st.builds(json_changed, numbers, values, st.sampled_from(["replace", "replace", "remove", "add"])),
    st.builds(
        arrays_changed,
        st.sampled_from(
            ["arrays/excess_loss", "arrays/kl_rungs", "clocks/evaluation", "facts/x", "soup", "arrays/", ""]
        ),
        st.lists(st.integers(0, 3), max_size=4),
        st.sampled_from(["float32", "float64", "int8", "bool", "complex64", "uint64"]),
    ),
    st.builds(thing_changed, names, st.sampled_from(["gone", "folder", "pipe", "link", "circle", "deep", "number"])),
)


def looked_at(folder: Path) -> dict[str, Any]:
    """Everything in a folder, without following a link or waiting at a pipe."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        found[str(path)] = path.read_bytes() if stat.S_ISREG(mode) else stat.S_IFMT(mode)
    return found


def said(*arguments: str) -> str:
    """What a command says when it ends with an error; nothing when it does not."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            importlib.import_module("headway.cli").main(list(arguments))
        except SystemExit as end:
            assert end.code in (0, 2), end.code
    assert "Traceback" not in out.getvalue() + err.getvalue()
    return err.getvalue()


@in_many_cases(80, 2000)
def test_a_record_is_read_or_refused_with_the_reason(sound, tmp_path, cases):
    store = importlib.import_module("headway.store")
    [identity] = [path.name for path in sound.iterdir()]

    def check(change):
        shutil.rmtree(tmp_path / "runs", ignore_errors=True)
        root = Path(shutil.copytree(sound, tmp_path / "runs"))
        change(root / identity)
        before = looked_at(root)
        try:
            record = store.load(root / identity)
            record.verify()
            assert record.cell.identity == record.identity == identity
        except store.StoreError as error:
            assert is_a_message(str(error)), error
            assert identity in str(error)
        [entry] = store.Store(root).status(thorough=True)
        assert entry.state in STATES and "\n" not in entry.summary
        refused: list[Exception] = []
        found = list(store.Store(root).records(on_damaged=refused.append))
        assert len(found) + len(refused) == 1
        assert looked_at(root) == before

    fuzz(cases, changes, check)


@in_many_cases(8, 150)
def test_a_record_is_exported_and_listed_or_refused_in_words(sound, tmp_path, cases):
    [identity] = [path.name for path in sound.iterdir()]

    def check(change):
        shutil.rmtree(tmp_path / "runs", ignore_errors=True)
        root = Path(shutil.copytree(sound, tmp_path / "runs"))
        change(root / identity)
        table = tmp_path / "table.csv"
        words = said("export", str(root / identity), str(table), "--overwrite")
        assert not words or is_a_message(words), words
        assert words == "" or not table.exists()
        assert [path.name for path in tmp_path.iterdir() if path.suffix not in (".csv", "")] == []
        table.unlink(missing_ok=True)
        assert said("list", "--from", str(root)) == ""

    fuzz(cases, changes, check)


@in_many_cases(20, 400)
def test_unfinished_work_is_listed_and_goes_on_or_is_set_aside(sound, tmp_path, cases):
    """What was saved and cannot be read is kept under another name, and the cell starts anew."""
    store, records = importlib.import_module("headway.store"), importlib.import_module("headway.records")
    [whole] = store.Store(sound).records()
    cell, trajectory = whole.cell, whole.trajectory
    begun = tmp_path / "begun"
    with contextlib.suppress(KeyboardInterrupt), store.Store(begun).open(cell) as work:
        work.resume()
        work.save(trajectory, {"state": np.ones(3)}, 7)
        raise KeyboardInterrupt
    unfinished = [path.name for path in (begun / f"{cell.identity}.partial").iterdir()]
    assert len(unfinished) == 4
    assert isinstance(cell, records.Cell)

    def check(drawn):
        name, place, how, data = drawn
        shutil.rmtree(tmp_path / "runs", ignore_errors=True)
        root = Path(shutil.copytree(begun, tmp_path / "runs"))
        bytes_changed(unfinished[name], place, how, data)(root / f"{cell.identity}.partial")
        for entry in store.Store(root).status():
            assert entry.state in STATES and "\n" not in entry.summary
        with store.Store(root).open(cell) as work:
            resumed = work.resume()
            assert resumed.position == (7 if resumed.warning is None else 0) or resumed.position == 0
            work.place(trajectory, {})
        store.Store(root).load(cell).verify()

    hows = st.sampled_from(["cut", "flip", "insert", "replace"])
    fuzz(cases, st.tuples(st.integers(0, 3), numbers, hows, st.binary(max_size=9)), check)
