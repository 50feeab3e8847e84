"""A fresh clone can be set up, checked and shipped."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = CONFIGURATION["project"]
LOCK = (ROOT / "requirements.lock").read_text()


def names(requirements: list[str]) -> set[str]:
    """Distribution names, spelt as the lock spells them."""
    found = (re.match(r"[\w.-]+", text) for text in requirements)
    return {re.sub(r"[-_.]+", "-", match[0]).lower() for match in found if match}


def locked() -> dict[str, str]:
    """Name of a locked distribution -> its version and its hashes."""
    entries = re.findall(r"^([a-z0-9-]+)==((?:.*\\\n)*.*)", LOCK, flags=re.MULTILINE)
    return dict(entries)


def in_a_fresh_python(code: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    outcome = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with a blank in its name that holds only `run` and a lock."""
    folder = tmp_path / "a check out"
    folder.mkdir()
    shutil.copy(ROOT / "run", folder)
    (folder / "requirements.lock").write_text("# nothing\n")
    return folder


def call(checkout: Path, commands: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """`./run` where the only programs, besides a few of POSIX, are these scripts."""
    programs = checkout.parent / "programs"
    shutil.rmtree(programs, ignore_errors=True)
    programs.mkdir()
    for name in {"sh", "cat", "cksum", "dirname", "id", "mkdir", "chmod", "env"} - commands.keys():
        (programs / name).symlink_to(shutil.which(name) or pytest.fail(f"there is no {name} here"))
    for name, script in commands.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    return subprocess.run(
        ["sh", checkout / "run", *arguments],
        env={"PATH": str(programs)},
        cwd=checkout.parent,
        capture_output=True,
        text=True,
        timeout=60,
    )


# Stands in for a Python: `-m venv` makes a folder with a copy of it, any other call is printed.
PYTHON = """
case "$1 ${2-}" in
    "-V ") echo "Python 3.12.1" ;;
    "-m venv")
        mkdir -p "$4/bin" "$4/lib/python3.12/site-packages"
        cat "$0" > "$4/bin/python"
        chmod +x "$4/bin/python" ;;
    "-c "*) ;;
    *) for word in "$@"; do printf '<%s>' "$word"; done; echo ;;
esac
"""


def test_the_lock_names_no_address_and_no_folder():
    assert not re.search(r"https?:|file:|--index|--find-links|--extra|(?<!\w)/", LOCK.split("\n", 2)[2])
    assert not re.search(r"https?:|file:|(?<!\w)/\w", LOCK)


def test_the_lock_holds_every_dependency_with_its_hashes():
    extras = PROJECT["optional-dependencies"]
    wanted = names(PROJECT["dependencies"] + extras["test"] + extras["parquet"])
    assert wanted - locked().keys() == set()
    assert [name for name, entry in locked().items() if "--hash=sha256:" not in entry] == []


def test_the_lock_is_spared_pytorch_and_its_gigabytes():
    assert [name for name in locked() if name == "torch" or name.startswith("nvidia-")] == []


EXTRAS = sorted(PROJECT["optional-dependencies"].keys() - {"test"})


@pytest.mark.parametrize("extra", [*EXTRAS, "reliability"])
def test_every_extra_has_a_lock_with_all_hashes_and_no_address(extra: str):
    text = (ROOT / "locks" / f"{extra}.lock").read_text()
    assert not re.search(r"https?:|file:|--index-url|--find-links|(?<!\w)/\w", text)
    entries = re.findall(r"^(\S+)==([^ \\]+)(.*(?:\n .*)*)", text, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^\w", text, re.MULTILINE)), "nothing without a version"
    assert [name for name, _, rest in entries if "--hash=sha256:" not in rest] == []
    extras = PROJECT["optional-dependencies"]
    wanted = {"reliability": extras["slurm"] + extras["ray"]}.get(extra) or extras[extra]
    assert names(PROJECT["dependencies"] + wanted) - {name for name, *_ in entries} == set()
    pinned = re.findall(r"^(\S+)==([^ \\]+)", LOCK, re.MULTILINE)
    ours = {name: version for name, version, _ in entries}
    assert [name for name, version in pinned if ours.get(name, version) != version] == []


def test_the_chart_library_is_the_one_that_was_recorded():
    folder = ROOT / "src/headway/report/page/library"
    told = json.loads((folder / "library.json").read_text())
    data = (folder / told["file"]).read_bytes()
    assert hashlib.sha256(data).hexdigest() == told["sha256"]
    head = data[:300].decode()
    assert f"v{told['version']}" in head and f"{told['licence']} license" in head
    assert told["licence"] in (folder / "LICENSE").read_text()


def test_nothing_tells_anybody_to_install_a_name_that_is_not_ours():
    """On public registries somebody else may own it."""
    told = [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "SECURITY.md"]
    assert [path.name for path in told if re.search(r"pip install '?\"?headway", path.read_text())] == []


@pytest.mark.parametrize("script, shell", [("run", "sh"), (".ci/run", "bash")])
def test_the_scripts_are_executable_and_parse(script: str, shell: str):
    assert os.access(ROOT / script, os.X_OK)
    subprocess.run([shell, "-n", ROOT / script], check=True)


def test_run_sets_up_once_and_then_hands_over_its_arguments(checkout: Path):
    first = call(checkout, {"python3": PYTHON}, "run", "two words")
    assert "setting up" in first.stderr
    assert first.stdout.splitlines()[-1] == "<-P><-m><headway><run><two words>"
    second = call(checkout, {"python3": PYTHON}, "test", "-k", "a b")
    assert second.stderr == ""
    assert second.stdout.splitlines() == ["<-m><pytest><-k><a b>"]


def test_run_without_arguments_is_the_main_job(checkout: Path):
    assert call(checkout, {"python3": PYTHON}).stdout.splitlines()[-1] == "<-P><-m><headway>"


def test_run_makes_headway_importable_wherever_the_checkout_is_moved(checkout: Path):
    call(checkout, {"python3": PYTHON})
    packages = checkout / ".venv/lib/python3.12/site-packages"
    path = (packages / "headway.pth").read_text().strip()
    assert not Path(path).is_absolute()
    assert (packages / path).resolve() == (checkout / "src").resolve()


def test_run_sets_up_again_after_a_new_lock_an_interruption_or_a_lost_python(checkout: Path):
    call(checkout, {"python3": PYTHON})
    (checkout / "requirements.lock").write_text("# another\n")
    assert "setting up" in call(checkout, {"python3": PYTHON}).stderr
    (checkout / "requirements.lock").write_text("# a third\n")
    broken = call(checkout, {"python3": PYTHON.replace('"-c "*)', '"-m pip") exit 7 ;; "-c "*)')})
    assert broken.returncode == 7
    assert "<headway>" not in broken.stdout
    assert "setting up" in call(checkout, {"python3": PYTHON}).stderr
    (checkout / ".venv/bin/python").unlink()
    assert "setting up" in call(checkout, {"python3": PYTHON}).stderr


def test_run_prefers_uv(checkout: Path):
    outcome = call(checkout, {"python3": "exit 9", "uv": 'echo "uv $UV_SYSTEM_CERTS $1"; exit 3'})
    assert outcome.returncode == 3
    assert outcome.stdout == "uv 1 venv\n"


def test_run_says_what_to_do_about_an_old_python(checkout: Path):
    old = 'case "$1" in -V) echo "Python 3.9.2" ;; *) exit 1 ;; esac'
    outcome = call(checkout, {"python3": old})
    assert outcome.returncode == 1
    assert "needs Python 3.11, 3.12 or 3.13, and python3 is Python 3.9.2" in outcome.stderr
    assert "Install one of them, or uv" in outcome.stderr


def test_run_takes_a_newer_python_beside_an_old_one(checkout: Path):
    outcome = call(checkout, {"python3": "exit 1", "python3.12": PYTHON})
    assert "setting up .venv with python3.12" in outcome.stderr
    assert outcome.returncode == 0


@pytest.mark.parametrize("user, prefix", [("0", ""), ("1000", "sudo ")])
def test_run_installs_what_a_bare_debian_lacks(checkout: Path, user: str, prefix: str):
    bare = PYTHON.replace('"-c "*)', '"-c import venv, ensurepip") exit 1 ;; "-c "*)')
    tell = 'echo "$SUDO""apt-get $*" >&2'
    sudo = 'SUDO="sudo " exec "$@"'
    outcome = call(checkout, {"python3": bare, "id": f"echo {user}", "apt-get": tell, "sudo": sudo})
    assert f"\n{prefix}apt-get -qq update\n{prefix}apt-get -qq install -y python3-venv\n" in outcome.stderr
    assert outcome.returncode == 0


def test_run_says_what_to_install_where_it_may_not(checkout: Path):
    bare = PYTHON.replace('"-c "*)', '"-c import venv, ensurepip") exit 1 ;; "-c "*)')
    outcome = call(checkout, {"python3": bare})
    assert outcome.returncode == 1
    assert "Install python3-venv, then call this again" in outcome.stderr


@pytest.mark.parametrize("module", ["headway", "headway.cli", "headway.experiments"])
def test_help_waits_for_no_accelerator(module: str):
    in_a_fresh_python(f"import {module}, sys; assert 'jax' not in sys.modules, 'jax was imported'")


def test_the_wheel_holds_the_package_and_no_benchmarks():
    assert CONFIGURATION["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["src/headway"]
    named = {path.relative_to(ROOT).as_posix() for path in (ROOT / "src").rglob("*bench*.py")}
    assert named == {"src/headway/cli/bench_command.py"}, "which says where they are"


def test_an_installed_headway_says_where_the_benchmarks_are(tmp_path: Path):
    (tmp_path / "headway").symlink_to(ROOT / "src" / "headway")
    outcome = subprocess.run(
        [sys.executable, "-m", "headway", "bench", "--what", "rivals"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr.count("\n") == 1 and "in its folder benchmarks/" in outcome.stderr
