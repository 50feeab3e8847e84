"""One bad record is named and left out; whatever is wrong with it, the rest goes on, soon and in little memory."""

import hashlib
import importlib
import json
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.attacks.shell import ROOT, call
from tests.fuzz.conftest import as_users_have_it  # noqa: F401 - without the run-time type checks of the other tests
from tests.fuzz.test_odd_records import ARRAYS, RECORD, forged
from tests.report.embedded import embedded_text

LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
from headway.cli import main
main()
"""
SECONDS = 60
RUNS = ("minimal", "full", "construction")


# Three runs made by formulas, which answer stages, ladder and construction.
MADE = """
import sys
from tests.experiments.made import made_results
from headway.experiments import find
from headway.records import Cell
from headway.store import Store
for name, run in (("ladder", "minimal"), ("ladder", "full"), ("construction", "construction")):
    seeds = tuple(range(find(name).seeds["quick"]))
    settings, trajectory = made_results(name, seeds=seeds)[run]
    with Store(sys.argv[1]).open(Cell(settings, seeds)) as work:
        work.place(trajectory, {"device": "none: made up"})
"""


@pytest.fixture(scope="module")
def sound(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sound") / "runs"
    ended = call(home, root.parent, root, program=MADE, PYTHONPATH=f"{ROOT / 'src'}:{ROOT}")
    assert ended.returncode == 0, ended.stderr
    return root


@pytest.fixture
def runs(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(sound, tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    return tmp_path / "runs"


@pytest.fixture
def main(capsys, monkeypatch) -> Iterator[Callable[..., tuple[int, str, str]]]:
    """`headway ARGUMENTS` in this process within a minute: code, out, err."""
    before = signal.getsignal(signal.SIGTERM)

    def late(*_: object) -> None:
        raise TimeoutError(f"not within {SECONDS} s")

    def act(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        signal.signal(signal.SIGALRM, late)
        signal.alarm(SECONDS)
        try:
            importlib.import_module("headway.cli").main([str(each) for each in arguments])
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        finally:
            signal.alarm(0)
        return code, *capsys.readouterr()

    yield act
    signal.signal(signal.SIGTERM, before)


def folder_of(runs: Path, which: str) -> Path:
    """The folder of one of RUNS."""
    told = {path.parent: json.loads(path.read_text()) for path in runs.glob(f"*/{RECORD}")}
    if which == "construction":
        return next(path for path, content in told.items() if content["cell"]["kind"] == "construction")
    wanted = "one-hot" if which == "minimal" else "learned"
    return next(
        path
        for path, content in told.items()
        if content["cell"]["kind"] == "markov" and content["cell"]["settings"]["model"]["embedding"] == wanted
    )


def resettled(folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Other settings under a seal, a name and a folder that fit them."""
    named = importlib.import_module("headway.records").named_by

    def edit(content: dict[str, Any]) -> None:
        change(content["cell"])
        content["identity"] = named(content["cell"])

    forged(folder, edit)
    return folder.rename(folder.with_name(json.loads((folder / RECORD).read_text())["identity"]))


def without(folder: Path, group: str, name: str) -> None:
    """One array less, under a stamp and a seal that fit."""
    arrays = importlib.import_module("headway.store.arrays")
    left = arrays.decode((folder / ARRAYS).read_bytes())
    del left[f"{group}/{name}"]
    data = arrays.encode(left)
    (folder / ARRAYS).write_bytes(data)
    stamp = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def edit(content: dict[str, Any]) -> None:
        content["files"][ARRAYS] = stamp
        content["clock_of"].pop(name, None)

    forged(folder, edit)


def names_of(folder: Path) -> list[tuple[str, str]]:
    decode = importlib.import_module("headway.store.arrays").decode
    found = [tuple(name.split("/", 1)) for name in decode((folder / ARRAYS).read_bytes())]
    return [(group, name) for group, name in found if group != "clocks"]


def rest_goes_on(said: tuple[int, str, str], bad: Path, elsewhere: str) -> None:
    """The command ended, named the record at most, and said something of another experiment."""
    code, out, err = said
    assert "Traceback" not in err
    assert code in (0, 2), err
    assert (bad.name in err) == (code == 2), err
    assert elsewhere in out, out[-3000:]


@pytest.mark.parametrize("which", RUNS)
def test_a_sealed_record_that_lacks_an_array_is_named_and_the_other_claims_are_told(runs, main, which):
    folder = folder_of(runs, which)
    named = 0
    for group, name in names_of(folder):
        kept = folder.with_name("kept")
        shutil.copytree(folder, kept)
        without(folder, group, name)
        said = main("claims", "--grid", "quick")
        rest_goes_on(said, folder, "A1 " if which == "construction" else "A20")
        named += said[0] == 2
        shutil.rmtree(folder)
        kept.rename(folder)
    assert named, "at least one array is needed"


@pytest.mark.slow
@pytest.mark.parametrize("which", RUNS)
def test_a_sealed_record_that_lacks_an_array_does_not_end_a_report(runs, main, which, tmp_path):
    folder = folder_of(runs, which)
    for group, name in names_of(folder)[:: 1 if which == "construction" else 3]:
        kept = folder.with_name("kept")
        shutil.copytree(folder, kept)
        without(folder, group, name)
        said = main("report", "--grid", "quick", "--document", tmp_path / "x.md", "--into", tmp_path / "page")
        rest_goes_on(said, folder, "A1 " if which == "construction" else "A20")
        assert (tmp_path / "page" / "report.html").is_file()
        shutil.rmtree(folder)
        kept.rename(folder)


