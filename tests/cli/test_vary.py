"""`headway run EXPERIMENT --vary SETTING VALUES`."""

import csv
import re

import pytest
from tests.experiments.made import made_results
from tests.report.embedded import embedded_text
from tests.report.made_run import FOUR

from headway.cli import UserError
from headway.cli.vary_options import axes_from
from headway.experiments import find
from headway.records import Cell
from headway.store import Store
from headway.tasks.run import Settings


def read(*typed: str) -> list[object]:
    [values] = axes_from([typed], [Settings()]).values()
    return values


@pytest.mark.parametrize(
    "typed, values",
    [
        (("task.ratio", "1.3", "2"), [1.3, 2.0]),
        (("task.ratio", "1.2:2.0:5"), [1.2, 1.4, 1.6, 1.8, 2.0]),
        (("task.ratio", "2:1:3"), [2.0, 1.5, 1.0]),
        (("training.learning_rate", "0.001:0.1:3:log"), [0.001, 0.01, 0.1]),
        (("model.heads", "1:4:4", "8"), [1, 2, 3, 4, 8]),
        (("training.batch", "16:1024:7:log"), [16, 32, 64, 128, 256, 512, 1024]),
        (("task.order", "none", "8"), [None, 8]),
        (("task.orthogonal", "True", "false"), [True, False]),
        (("model.positions", "rotary", "alibi"), ["rotary", "alibi"]),
        (("task.blocks", "1-2 3-4", "3,4 1,2"), [((1, 2), (3, 4)), ((3, 4), (1, 2))]),
        (("evaluation.also", "none", "3,5"), [(), (3, 5)]),
        (("task.ratio", "1.5", "1:2:3", "1.5"), [1.5, 1.0, 2.0]),
        (("task.ratio", "0.1234567890123:1:2"), [0.1234567890123, 1.0]),
    ],
)
def test_values_are_what_was_typed(typed, values):
    got = read(*typed)
    assert got == values
    assert list(map(type, got)) == list(map(type, values))


def test_evenly_spaced_values_are_those_that_would_be_typed_by_hand():
    """Or the same settings would have two names on disk."""
    assert read("task.ratio", "0.1:1.0:10") == [float(f"0.{tenth}") for tenth in range(1, 10)] + [1.0]


@pytest.mark.parametrize(
    "typed, said",
    [
        (("task.ratio",), r"--vary task\.ratio has no values\. Give values as in 1\.3 1\.7"),
        (("task.ratio", "x"), r"--vary task\.ratio x: it must be a number\."),
        (("task.ratio", "1.2:2.0"), r"--vary task\.ratio 1\.2:2\.0: a range needs a third number, .* in 1\.2:2\.0:5\."),
        (("task.ratio", "1:2:log"), r"a range needs a third number, how many values, as in 1:2:5:log\."),
        (("task.ratio", "1:x"), r"--vary task\.ratio x: it must be a number\."),
        (("task.ratio", "nan"), r"--vary task\.ratio nan: it must be a number\."),
        (("model.heads", "1.5"), r"--vary model\.heads 1\.5: it must be a whole number\."),
        (("task.ratio", "1:2:1"), r"it needs 2 to 100000 values\."),
        (("task.ratio", "0:2:3:log"), r"with :log both ends above 0\."),
        ((), r"--vary needs a setting and its values: values as in 1\.3 1\.7"),
        (("", "1"), r"--vary  names no setting that all runs"),
        (("model.heads", "-1e308:1e308:3"), r"its ends are too far apart\."),
        (("model.heads", "1e-300:1e300:3:log"), r"its ends are too far apart\."),
        (("task.ratio", "1:x:3"), r"--vary task\.ratio x: it must be a number\."),
        (("task.orthogonal", "1"), r"it must be True or False\."),
        (
            ("task.blocks", "x"),
            r"--vary task\.blocks: got x: 'x' is no lag and no range of lags\. Write blocks of lags as in",
        ),
        (("evaluation.also", "1,x"), r"it must be a whole number\."),
        (("task.rato", "1"), r"names no setting that all runs of this grid have\. Did you mean 'task\.ratio'\?"),
        (("task.context", "4"), r"--vary task.context is not possible: "),
    ],
)
def test_what_cannot_be_varied_is_told_in_a_sentence(typed, said):
    with pytest.raises(UserError, match=said):
        read(*typed)


