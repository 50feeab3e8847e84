"""Claims and figures by several processes: the files, words and verdicts of one, whatever becomes of a helper."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.experiments.made import place_quick_runs

import headway
from headway.experiments import find
from headway.experiments.drawing import Drawing
from headway.experiments.helpers import Helpers, asked_of
from headway.experiments.left_out import any_since_the_last_command
from headway.experiments.outcome import Outcome
from headway.experiments.pages import Drawn
from headway.records import Cell
from headway.store import Store, load

pytestmark = pytest.mark.usefixtures("unchecked")  # which helpers are not either

NAMES = ("ladder", "construction")
"""Few runs and figures."""


@pytest.fixture(autouse=True)
def worth_it(monkeypatch):
    monkeypatch.setattr("headway.experiments.drawing.WORTH", len(NAMES))


@pytest.fixture(scope="module")
def records(tmp_path_factory) -> Path:
    store = Store(tmp_path_factory.mktemp("drawing"))
    place_quick_runs(store)
    return store.root


def outcomes(records: Path) -> list[Outcome]:
    cells = {
        name: {run: Cell(settings, tuple(range(find(name).seeds["quick"])))
               for run, settings in find(name).grids["quick"].items()}
        for name in NAMES
    }  # fmt: skip
    return [
        Outcome(find(name), name, "quick", {run: load(records / cell.identity) for run, cell in group.items()})
        for name, group in cells.items()
    ]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def drawn(records: Path, folder: Path, cores: int) -> Drawing:
    found = outcomes(records)
    with Drawing(folder, cores) as drawing:
        drawing.begin(found)
        paths = [path for outcome in found for path in drawing.figures(outcome)]
    assert {path.name for path in paths} == {path.name for path in folder.iterdir()} - {".drawn.json"}
    return drawing


def test_one_process_and_two_write_the_same_files_to_the_bit(records, tmp_path):
    alone, helped = drawn(records, tmp_path / "one", 1), drawn(records, tmp_path / "two", 2)
    assert (alone.processes, helped.processes) == (1, 2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert not multiprocessing.active_children()
    again = drawn(records, tmp_path / "two", 2)
    assert again.processes == 1, "what lies there is not drawn again, and nobody is started for it"


def test_what_is_drawn_during_the_training_is_neither_judged_nor_drawn_again(records, tmp_path, monkeypatch):
    early, alone = outcomes(records), outcomes(records)
    with Drawing(tmp_path, 2) as drawing:
        drawing.early(early[0])
        asked = asked_of(early[0], tmp_path)
        assert drawing._helpers.answer(asked) is not None
        monkeypatch.setattr(type(early[0].experiment), "read", lambda *_: pytest.fail("judged again"))
        monkeypatch.setattr("headway.experiments.drawing.draw_figures", lambda *_: pytest.fail("drawn again"))
        now = outcomes(records)[:1]
        drawing.begin(now)
        assert drawing.early_ones == 1
        paths, told = drawing.figures(now[0]), now[0].findings()
        monkeypatch.undo()
    assert paths and all(path.exists() for path in paths)
    assert told == alone[0].findings()


def test_what_goes_wrong_in_a_helper_is_done_here(records, tmp_path):
    """The first helper is killed at its work; what the second is asked for lies nowhere."""
    found = outcomes(records)
    asked = [asked_of(outcome, tmp_path) for outcome in found]
    nowhere = replace(asked[0], records={"minimal": tmp_path / "nowhere"})
    helpers = Helpers()
    try:
        helpers.most = 1
        helpers.ask(asked[0])
        os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)
        assert helpers.answer(asked[0]) is None
        helpers.ask(nowhere)
        assert helpers.answer(nowhere) is None
        helpers.ask(asked[1])
        done = helpers.answer(asked[1])
        assert done is not None and done.judged == found[1].judged and done.drawn.paths and helpers.started == 2
    finally:
        helpers.close()


def test_an_interrupt_ends_all_helpers_at_once(records, tmp_path):
    with pytest.raises(KeyboardInterrupt), Drawing(tmp_path, 2) as drawing:
        drawing.begin(outcomes(records))
        assert len(multiprocessing.active_children()) == 2
        raise KeyboardInterrupt
    assert not multiprocessing.active_children()


def test_what_a_helper_complains_of_is_said_here_once(records, tmp_path, capsys):
    shutil.copytree(records, tmp_path / "runs")
    found = outcomes(tmp_path / "runs")
    damaged = found[0].records["minimal"].path
    numbers = damaged / "trajectory.safetensors"
    numbers.write_bytes(bytes(numbers.stat().st_size))
    with Drawing(tmp_path / "figures", 2) as drawing:
        drawing.early(found[0])
        done = drawing._helpers.answer(asked_of(found[0], tmp_path / "figures"))
        assert done is not None and done.drawn == Drawn([]) and capsys.readouterr().err == ""
        drawing.begin(found[:1])
        found[0].findings()
    said = capsys.readouterr().err
    assert said.count(str(damaged)) == 1 and said.endswith("It is left out here.\n")
    assert not found[0].complete and any_since_the_last_command()


def test_helpers_load_no_accelerator(records, tmp_path):
    """Every experiment, and all that its figures import."""
    code = (
        "import sys, headway.report.figures, headway.experiments.helpers\n"
        "from headway.experiments import NAMES, find\n"
        "for name in NAMES: find(name)\n"
        "sys.exit('jax' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(headway.__file__).parents[1])}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0
