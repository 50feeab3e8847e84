"""An experiment in a user's own file is loaded as ours are, and what is wrong with it is said in words."""

import re
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from headway import experiments
from headway.experiments import NAMES, find
from headway.experiments.experiment import ExperimentError
from headway.experiments.load import load_experiment

FOLDER = Path(str(experiments.__file__)).parent
HEAD = """
from headway.claims.claim import Claim
from headway.experiments import Experiment
from headway.presets import minimal_quick

def judge(claim, results):
    return claim.not_run("Nobody knows.")

CLAIM = Claim("X1", "It learns.", "Always.", "nothing", judge)
WHOLE = dict(title="Mine.", grids={"quick": {"run": minimal_quick()}}, seeds={"quick": 2}, claims=(CLAIM,))
"""


@pytest.fixture
def written(tmp_path):
    """Writes a file, and gives its path."""

    def write(text: str, name: str = "mine.py") -> Path:
        (tmp_path / name).write_text(dedent(text))
        return tmp_path / name

    return write


def refused(path: Path | str) -> str:
    with pytest.raises(ExperimentError) as error:
        load_experiment(path)
    return str(error.value)


@pytest.mark.parametrize("name", ["EXPERIMENT", "experiment", "anything"])
def test_a_file_holds_one_experiment_under_any_name(written, name):
    experiment = load_experiment(written(f"{HEAD}{name} = Experiment(**WHOLE)\n"))
    assert experiment.title == "Mine."
    assert list(experiment.grids["quick"]) == ["run"] and experiment.seeds == {"quick": 2}
    assert [(found.claim, found.detail) for found in experiment.read({})] == [("X1", "Nobody knows.")]
    assert experiment.draw({}) == {}


def test_the_one_that_is_called_so_is_it_whatever_others_there_are(written):
    both = "other = Experiment(**WHOLE)\nEXPERIMENT = Experiment(**WHOLE | {'title': 'This one.'})\n"
    assert load_experiment(written(f"{HEAD}{both}")).title == "This one."


@pytest.mark.parametrize("name", [name for name in NAMES if find(name).claims])
def test_our_own_files_can_be_loaded_as_a_user_s_are(name):
    loaded, ours = load_experiment(FOLDER / f"{name.replace('-', '_')}.py"), find(name)
    assert (loaded.title, loaded.grids, loaded.seeds) == (ours.title, ours.grids, ours.seeds)
    assert [claim.name for claim in loaded.claims] == [claim.name for claim in ours.claims]


def test_a_file_may_import_what_lies_beside_it_and_leaves_no_trace(written, tmp_path):
    written("def title():\n    return 'From beside.'\n", "beside.py")
    path = list(sys.path)
    mine = f"{HEAD}import beside\nEXPERIMENT = Experiment(**{{**WHOLE, 'title': beside.title()}})\n"
    assert load_experiment(written(mine)).title == "From beside."
    assert sys.path == path
    assert {entry.name for entry in tmp_path.iterdir()} == {"mine.py", "beside.py"}


def test_what_lies_beside_a_file_is_that_file_s_own_and_as_it_is_now(written, tmp_path):
    mine = f"{HEAD}import beside\nEXPERIMENT = Experiment(**{{**WHOLE, 'title': beside.TITLE}})\n"
    (tmp_path / "other").mkdir()
    paths = [written(mine), written(mine, "other/mine.py")]
    for number, folder in enumerate(("", "other/")):
        written(f"TITLE = 'Number {number}.'\n", f"{folder}beside.py")
    assert [load_experiment(path).title for path in paths] == ["Number 0.", "Number 1."]
    written("TITLE = 'Number 2.'\n", "beside.py")
    assert load_experiment(paths[0]).title == "Number 2."


def test_a_class_of_the_file_can_be_found_again(written):
    """Dataclasses and pickles look a class up by the name of its module."""
    classes = "from dataclasses import dataclass\n\n@dataclass(frozen=True)\nclass Settings:\n    width: int = 3\n"
    grids = "{'quick': {'run': Settings()}}"
    path = written(
        f"from __future__ import annotations\n{HEAD}{classes}E = Experiment(**WHOLE | {{'grids': {grids}}})\n"
    )
    settings = load_experiment(path).grids["quick"]["run"]
    assert sys.modules[type(settings).__module__].Settings is type(settings)


def test_a_path_without_a_python_file_is_refused(tmp_path):
    assert refused(tmp_path / "none.py").startswith(f"there is no file {tmp_path / 'none.py'}. Give")
    assert "is a folder" in refused(tmp_path) and "Name the file" in refused(tmp_path)
    (tmp_path / "notes.txt").write_text("")
    assert "is not a Python file: its name ends in '.txt'. Call it notes.py." in refused(tmp_path / "notes.txt")