def test_a_setting_is_varied_once_and_only_if_all_runs_have_it():
    with pytest.raises(UserError, match=r"--vary task\.ratio is given twice"):
        axes_from([("task.ratio", "1"), ("task.ratio", "2")], [Settings()])
    other = find("recall").grids["quick"]["vocabulary size 64, 2 pairs"]
    with pytest.raises(UserError, match=r"--vary task\.ratio names no setting that all runs of this grid have\."):
        axes_from([("task.ratio", "1")], [Settings(), other])


def test_every_combination_is_a_whole_experiment(dry):
    cells = dry("run", "ladder", "--vary", "task.ratio", "1.3", "1.7", "--vary", "model.scale", "0.5", "--seeds", "2")
    runs = find("ladder").grids["quick"].values()
    wanted = [each.changed(task={"ratio": ratio}, model={"scale": 0.5}) for ratio in (1.3, 1.7) for each in runs]
    assert cells == [Cell(settings, (0, 1)) for settings in wanted]


def test_a_change_of_all_runs_and_a_variation_go_together(dry):
    cells = dry("run", "stages", "--training.steps", "70", "--vary", "task.ratio", "1.3", "1.7")
    assert [(cell.settings.training.steps, cell.settings.task.ratio) for cell in cells] == [(70, 1.3), (70, 1.7)]


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("all", "--vary", "task.ratio", "1.3"), "--vary takes one experiment at a time"),
        (("stages", "--vary", "task.vocab", "1"), "with vocab 1: task.vocab is 1, but it must be a whole number"),
        (("stages", "--vary", "task.ratio", "1:2:99999999"), "it needs 2 to 100000 values"),
        (("stages", "--vary"), "--vary needs a setting and its values"),
        (
            ("stages", "--task.ratio", "1.3", "--vary", "task.ratio", "2"),
            "--task.ratio is given, but it is also varied.",
        ),
        (("weight-decay", "--vary", "training.weight_decay", "0.1"), "the runs of this grid differ in it"),
        (("positions", "--vary", "model.positions", "rotary"), "the runs of this grid differ in it"),
        (("depth", "--vary", "model.layers", "2"), "the runs of this grid differ in it"),
        (("stages", "--vary", "model.positions", "rotry"), 'or a function. Did you mean "rotary"?'),
        (("overlay", "--vary", "task.ratio", "1.3"), "They are of different kinds and share none."),
        (("stages", "--vary", "task.ratio", "1:2:50000", "--vary", "model.scale", "1:2:9"), "450000 combinations"),
    ],
)
def test_mistakes_end_the_command_before_anything_is_written(headway, tmp_path, arguments, said):
    told = headway("run", *arguments, "--into", tmp_path / "runs")
    assert told.code == 2
    assert told.err.startswith("headway: ")
    assert said in told.err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def varied(tmp_path):
    """A folder with made runs of the stages for three ratios."""
    store = Store(tmp_path / "runs")
    settings, trajectory = made_results("stages", seeds=FOUR)["minimal"]
    for ratio in (1.3, 1.5, 1.9):
        with store.open(Cell(settings.changed(task={"ratio": ratio}), FOUR)) as work:
            work.place(trajectory, {"device": "none: made up"})
    return store.root


