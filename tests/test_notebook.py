"""The few names that a notebook needs. (The README's notebook is run in tests/experiments.)"""

import importlib
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.report.embedded import embedded, embedded_text
from tests.report.made_run import FOUR, made_boundaries, made_settings, made_trajectory

import headway
from headway.records import Cell, Trajectory
from headway.settings import SettingsError
from headway.store import Record, Store
from headway.tasks.construction import ConstructionSettings

RESULTS = Path(__file__).parents[1] / "results"
NAME = "A Markov chain with vocabulary size 50 and 3 blocks of lags"
"""No experiment has a run like it."""


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A made-up run whose stages are known."""
    settings = made_settings()
    with Store(tmp_path_factory.mktemp("runs")).open(Cell(settings, FOUR)) as work:
        return work.place(made_trajectory(settings), {"device": "none: made up"})


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(cells, store, watch):
        raise AssertionError(f"{len(cells)} cells would be trained")

    monkeypatch.setattr("headway.sweep.here.run_cells", refuse)


def test_few_names_are_public_and_each_is_there():
    assert 8 <= len(headway.__all__) <= 24
    assert all(getattr(headway, name) is not None for name in headway.__all__)
    assert set(dir(headway)) >= set(headway.__all__)


def test_a_public_name_is_the_thing_itself_wherever_it_lives():
    assert headway.Settings is importlib.import_module("headway.tasks.run").Settings
    assert headway.load is importlib.import_module("headway.store").load
    assert headway.presets is importlib.import_module("headway.presets")


def test_a_name_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(AttributeError, match=r"has no attribute 'train'; it has .*run, show, stages"):
        headway.train  # noqa: B018


def test_star_import_brings_the_public_names():
    names: dict[str, object] = {}
    exec("from headway import *", names)
    assert set(headway.__all__) <= names.keys()


def test_what_was_run_before_is_found_and_not_trained_again(record, no_training):
    found = headway.run(record.cell.settings, seeds=4, into=record.path.parent)
    assert found == record
    same = headway.run(record.cell.settings, seeds=[0, 1, 2, 3], into=str(record.path.parent))
    assert same == record


def test_another_setting_or_another_seed_is_another_run(record, no_training):
    with pytest.raises(AssertionError, match="1 cells would be trained"):
        headway.run(record.cell.settings, seeds=3, into=record.path.parent, quiet=True)
    with pytest.raises(AssertionError, match="1 cells would be trained"):
        headway.run(made_settings(heads=2), seeds=4, into=record.path.parent, quiet=True)


def test_a_part_that_the_model_does_not_have_is_refused_before_the_training_that_it_would_come_from(
    record, no_training
):
    settings = record.cell.settings.changed(training={"frozen": ("attn",)})
    with pytest.raises(SettingsError, match=r"training\.frozen has attn, but the model has no such part"):
        headway.run(settings, seeds=1, into=record.path.parent, quiet=True)


@pytest.mark.parametrize("seeds", [0, -1, [], [1, 1], [-1, 2]])
def test_seeds_that_make_no_sense_are_refused(record, no_training, seeds):
    with pytest.raises(SettingsError, match="it must be a number of seeds or different numbers from 0 on"):
        headway.run(record.cell.settings, seeds=seeds, into=record.path.parent)


def test_the_stages_of_every_seed_are_those_of_its_ladder(record):
    found = headway.stages(record)
    assert [stages.rungs for stages in found] == [(1, 2, 3)] * 4
    for seed, stages in zip(FOUR, found, strict=True):
        assert stages.boundaries == pytest.approx(made_boundaries(3, seed), rel=0.15)


def test_a_record_without_a_ladder_says_what_it_has_instead():
    toy = next(iter(sorted(RESULTS.glob("toy-*"))))
    with pytest.raises(ValueError, match=r"no KL to the rungs of its task \(toy\).* it has .*stages_from_loss"):
        headway.stages(headway.load(toy))


def test_one_page_shows_one_run_or_several(record, tmp_path: Path):
    one = headway.page(record, tmp_path / "one.html", title="A title <of mine>")
    assert one == tmp_path / "one.html"
    assert "A title &lt;of mine&gt;" in one.read_text()
    several = headway.page([record, record], tmp_path / "new folder" / "two.html")
    assert [run["label"] for run in embedded(several.read_text())["runs"]] == [f"{NAME} (1)", f"{NAME} (2)"]
    assert [run["label"] for run in embedded(one.read_text())["runs"]] == [NAME]


def framed(markup: str) -> tuple[dict[str, str | None], str]:
    """The attributes of the one frame in a piece of HTML, and the document in it."""
    frames: list[dict[str, str | None]] = []

    class Frames(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag == "iframe"
            frames.append(dict(attrs))

    parser = Frames()
    parser.feed(markup)
    parser.close()
    [frame] = frames
    return frame, frame.pop("srcdoc") or ""


def test_a_notebook_shows_the_very_page_that_would_be_written(record, tmp_path: Path):
    written = headway.page(record, tmp_path / "page.html", title='Mine & "yours" <b>').read_text()
    frame, content = framed(headway.show(record, title='Mine & "yours" <b>', height=700)._repr_html_())
    assert content == written
    assert frame["title"] == 'Mine & "yours" <b>'
    assert "height:700px" in (frame["style"] or "")


def test_a_page_in_a_notebook_runs_its_scripts_without_reaching_the_notebook(record):
    frame, _ = framed(headway.show([record, record])._repr_html_())
    assert set((frame["sandbox"] or "").split()) == {"allow-scripts", "allow-downloads"}


def test_six_megabytes_are_not_what_a_terminal_prints(record):
    assert repr(headway.show(record, "A title")) == "Shown(title='A title', height=900)"


def test_a_height_that_makes_no_sense_is_refused(record):
    with pytest.raises(ValueError, match="height is 0, but it must be a number of pixels"):
        headway.show(record, height=0)


def test_a_run_without_pictures_is_refused_in_words(tmp_path: Path):
    settings, seeds = ConstructionSettings(), (0,)
    trajectory = Trajectory(seeds, {}, {}, {}, {"excess": np.zeros(1)})
    with Store(tmp_path).open(Cell(settings, seeds)) as work:
        made = work.place(trajectory, {})
    with pytest.raises(ValueError, match="nothing that changes over time and could be drawn: its arrays are none"):
        headway.show(made)


@pytest.mark.browser
def test_the_slider_moves_inside_a_notebook(record, browser, tmp_path: Path):
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><title>a notebook</title>{headway.show(record)._repr_html_()}")
    complaints: list[str] = []
    page = browser.new_page(viewport={"width": 1000, "height": 950}, reduced_motion="reduce")
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(notebook.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator("html[data-ready]").wait_for()
    # A frame that is made before it hears of reduced motion moves once, and comes to rest at the same step.
    inside.locator(".step", has_text="step 2\u202f000").wait_for()
    inside.locator("#time").press("Home")
    inside.locator(".step", has_text="step 0").wait_for()
    page.context.close()
    assert complaints == []


def test_a_loaded_record_says_where_it_comes_from(record):
    assert headway.load(record.path).provenance["device"] == "none: made up"


def test_varied_runs_come_in_order_and_only_what_is_missing_is_trained(record, monkeypatch, tmp_path):
    settings, trained = record.cell.settings, []

    def place(cells, store, watch):
        for cell in cells:
            trained.append(cell.settings.task.ratio)
            with store.open(cell) as work:
                work.place(record.trajectory, {"device": "none: made up"})

    monkeypatch.setattr("headway.sweep.here.run_cells", place)
    first = headway.vary(settings, {"task.ratio": [1.4]}, seeds=4, into=tmp_path, quiet=True)
    found = headway.vary(settings, {"task.ratio": [1.3, 1.4, 1.5]}, seeds=4, into=tmp_path, quiet=True)
    assert [each.cell.settings.task.ratio for each in found] == [1.3, 1.4, 1.5]
    assert trained == [1.4, 1.3, 1.5]
    assert found[1] == first[0]


def test_a_variation_of_what_is_no_setting_is_refused(record, no_training):
    with pytest.raises(SettingsError, match=r"there is no setting 'task\.rato' to vary\. There are task\.vocab, "):
        headway.vary(record.cell.settings, {"task.rato": [1.3]}, into=record.path.parent)


@dataclass(frozen=True)
class LastToken:
    """Say again what came last: made up here, as in a notebook."""

    vocab: int = 3

    def sample(self, key):
        row = jax.random.randint(key, (4,), 0, self.vocab)
        return jnp.append(row, row[-1])

    predicted = 1


def falls(claim, results):
    (_, trajectory), *_ = results.values()
    ratio = trajectory["loss"][:, -1] / trajectory["loss"][:, 0]
    return ratio, ratio < 0.9


def loss_curves(results):
    from headway.report.figures.style import new_figure

    return {"losses": new_figure()}


OWN = headway.Experiment.of(
    LastToken(),
    title="Say again what came last.",
    model=headway.Model(layers=1, heads=1, width=8, mlp=0, norm="none", dropout=0.0),
    training=headway.Training(
        learning_rate=0.03, schedule="constant", steps=40, batch=8, data="fresh", test_samples=16
    ),
    evaluation=headway.Evaluation(points=4, snapshots=2),
    seeds=2,
    claims=[headway.Claim("N1", "The loss falls.", "By a tenth.", "last loss / first", judge=falls)],
    figures=loss_curves,
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory):
    return headway.run(OWN, into=tmp_path_factory.mktemp("own"), quiet=True)


def test_an_experiment_ends_with_records_findings_figures_and_a_page(ran, tmp_path):
    assert list(ran.records) == ["last-token"] and ran.records["last-token"].cell.seeds == (0, 1)
    [finding] = ran.findings
    assert (finding.claim, finding.verdict) == ("N1", "holds")
    assert {path.suffix for path in ran.figures(tmp_path / "figures")} == {".png", ".pdf", ".svg"}
    page = ran.page(tmp_path / "page.html")
    assert "Say again what came last." in page.read_text() and "The loss falls." in embedded_text(page.read_text())


def test_its_verdicts_are_what_a_notebook_prints(ran):
    words = repr(ran).splitlines()
    assert words[:2] == ["Say again what came last.", "quick: last-token (2 seeds)"]
    assert re.fullmatch(r"N1: holds 2/2, last loss / first 0\.\d+ \[.*\]\. The loss falls\.", words[2])


def test_again_it_is_found_and_its_settings_come_back_as_its_own(ran, no_training):
    folder = ran.records["last-token"].path.parent
    again = headway.run(OWN, into=folder)
    assert again.records == ran.records
    assert isinstance(headway.load(again.records["last-token"].path).cell.settings.task, LastToken)


def test_pages_show_records_of_any_kind_side_by_side(ran, record, tmp_path):
    text = embedded_text(headway.page([record, ran.records["last-token"]], tmp_path / "both.html").read_text())
    assert f'"label":"{NAME}"' in text and "Last token" in text
    assert headway.show(ran.records["last-token"]).text


def test_a_grid_that_is_not_there_is_told_with_those_that_are(record, no_training):
    with pytest.raises(SettingsError, match=r"there is no grid 'paper'\. There are quick"):
        headway.run(OWN, grid="paper")
    with pytest.raises(SettingsError, match="settings describe a single run"):
        headway.run(record.cell.settings, grid="quick")
