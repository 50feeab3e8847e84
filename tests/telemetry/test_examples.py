"""The examples run from copies of their own outside the repository, and leave a record that can be reported."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.telemetry.models import made, rows

import headway

ROOT = Path(__file__).parents[2]
NEEDS = {"gpt2_trainer.py": "transformers"}
EXAMPLES = sorted(path.name for path in (ROOT / "examples" / "telemetry").glob("*.py"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_from_a_copy(name, tmp_path):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    shutil.copy(ROOT / "examples" / "telemetry" / name, tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, name, "--steps", "40"]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert "2 layers x 4 heads" in ended.stderr
    [path] = [each.parent for each in tmp_path.glob("runs/*/record.json")]
    trajectory = headway.load(path).trajectory
    assert trajectory["kl_rungs"].shape[2] == 5 and trajectory.times("loss")[-1] == 40
    assert not trajectory["probe_failed"].any()
    # Each model has learnt which letters are frequent, and little else: closest to unigrams or bigrams.
    assert trajectory["kl_rungs"][0, -1].argmin() in (1, 2)


def test_the_loop_of_the_readme_leaves_a_record(tmp_path, monkeypatch):
    (block,) = re.findall(r"```py\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    trained = []
    names = {"model": made(), "held_out_tokens": rows(), "steps": 5, "training_step": lambda: trained.append(1)}
    exec(block, names)
    assert len(trained) == 5
    assert headway.load(names["watch"].path).trajectory.times("loss")[[0, -1]].tolist() == [0, 5]
