"""What the documentation shows a user to write works as it is written, from outside the repository."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.process import ROOT, Shell

from headway.store import Store

SMALL = ("--training.steps", "30", "--training.batch", "8", "--training.test-samples", "16", "--evaluation.points", "4")
EXPERIMENTS = [path.name for path in sorted(ROOT.glob("examples/*.py")) if path.name != "my_claim.py"]
EXTEND = (ROOT / "docs" / "extend.md").read_text()
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", EXTEND, re.DOTALL | re.MULTILINE))


def blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_example_runs_from_a_copy_of_its_own(name, tmp_path):
    shutil.copy(ROOT / "examples" / name, tmp_path)
    page = name == "in_context_chain.py"  # the only one with rungs, stages and measures of its own to show
    ended = Shell(tmp_path).call(
        "run", name, "--into", "runs", "--seeds", "1", *SMALL, *(() if page else ["--no-page"])
    )
    assert ended.returncode == 0, ended.stderr
    assert list(tmp_path.glob("runs/*/record.json"))
    assert len(list(tmp_path.glob("runs/*.html"))) == page


def test_the_example_of_a_claim_reads_what_is_in_results(tmp_path):
    shutil.copy(ROOT / "examples" / "my_claim.py", tmp_path)
    shell = Shell(tmp_path, tmp_path)
    command = [sys.executable, "my_claim.py", str(ROOT / "results"), "figure.png"]
    ended = subprocess.run(command, cwd=tmp_path, env=shell.environment, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stderr
    assert re.match(r"\d+ runs: \{'holds': \d+, 'partly': \d+, 'fails': \d+\}", ended.stdout)
    assert (tmp_path / "figure.png").stat().st_size > 1000


@pytest.mark.parametrize("section", [name for name, text in SECTIONS.items() if blocks(text)])
def test_the_code_of_a_section_works_as_it_stands(section, tmp_path):
    """Each section is a program of its own, and makes what its title says."""
    made = {"A task": "experiment", "A task with its own model": "experiment"}
    made |= {"An optimiser": "mine", "A positional encoding": "model", "A claim": "claim"}
    (tmp_path / "mine.py").write_text("\n".join([*blocks(SECTIONS[section]), f"print(type({made[section]}).__name__)"]))
    command, environment = [sys.executable, "mine.py"], Shell(tmp_path, tmp_path).environment
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() in ("Experiment", "Settings", "ModelSettings", "Claim")


def test_every_recipe_has_code():
    assert len([name for name, text in SECTIONS.items() if blocks(text)]) >= 4


@pytest.mark.parametrize(("section", "name"), [("A task", "copy-"), ("A task with its own model", "last-position-")])
def test_the_task_of_the_documentation_is_one_that_can_be_trained(section, name, tmp_path):
    (tmp_path / "my_task.py").write_text(blocks(SECTIONS[section])[0])
    shell = Shell(Path(tmp_path))
    ended = shell.call("run", "my_task.py", "--no-page", "--seeds", "1", *SMALL)
    assert ended.returncode == 0, ended.stderr
    [record] = Store(tmp_path / "runs").records()
    assert record.identity.startswith(name)
