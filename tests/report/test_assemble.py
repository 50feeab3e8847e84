"""Pages are put together in one place: each run once, what does not fit is named, other settings have other files."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.made_run import FOUR, made_settings, made_trajectory
from tests.report.made_task import heads_alone

from headway.records import PILOT_SEEDS, Cell
from headway.report import assemble
from headway.report.assemble import (
    OTHERS,
    Shown,
    changed_settings,
    notebook_views,
    other_runs,
    page_name,
    put_together,
    views_of,
)
from headway.report.page.payload import payload
from headway.report.page.run_payload import run_payload
from headway.store import Record, Store
from headway.tasks.chain import Chain
from headway.tasks.construction import ConstructionSettings
from headway.tasks.recall import Recall

USUAL = made_settings()


@pytest.fixture
def chain(tmp_path: Path) -> Record:
    with Store(tmp_path).open(Cell(USUAL, FOUR)) as work:
        return work.place(made_trajectory(USUAL), {})


@pytest.fixture
def recall(tmp_path: Path) -> Record:
    with Store(tmp_path).open(Cell(Recall.usual(), (0, 1, 2))) as work:
        return work.place(heads_alone(), {})


def test_a_run_is_on_the_page_once_by_its_first_name(chain, recall):
    views, without_room = views_of([Shown("a", chain), Shown("b", recall), Shown("c", chain)])
    assert [view.label for view in views] == ["a", "b"] and without_room == []


def test_a_run_that_cannot_be_drawn_is_handed_over_and_the_others_are_packed_once(chain, recall, monkeypatch):
    packed = []

    def pack(view):
        packed.append(view.label)
        return run_payload(view) if view.label == "a" else 1 / 0

    monkeypatch.setattr("headway.report.page.run_payload.run_payload", pack)
    unfit = []
    shown = [Shown("a", chain), Shown("b", recall)]
    report = put_together("t", "", shown, unfit=lambda record, error: unfit.append((record, type(error))))
    assert len(payload(report)["runs"]) == 1 and packed == ["a", "b"]
    assert unfit == [(recall, ZeroDivisionError)]


def test_what_there_is_no_room_for_is_named(chain, recall, monkeypatch):
    monkeypatch.setattr(assemble, "MOST_BYTES", 1000)
    report = put_together("t", "", [Shown("a", chain), Shown("b", recall)])
    assert [view.label for view in report.runs] == ["a"]  # a page without any run would be no page
    folder = recall.path.parent.name
    told = f"1 of 2 runs is drawn here. The other lies in {folder}/: b. `headway watch {folder}` shows each of them."
    assert report.notes == (told,)


def test_runs_that_no_experiment_uses_are_named_by_what_differs(chain, recall):
    (other,) = other_runs([chain, recall], {chain.identity})
    assert other.section == OTHERS and other.label == f"recall {recall.identity[-4:]}: 3 seeds; default settings"


def test_pilots_of_a_learning_rate_are_no_runs_to_show(recall, tmp_path):
    with Store(tmp_path).open(Cell(USUAL, PILOT_SEEDS)) as work:
        pilot = work.place(made_trajectory(USUAL, PILOT_SEEDS), {})
    assert [each.record for each in other_runs([pilot, recall], ())] == [recall]


def test_a_notebook_is_told_what_cannot_be_drawn(chain, tmp_path):
    assert [view.label for view in notebook_views([chain])] == [Chain().about().title]
    named = notebook_views([chain, chain], lambda cell: cell.kind)
    assert [view.label for view in named] == ["markov (1)", "markov (2)"]
    with Store(tmp_path).open(Cell(ConstructionSettings(), (0,))) as work:
        made = work.place(replace(made_trajectory(USUAL, (0,)), arrays={}, clock_of={}), {})
    with pytest.raises(ValueError, match="nothing that changes over time"):
        notebook_views([made])


def test_the_grids_own_page_keeps_its_name_and_other_settings_have_one_of_their_own():
    assert page_name("stages-quick", changed_settings(USUAL, USUAL)) == "stages-quick"
    changed = USUAL.changed(task={"ratio": 1.3})
    assert changed_settings(USUAL, changed) == {"task.ratio": 1.3}
    assert page_name("stages-quick", changed_settings(USUAL, changed)) == "stages-quick-task.ratio-1.3"
    many = {f"training.setting{k}": k for k in range(9)}
    assert page_name("stages-quick", many) != page_name("stages-quick", many | {"training.setting0": 5})
    assert len(page_name("stages-quick", many)) < 40
    assert "/" not in page_name("x", {"task.path": "../../etc"})