def test_a_syntax_error_is_told_with_its_line_and_text(written):
    path = written("a = 1\nb = = 2\n")
    assert refused(path) == f"{path}:2 is no Python: invalid syntax, in `b = = 2`. Correct that line."


def test_a_syntax_error_beside_the_file_is_told_as_that_one_s(written):
    beside = written("def f(:\n", "broken.py")
    assert refused(written("import broken\n")).startswith(f"{beside}:1 is no Python: ")


@pytest.mark.parametrize(
    "text, line, last",
    [
        ("a = 1\nb = a / 0\n", 2, "ZeroDivisionError: division by zero"),
        ("\n\nimport nothing_of_this_name\n", 3, "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("import json\njson.loads('{')\n", 2, "json.decoder.JSONDecodeError: Expecting property name"),
    ],
)
def test_an_exception_is_told_by_the_last_line_of_its_traceback_and_where_the_file_made_it(written, text, line, last):
    path, before = written(text), set(sys.modules)
    assert refused(path).startswith(f"{path}:{line} cannot be imported: {last}")
    assert not [name for name in sys.modules.keys() - before if name.startswith("_headway")]


def test_a_script_that_ends_the_program_is_told_so(written):
    path = written("import sys\nsys.exit(1)\n")
    assert refused(path).startswith(f"{path}:2 ends the program while it is imported. Put")


@pytest.mark.parametrize("text", ["", HEAD])
def test_a_file_without_an_experiment_is_told_how_to_make_one(written, text):
    said = refused(written(text))
    assert "holds no experiment" in said and "EXPERIMENT = Experiment(title=" in said


@pytest.mark.parametrize("names", [("one", "two"), ("EXPERIMENT", "experiment")])
def test_of_several_experiments_none_is_taken(written, names):
    text = HEAD + "".join(f"{name} = Experiment(**WHOLE | {{'title': '{name}.'}})\n" for name in names)
    assert f"holds 2 experiments, {', '.join(names)}, but only one is expected. Name that one" in refused(written(text))


@pytest.mark.parametrize(
    "text, got",
    [
        ("EXPERIMENT = {'title': 'Mine.'}\n", "EXPERIMENT in .* is dict, but it must be an Experiment. Write"),
        (f"{HEAD}experiment = Experiment\n", "experiment in .* is the class Experiment, but"),
    ],
)
def test_what_is_called_so_and_is_none_is_told_as_what_it_is(written, text, got):
    assert re.match(got, refused(written(text)))


@pytest.mark.parametrize(
    "changes, said",
    [
        ("title=''", "title is ''. In an experiment say in a line what it shows."),
        ("title=3", "title is 3. In an experiment say in a line what it shows."),
        (
            "grids=[minimal_quick()]",
            'grids is a list, but it must be a mapping. In an experiment write grids={"',
        ),
        ("grids={}", "grids is empty. In an experiment write grids="),
        (
            "grids={'quick': [minimal_quick()]}",
            "the grid 'quick' is a list, but it must be a mapping. In an experiment write",
        ),
        ("grids={'quick': {}}", "the grid 'quick' has no run. In an experiment write"),
        ("grids={'quick': {3: minimal_quick()}}", "3 in the grid 'quick' is no name. In an experiment write"),
        ("seeds=4", 'seeds is an int. In an experiment write seeds={"quick": 8}.'),
        ("seeds={}", "seeds has None for the grid 'quick'. In an experiment give every grid"),
        ("seeds={'quick': 0}", "seeds has 0 for the grid 'quick'. In an experiment give every grid"),
        ("claims=CLAIM", "claims is a Claim. In an experiment write claims=(Claim(...),)."),
        ("claims=(judge,)", "claims holds a function. In an experiment make each by Claim(...)."),
        ("claims=(Claim('X2', 'S.', 'D.', 'q'),)", "the claim 'X2' has no judge. In an experiment give it judge="),
        ("claims=(CLAIM, CLAIM)", "two claims are called 'X1'. In an experiment give each a name of its own."),
        ("figures={}", "figures is a dict. In an experiment give a function."),
    ],
)
def test_an_experiment_of_the_wrong_shape_is_refused_where_it_is_made(written, changes, said):
    path = written(f"{HEAD}EXPERIMENT = Experiment(**{{**WHOLE, **dict({changes})}})\n")
    line = len(path.read_text().splitlines())
    assert refused(path).startswith(f"{path}:{line}: {said}")