def test_claims_are_told_for_every_combination_with_numbers_figure_and_page(headway, varied):
    told = headway("run", "stages", "--vary", "task.ratio", "1.3", "1.5", "1.9", "--seeds", "4", "--into", varied)
    assert told.code == 0
    for ratio in ("1.3", "1.5", "1.9"):
        assert len(re.findall(rf"^ +ratio {ratio} +(?:holds|partly|fails) +\d/4 ", told.out, re.MULTILINE)) == 3
    key = min(path.stem for path in varied.glob("*.csv"))
    assert re.fullmatch(r"stages-quick-by-task\.ratio-[0-9a-f]{6}", key)
    assert {path.name for path in varied.iterdir() if not path.is_dir()} == {f"{key}.csv", f"{key}.html"}
    assert {path.name for path in (varied / "figures").iterdir()} == {f"{key}.{kind}" for kind in ("png", "pdf", "svg")}
    rows = list(csv.DictReader((varied / f"{key}.csv").read_text().splitlines()))
    assert {row["task.ratio"] for row in rows} == {"1.3", "1.5", "1.9"}
    assert len(rows) == 3 * 3 * 4
    own = [finding for finding in find("stages").read(made_results("stages", seeds=FOUR)) if finding.values]
    for finding in own:
        told_values = [
            float(row["value"]) for row in rows if (row["claim"], row["task.ratio"]) == (finding.claim, "1.3")
        ]
        assert told_values == pytest.approx(finding.values, nan_ok=True)
    page = embedded_text((varied / f"{key}.html").read_text())
    assert "stages by task.ratio" in page
    assert all(f"minimal, ratio {ratio}" in page for ratio in ("1.3", "1.5", "1.9"))


def test_very_many_combinations_are_counted_not_told_one_by_one(headway, varied, monkeypatch):
    monkeypatch.setattr("headway.cli.vary_ending.MOST_TOLD", 2)
    words = ("run", "stages", "--vary", "task.ratio", "1.3", "1.5", "1.9", "--seeds", "4", "--no-page")
    told = headway(*words, "--into", varied)
    assert re.search(r"^A4 minimal  holds in every seed of \d of 3 combinations\. ", told.out, re.MULTILINE)
    assert "ratio 1.5" not in told.out
    assert not (varied / "figures").exists()


def test_lines_that_would_cover_each_other_are_not_drawn(headway, varied, monkeypatch):
    monkeypatch.setattr("headway.cli.vary_ending.MOST_LINES", 1)
    store = Store(varied)
    settings, trajectory = made_results("stages", seeds=FOUR)["minimal"]
    for ratio in (1.3, 1.5):
        with store.open(Cell(settings.changed(task={"ratio": ratio}, model={"scale": 0.5}), FOUR)) as work:
            work.place(trajectory, {"device": "none: made up"})
    words = ("--vary", "task.ratio", "1.3", "1.5", "--vary", "model.scale", "0.5", "1", "--seeds", "4")
    told = headway("run", "stages", *words, "--into", varied)
    assert "no figure: 2 lines would cover each other" in told.out
    assert len(list(varied.glob("stages-quick-by-task.ratio-model.scale-*.html"))) == 1


def test_another_sweep_over_the_same_settings_has_files_of_its_own(headway, varied):
    for values in (("1.3", "1.5"), ("1.5", "1.9"), ("1.3", "1.5")):
        headway("run", "stages", "--vary", "task.ratio", *values, "--seeds", "4", "--into", varied, "--no-page")
    assert len(list(varied.glob("stages-quick-by-task.ratio-*.csv"))) == 2


def test_what_was_not_run_is_not_told_as_what_does_not_hold(headway, tmp_path, monkeypatch):
    store = Store(tmp_path / "runs")
    settings, trajectory = made_results("stages", heads=1, seeds=FOUR)["minimal"]
    for ratio in (1.3, 1.5):
        with store.open(Cell(settings.changed(task={"ratio": ratio}), FOUR)) as work:
            work.place(trajectory, {"device": "none: made up"})
    words = ("--model.heads", "1", "--vary", "task.ratio", "1.3", "1.5", "--seeds", "4", "--no-page")
    told = headway("run", "stages", *words, "--into", store.root)
    assert (
        len(re.findall(r"^ +ratio 1\.[35] +not run +Competition needs two heads or more", told.out, re.MULTILINE)) == 2
    ), "and why"
    monkeypatch.setattr("headway.cli.vary_ending.MOST_TOLD", 1)
    assert "A4 minimal  not run. " in headway("run", "stages", *words, "--into", store.root).out
