"""Advice about a missing package works for whoever gets it."""

import re
import sys
import tomllib
from pathlib import Path

from headway.settings.extras import to_install

ROOT = Path(__file__).parents[2]


def test_in_an_environment_of_the_users_own_the_extra_is_installed_into_it(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert to_install("ray") == "Install it: pip install '.[ray]' in the checkout."


def test_whoever_called_run_gets_an_environment_that_run_does_not_replace(monkeypatch, tmp_path):
    """What pip installs elsewhere does not reach `./run`, whose environment is made again with every new lock."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "stamp").touch()
    (tmp_path / "run").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    words = to_install("text")
    assert "env/bin/pip install '.[text]'" in words and "env/bin/headway instead of ./run" in words


def test_run_makes_the_stamp_by_which_its_environment_is_known():
    script = (ROOT / "run").read_text()
    assert "venv=$here/.venv" in script and 'stamp > "$venv/stamp"' in script


def test_every_extra_that_is_advised_exists_and_is_worded_in_one_place():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    code = {path.stem: path.read_text() for path in (ROOT / "src" / "headway").rglob("*.py")}
    advised = {extra for text in code.values() for extra in re.findall(r"\{to_install\('(\w+)'\)\}", text)}
    assert {"telemetry", "transformers", "text", "parquet", "slurm", "ray"} == advised <= set(extras)
    assert [name for name, text in code.items() if "pip install '.[" in text] == ["extras"]