def test_one_flipped_bit_costs_its_record_alone_and_a_thorough_list_finds_it(runs, main):
    folder = folder_of(runs, "minimal")
    data = bytearray((folder / ARRAYS).read_bytes())
    data[-9] ^= 1
    (folder / ARRAYS).write_bytes(data)
    said = main("claims", "--grid", "quick")
    assert said[0] == 2 and "does not have the SHA-256" in said[2]
    rest_goes_on(said, folder, "A20")
    code, out, _ = main("list")
    assert code == 0 and f"done       {folder.name}" in out, "a quick look does not read numbers"
    code, out, _ = main("list", "--check")
    assert code == 1
    assert f"damaged    {folder.name}" in out and "2 records are intact; 1 are damaged" in out
    shutil.rmtree(folder)
    assert main("list", "--check")[0] == 0


@pytest.mark.parametrize("name", [RECORD, ARRAYS])
def test_a_sparse_file_of_forty_gigabytes_is_not_read(runs, home, tmp_path, name):
    folder = folder_of(runs, "minimal")
    size = 40 << 30
    if name == ARRAYS:
        stamp = {"bytes": size, "sha256": "0" * 64}
        forged(folder, lambda content: content["files"].update({ARRAYS: stamp}))
    with (folder / name).open("r+b") as file:
        file.truncate(size)
    for words in (["list", "--check"], ["claims", "--grid", "quick"]):
        ended = call(home, tmp_path, *words, program=LIMITED)
        assert ended.returncode == (1 if words[0] == "list" else 2), ended.stderr
        assert f"{name} has {size} bytes" in ended.stdout + ended.stderr and "Traceback" not in ended.stderr


@pytest.mark.parametrize("dtype", ["S1000000", "(1000,1000)f8", "float128", "O", "<f8", 7, None, ["float32"]])
def test_a_type_that_asks_for_gigabytes_is_refused_by_name(runs, home, tmp_path, dtype):
    folder = folder_of(runs, "minimal")
    how = {"attention_by_lag": {"from": dtype, "to": "float16"}}
    forged(folder, lambda content: content["reduced"].update({"arrays": how}))
    ended = call(home, tmp_path, "list", "--check", program=LIMITED)
    assert ended.returncode == 1 and "does not know" in ended.stdout, ended.stdout + ended.stderr


@pytest.mark.parametrize("depth", [50, 700, 100_000])
def test_provenance_that_is_nested_deeply_is_refused(runs, main, depth):
    folder = folder_of(runs, "minimal")
    text = (folder / RECORD).read_text()
    deep = '{"a":' * depth + "1" + "}" * depth
    if depth < 300:
        forged(folder, lambda content: content.update(provenance=json.loads(deep)))
    else:  # too deep to be sealed in the usual way
        (folder / RECORD).write_text(text.replace('"device": "none: made up"', f'"device": {deep}'))
    for words in (["list", "--check"], ["claims", "--grid", "quick"], ["report", "--grid", "quick", "--no-page"]):
        code, out, err = main(*words)
        assert code == (1 if words[0] == "list" else 2)
        assert folder.name in out + err and "Traceback" not in err


@pytest.mark.parametrize("huge", [10**9, 10**30, pytest.param(2**62, marks=pytest.mark.slow)])
@pytest.mark.parametrize("which", ["minimal", pytest.param("full", marks=pytest.mark.slow)])
@pytest.mark.parametrize("setting", ["model.heads", "model.layers", "task.horizon", "task.vocab", "training.steps"])
def test_a_record_whose_settings_are_huge_hangs_neither_claims_nor_page(runs, main, which, setting, huge):
    group, name = setting.split(".")

    def change(cell: dict[str, Any]) -> None:
        cell["settings"][group][name] = huge

    bad = resettled(folder_of(runs, which), change)
    said = main("claims", "--grid", "quick")
    rest_goes_on(said, bad, "A20")
    began = time.monotonic()
    page = importlib.import_module("headway.watch.handler").Handler(runs).page("/")
    assert len(page) < 30_000_000 and bad.name in embedded_text(page)
    assert time.monotonic() - began < SECONDS


def test_a_truncated_or_odd_array_is_named_and_the_rest_goes_on(runs, main):
    """Arrays of other shapes, under seals that fit."""
    folder = folder_of(runs, "minimal")
    arrays = importlib.import_module("headway.store.arrays")
    whole = arrays.decode((folder / ARRAYS).read_bytes())
    for shape in ((0,), (8, 1), (8, 3, 1000)):
        changed = {**whole, "arrays/kl_rungs": np.zeros(shape, np.float32)}
        data = arrays.encode(changed)
        (folder / ARRAYS).write_bytes(data)
        stamp = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        forged(folder, lambda content, stamp=stamp: content["files"].update({ARRAYS: stamp}))
        said = main("claims", "--grid", "quick")
        rest_goes_on(said, folder, "A20")
        assert said[0] == 2
