"""`headway bench`: quick shapes from end to end, showing without measuring, and words for what goes wrong."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bench.made import EVERY_PART

from benchmarks.bench import alternate, parts
from benchmarks.bench.cases import case
from benchmarks.bench.parts import forms
from benchmarks.bench.record import read_all, write

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def records(tmp_path) -> Path:
    for record in EVERY_PART:
        write(record, tmp_path / "bench")
    return tmp_path / "bench"


def test_help_loads_neither_the_accelerators_nor_numpy():
    code = (
        "import sys\nfrom headway.cli import main\ntry:\n    main(['bench', '--help'])\nexcept SystemExit as end:\n"
        "    assert not end.code\nheavy = {'jax', 'torch', 'numpy', 'numba', 'matplotlib', 'equinox'}\n"
        "sys.stderr.write(' '.join(sorted(heavy & set(sys.modules))))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    outcome = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert all(word in outcome.stdout for word in ("rivals", "scaling", "start", "evaluation", "--quick", "--document"))


@pytest.fixture
def only_minimal(monkeypatch):
    """One model is enough to see the command work; that rivals compute what both models do is tested elsewhere."""
    monkeypatch.setattr(parts, "cases", lambda part, scale, gpu, rounds: [case("minimal", scale, gpu, rounds)])


def test_quick_rivals_and_evaluation_end_with_records_tables_and_pictures(headway, tmp_path, only_minimal):
    folder = tmp_path / "bench"
    options = ("--rivals", "jax", "--rounds", 2, "--into", folder)
    said = headway("bench", "--quick", "--what", "rivals", "evaluation", *options)
    assert said.code == 0, said.err
    assert re.search(r"minimal +plain JAX +[\d.]+ [µm]?s .*\d+\.\dx", said.out)
    assert "round 2 of 2" in said.err
    rivals, evaluation = read_all(folder)
    assert [pair["rival"] for pairs in rivals.measured["rounds"] for pair in pairs] == ["jax", "jax"]
    assert all(pair["seconds"] > 0 and pair["headway"] > 0 for pairs in rivals.measured["rounds"] for pair in pairs)
    assert rivals.measured["differences"]["jax"]["gradient"] < 1e-3
    assert rivals.command == "headway bench --what rivals --quick --rivals jax --rounds 2"
    assert rivals.settings["training"]["batch"] == 32
    assert len(evaluation.measured["evaluation_seconds"]) == 2
    assert {path.suffix for path in folder.iterdir()} == {".json", ".png"}, "nothing else is left there"
    assert set(tmp_path.iterdir()) == {folder}


def test_quick_small_transformers_are_measured_without_a_rival_too(headway, tmp_path):
    """Plain JAX has no part in it, and PyTorch need not be installed: Headway alone, beside the floor."""
    said = headway("bench", "--quick", "--what", "transformers", "--rivals", "jax", "--rounds", 1, "--into", tmp_path)
    assert said.code == 0, said.err
    (record,) = read_all(tmp_path)
    assert (record.part, record.case, record.settings["seeds"]) == ("transformers", "single-location", 2)
    assert record.measured["operations"] > 0 and record.measured["operations_per_second"] > 1e6
    assert len(record.measured["headway"]) == 1 and record.measured["rounds"] == [[]]
    assert re.search(r"single-location +\(nobody\)", said.out)


def test_one_form_is_measured_in_a_process_of_its_own(headway, tmp_path):
    options = ("--what", "forms", "--only", "minimal-6-gram", "--rivals", "jax", "--rounds", 1, "--processes", 2)
    said = headway("bench", "--quick", *options, "--into", tmp_path)
    assert said.code == 0, said.err
    (record,) = read_all(tmp_path)
    assert (record.name, record.settings["task"]["context"]) == ("forms-minimal-6-gram-quick-cpu", 2)
    assert record.command == "headway bench --what forms --quick --rivals jax --rounds 1"
    assert len(record.measured["headway"]) == 1
    assert re.search(r"6-gram +\(nobody\)", said.out)
    assert [path.name for path in tmp_path.iterdir()] == [f"{record.name}.json"], "nothing else is left there"


def test_a_form_that_fails_is_named(headway, tmp_path, monkeypatch):
    monkeypatch.setattr(forms.sys, "executable", "false")
    said = headway("bench", "--quick", "--what", "forms", "--rivals", "jax", "--into", tmp_path)
    assert said.code == 2
    assert "without-norm, minimal-6-gram could not be measured" in said.err


def test_an_interruption_keeps_the_rounds_that_were_measured(headway, tmp_path, monkeypatch, only_minimal):
    taken = []

    def seconds(contestant):
        taken.append(contestant)
        if len(taken) > 7:  # two to warm up, and two in each round
            raise KeyboardInterrupt
        return 1.0

    monkeypatch.setattr(alternate, "seconds_per_step", seconds)
    said = headway("bench", "--quick", "--what", "rivals", "--rivals", "jax", "--into", tmp_path)
    assert said.code == 130
    assert f"What was measured is in {tmp_path}" in said.err
    (record,) = read_all(tmp_path)
    assert len(record.measured["rounds"]) == 2
    assert headway("bench", "--from", tmp_path).code == 0


def test_what_was_measured_is_shown_drawn_and_written_down_without_measuring(headway, records, tmp_path):
    page = tmp_path / "docs" / "speed.md"
    said = headway("bench", "--from", records, "--document", page)
    assert said.code == 0
    assert re.search(r"minimal +PyTorch +600 ms +150 ms +4\.0x", said.out)
    assert "rivals, paper scale, cpu, 3 rounds" in said.out
    assert (records / "scaling-minimal-paper-cpu.png").read_bytes().startswith(b"\x89PNG")
    assert "| minimal | PyTorch | 600 ms | 150 ms | 4.0x |" in page.read_text()
    assert "](../bench/rivals-paper-cpu.png)" in page.read_text()


def test_mistakes_are_answered_in_words(headway, records, tmp_path):
    assert "at least once" in headway("bench", "--rounds", 0).err
    assert "--processes is 0" in headway("bench", "--processes", 0).err
    nobody = headway("bench", "--what", "rivals", "forms", "--only", "without-norm", "nobody", "--into", tmp_path / "b")
    assert nobody.code == 2 and "there is no case nobody" in nobody.err and "rotary" in nobody.err
    assert "there is no folder" in headway("bench", "--from", tmp_path / "nowhere").err
    (tmp_path / "empty").mkdir()
    assert "no records" in headway("bench", "--from", tmp_path / "empty").err
    path = records / "rivals-minimal-paper-cpu.json"
    path.write_text(json.dumps({"part": "rivals"}))
    said = headway("bench", "--from", records)
    assert said.code == 2 and "cannot be read" in said.err
    assert headway("bench", "--what", "everything").code == 2
