"""Help comes at once, teaches by examples, and names everything that can be chosen."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headway.cli import COMMANDS
from headway.experiments import NAMES, find
from headway.forecast.question import MODELS, required_of, settings_of
from headway.settings.variation import names
from headway.tasks.run import Settings

ROOT = Path(__file__).parent.parent.parent
EXTEND = (ROOT / "docs" / "extend.md").read_text()
HEAVY = ("jax", "equinox", "optax", "scipy", "matplotlib", "ruptures")
LOADED = f"""
import sys
from headway.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
sys.stderr.write(" ".join(name for name in {(*HEAVY, "numpy")} if name in sys.modules))
"""


def fresh(*command: object, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, *map(str, command)], env=environment, capture_output=True, text=True, timeout=60, **options
    )


def option_names(settings: Any = None) -> list[str]:
    """Every setting as an option: --task.ratio, --training.test-samples, --task.references."""
    return [f"--{name}".replace("_", "-") for name in names(Settings() if settings is None else settings)]


@pytest.mark.parametrize(
    "arguments, words",
    [
        ("--help", "headway run stages"),
        ("run --help", "headway run stages"),
        ("claims --help", "headway claims"),
        ("export --help", "headway export"),
        ("predict --help", "headway predict"),
    ],
)
def test_help_loads_neither_the_accelerator_nor_numpy(arguments, words):
    outcome = fresh("-c", LOADED, *arguments.split())
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr == ""
    assert words in outcome.stdout


@pytest.mark.parametrize(
    "arguments, words",
    [
        ("run stages --help", "headway run stages"),
        ("run all --help", "headway run all"),
        ("run construction --help", "--sharpness"),
    ],
)
def test_help_of_an_experiment_needs_numpy_at_most(arguments, words):
    """Claims stand in its file, and what judges them is written in NumPy."""
    outcome = fresh("-c", LOADED, *arguments.split())
    assert outcome.returncode == 0, outcome.stderr
    assert set(outcome.stderr.split()) <= {"numpy"}
    assert words in outcome.stdout


@pytest.mark.parametrize("arguments", [["list"], ["claims", "A20"]], ids=" ".join)
def test_what_is_on_disk_is_told_without_the_accelerator(arguments):
    outcome = fresh("-c", LOADED, *arguments, "--from", ROOT / "results")
    assert outcome.returncode == 0, outcome.stderr
    assert {"jax", "equinox", "optax", "matplotlib", "plotly"} & set(outcome.stderr.split()) == set()


def test_help_presents_every_command(headway):
    for word in ("--help", "-h", "help"):
        said = headway(word)
        assert (said.code, said.err) == (0, "")
        assert all(f"headway {command}" in said.out for command in COMMANDS)


def test_help_of_run_presents_every_experiment(headway):
    said = headway("run", "--help")
    assert said.code == 0
    shown = dict(re.findall(r"^  ([a-z-]+) +(.*)$", said.out.split("experiments:")[1], re.MULTILINE))
    assert shown == {**{name: find(name).title for name in NAMES}, "all": "all of them"}
    assert "FILE.py" in said.out
    assert headway("run").code == 2, "run alone does not say what to run"


def assert_readable(shown: str) -> None:
    """No type as a parser writes it, and no default where there is none."""
    for noise in ("{None}", "None|", "(default: )", "(default: '')", "(default: None)", " ...]]", "[["):
        assert noise not in shown, noise


@pytest.mark.parametrize("command", [each for each in COMMANDS if each != "run"])
def test_help_of_a_command_is_written_for_readers(headway, command):
    assert_readable(headway(command, "--help").out)


def test_help_says_what_an_option_that_is_not_given_means(headway):
    shown = headway("watch", "--help").out
    assert re.search(r"--port INT +Port to listen on; 8765 or the next free port if not given", shown)
    assert re.search(r"--from PATH .*\(default: not set\)", shown)
    assert "[FOLDER]" in shown
    assert "(default: not set)" not in re.findall(r"--port.*", shown)[0]


def test_a_default_that_can_be_unset_says_how(headway, dry):
    """The grid of a paper stops at a threshold; None trains all steps."""
    shown = headway("run", "recall", "--grid", "paper", "--help").out
    assert re.search(r"--training.threshold FLOAT.*?\(default: 0.05; None: not set\)", shown, re.DOTALL)
    cells = dry("run", "recall", "--grid", "paper", "--training.threshold", "None", "--training.until", "None")
    assert {cell.settings.training.threshold for cell in cells} == {None}


@pytest.mark.parametrize("typed", [[], ["--model"]], ids=["word", "option"])
@pytest.mark.parametrize("model", MODELS)
def test_help_of_a_predicted_model_shows_its_own_options(headway, model, typed):
    shown = headway("predict", *typed, model, "--help").out
    offered = {each.replace("-", "_") for each in re.findall(r"^[│ ]*--([a-z][a-z-]*)", shown, re.MULTILINE)}
    assert offered == {*settings_of(model), "learning_rate", "from", "json", "held_out"}
    entries = re.split(r"^[│ ]*--(?=[a-z])", shown, flags=re.MULTILINE)
    assert {each.split()[0] for each in entries if "(required)" in each} == set(required_of(model))
    commands = re.findall(r"^  headway predict (\S+)", shown, re.MULTILINE)
    assert set(commands) == {model} and len(commands) >= 2
    assert_readable(shown)


def test_help_of_predict_says_where_a_models_options_are_explained(headway):
    shown = headway("predict", "--help").out
    assert "`headway predict MODEL --help` explains them" in shown
    assert all(f"  {model} " in shown for model in MODELS)
    assert "--dimension INT" not in shown
    assert re.search(r"  recall +a transformer on associative recall: until 5 % of its answers are right\n", shown)


def test_help_says_what_each_precision_applies_to(headway, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")  # so narrow that boxes are not side by side
    shown = " ".join(headway("run", "stages", "--help").out.replace("│", " ").split())
    assert "(tf32 and bfloat16 if the device has them); with float64, everything is computed in it." in shown


@pytest.mark.parametrize("command", ["report", "claims", "run stages"])
def test_prose_of_help_fits_the_terminal(headway, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "72")
    prose = headway(*command.split(), "--help").out.split("examples:")[0]
    lines = prose.split("\n\n", 1)[1].splitlines()
    assert max(map(len, lines)) <= 72
    assert max(map(len, lines)) > 50, "broken where the terminal ends, and not where the source does"


@pytest.mark.parametrize("experiment", [*NAMES, "all"])
def test_help_of_an_experiment_names_every_setting(headway, experiment):
    said = headway("run", experiment, "--help")
    assert said.code == 0
    offered = set(re.findall(r"(?<![\w-])--[\w.-]+", said.out))
    first = NAMES[0] if experiment == "all" else experiment
    own = set(option_names(next(iter(find(first).grids["quick"].values()))))
    assert {*own, "--grid", "--seeds", "--into", "--page", "--keep"} - offered == set()
    of_others = {"--sharpness", "--training.steps", "--dimensions"} - own
    assert of_others & offered == set()
    assert_readable(said.out)


def test_every_experiment_says_what_it_shows_in_a_line_of_its_own():
    titles = [find(name).title for name in NAMES]
    assert len(set(titles)) == len(titles)
    assert all(re.fullmatch(r"[A-Z].{30,119}\.", words) for words in titles), titles


def test_help_shows_the_values_of_the_chosen_grid(headway):
    assert "(default: 0.08)" in headway("run", "stages", "--help").out
    assert "(default: 0.003)" in headway("run", "stages", "--grid", "printed", "--help").out
    assert "(default: 0.003)" in headway("run", "stages", "--grid=quick", "--grid=printed", "--help").out


@pytest.mark.parametrize(
    "arguments", [["--help"], ["run", "--help"], *([command, "--help"] for command in COMMANDS if command != "run")]
)
def test_help_teaches_with_examples_that_work(headway, dry, arguments):
    lines = headway(*arguments).out.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.strip(" │") in ("examples:", "Try:"))
    examples = [re.split(r"\s{2,}", line.strip(" │"))[0] for line in lines[begin + 1 :] if "headway " in line]
    shown = [example for example in examples if example.startswith("headway ")]
    assert len(shown) >= 2
    Path("my_task.py").write_text(re.findall(r"```python\n(.*?)```", EXTEND, re.DOTALL)[0])
    for example in shown:
        dry(*shlex.split(example)[1:])


def test_the_version_is_told_with_or_without_an_installed_package(headway):
    said = headway("--version")
    assert said.code == 0
    assert re.fullmatch(r"headway (\d[\w.]*|from source), commit ([0-9a-f]{40}|not known)\n", said.out)


@pytest.mark.parametrize("arguments", ["--help", "run stages --help"])
def test_a_reader_who_has_seen_enough_gets_no_traceback(arguments):
    """`headway --help | head -0`: the pipe is closed before anything is written."""
    command = f"{shlex.quote(sys.executable)} -m headway {arguments} | true"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    outcome = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, timeout=60)
    assert outcome.stderr == ""
