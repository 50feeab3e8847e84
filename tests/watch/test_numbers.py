"""The numbers of a run, whole or unfinished, huge or damaged, and what it costs to ask for them again."""

import json

import numpy as np
import pytest
from tests.report.made_task import heads_alone
from tests.watch.made import CELL, OTHER, WHOLE, piece, save

from headway.records import Cell, Trajectory
from headway.report.page.packing import unpack
from headway.store import progress
from headway.tasks.construction import ConstructionSettings
from headway.tasks.recall import Recall


def test_an_unfinished_run_is_shown_as_far_as_it_was_saved_while_somebody_works_on_it(serve, ask, store):
    server = serve()
    with store.open(CELL) as work:
        work.resume()
        assert ask(server, f"/run/{CELL.identity}").status == 200
        assert ask(server, f"/run/{CELL.identity}.json").status == 404, "nothing was measured yet"
        save(work, -1, 100, 5.0)
        for after, until in ((100, 200), (200, 2000)):
            save(work, after, until, 10.0)
            [run] = json.loads(ask(server, f"/run/{CELL.identity}.json").text)["runs"]
            assert run["label"].endswith("(running)")
            assert run["clocks"]["evaluation"] == piece(-1, until).clocks["evaluation"].tolist()
            np.testing.assert_array_equal(unpack(run["arrays"]["kl_rungs"]), piece(-1, until)["kl_rungs"])
        work.finish(WHOLE.facts, {})
    [run] = json.loads(ask(server, f"/run/{CELL.identity}.json").text)["runs"]
    assert "diverged_at" in run["facts"] and not run["label"].endswith(")")


def test_only_new_parts_of_an_unfinished_run_are_read(serve, ask, store, monkeypatch):
    server, read = serve(), []
    read_parts = progress.read_parts

    def counted(folder, told, seeds):
        read.append(list(told.parts))
        return read_parts(folder, told, seeds)

    with store.open(CELL) as work:
        work.resume()
        save(work, -1, 100, 5.0)
        monkeypatch.setattr(progress, "read_parts", counted)
        for _ in range(2):
            ask(server, f"/run/{CELL.identity}.json")
        save(work, 100, 200, 10.0)
        ask(server, f"/run/{CELL.identity}.json")
        assert read == [["part-000001.safetensors"], ["part-000002.safetensors"]]


def test_work_that_was_thrown_away_and_started_anew_is_read_anew(serve, ask, store):
    server = serve()
    with store.open(CELL) as work:
        work.resume()
        for after, until in ((-1, 100), (100, 300)):
            save(work, after, until, 5.0)
        ask(server, f"/run/{CELL.identity}.json")
    partial = store.root / f"{CELL.identity}.partial"
    partial.rename(store.root / "elsewhere")
    with store.open(CELL) as work:
        work.resume()
        save(work, -1, 60, 1.0)
        [run] = json.loads(ask(server, f"/run/{CELL.identity}.json").text)["runs"]
        assert run["clocks"]["evaluation"][-1] == 60


def test_a_question_without_news_costs_no_reading(serve, ask, store, record, monkeypatch):
    server = serve()
    news = ask(server, "/state.json")
    monkeypatch.setattr("headway.store.arrays.decode", lambda data: pytest.fail("an array was read"))
    same = ask(server, "/state.json", If_None_Match=news.headers["etag"])
    assert (same.status, same.text) == (304, "")
    with store.open(OTHER):
        assert ask(server, "/state.json", If_None_Match=news.headers["etag"]).status == 200


def test_a_run_that_has_not_changed_is_packed_once(serve, ask, record, monkeypatch):
    server = serve()
    first = ask(server, f"/run/{record.identity}.json")
    monkeypatch.setattr("headway.report.page.run_payload.run_payload", lambda view: pytest.fail("packed again"))
    assert ask(server, f"/run/{record.identity}.json").text == first.text
    assert ask(server, "/").status == 200


def test_what_is_kept_in_memory_is_limited(serve, ask, store, record, monkeypatch):
    with store.open(OTHER) as work:
        work.place(WHOLE, {})
    monkeypatch.setattr("headway.watch.run_cache.MOST_KEPT", 1)
    server = serve()
    for _ in range(2):
        for cell in (CELL, OTHER):
            assert ask(server, f"/run/{cell.identity}.json").status == 200
    assert len(server.handler._runs._packed) == 1


@pytest.mark.parametrize("path", ["/run/{}", "/run/{}.json"])
def test_a_damaged_record_gets_a_page_that_says_what_is_wrong(serve, ask, store, record, path):
    trajectory = store.root / record.identity / "trajectory.safetensors"
    data = bytearray(trajectory.read_bytes())
    data[-1] ^= 1
    trajectory.write_bytes(data)
    server = serve()
    answer = ask(server, path.format(record.identity))
    assert answer.status == 422
    assert "does not have the SHA-256 it was written with" in answer.text
    assert "Move the folder away" in answer.text
    assert ask(server, "/").status == 200, "the others are still shown"


def test_a_record_whose_content_makes_no_sense_is_no_traceback(serve, ask, store):
    """Its checksums are right: somebody wrote it so."""
    arrays = {"excess_loss": np.zeros((4, 3)), "kl_rungs": np.zeros((4, 3))}  # of which rung?
    flat = Trajectory((0, 1, 2, 3), {"evaluation": np.arange(3)}, arrays, dict.fromkeys(arrays, "evaluation"))
    with store.open(CELL) as work:
        work.place(flat, {})
    answer = ask(serve(), f"/run/{CELL.identity}")
    assert answer.status == 422
    assert "what it holds cannot be shown" in answer.text


def test_a_record_that_is_too_large_is_refused_before_it_is_read(serve, ask, record, monkeypatch):
    monkeypatch.setattr("headway.watch.run_cache.MOST_BYTES", 1000)
    monkeypatch.setattr("headway.store.arrays.decode", lambda data: pytest.fail("an array was read"))
    server = serve()
    answer = ask(server, f"/run/{record.identity}")
    assert answer.status == 413
    assert "loads at most 1,000" in answer.text
    assert json.loads(ask(server, "/state.json").text)["runs"] == []


def test_a_run_without_pictures_is_counted_and_its_page_says_where_to_look(serve, ask, store):
    cell = Cell(ConstructionSettings(), (0,))
    with store.open(cell) as work:
        work.place(Trajectory((0,), {}, {}, {}, {"excess": np.zeros(1)}), {})
    server = serve()
    assert json.loads(ask(server, "/state.json").text)["counts"]["done"] == 1
    answer = ask(server, f"/run/{cell.identity}")
    assert answer.status == 404 and "`headway report`" in answer.text


def test_every_kind_of_training_is_shown_while_it_runs(serve, ask, store):
    """What it measures says that it can be drawn, not what it is called."""
    cell = Cell(Recall.usual(), (0, 1, 2))
    whole = heads_alone()
    server = serve()
    with store.open(cell) as work:
        work.resume()
        work.save(piece(-1, 500, whole), {"seconds": np.array([2.0])}, 500)
        state = json.loads(ask(server, "/state.json").text)
        assert [each["identity"] for each in state["runs"]] == [cell.identity]
        assert [row["showable"] for row in state["cells"]] == [True]
        [run] = json.loads(ask(server, f"/run/{cell.identity}.json").text)["runs"]
        assert run["label"].endswith("(running)") and run["progress"]["array"] == "accuracy"
        assert {each["array"] for each in run["measures"] if each["axes"] == "heads"} == {
            "attention_previous",
            "attention_relevant",
        }
        assert ask(server, f"/run/{cell.identity}").status == 200


def test_what_a_record_says_of_itself_is_what_the_page_says(serve, ask, store):
    with store.open(CELL) as work:
        work.place(WHOLE, {"about": {"title": "A chain of mine", "rungs": ["nothing", "one", "two", "all"]}})
    [run] = json.loads(ask(serve(), f"/run/{CELL.identity}.json").text)["runs"]
    assert (run["title"], run["rungs"]) == ("A chain of mine", ["nothing", "one", "two", "all"])


def test_a_folder_that_is_not_there_yet_has_a_page(serve, ask):
    answer = ask(serve(), "/")
    assert answer.status == 200
    assert "this page fills as soon as a run begins there" in answer.text


def test_a_folder_that_cannot_be_read_is_told(serve, ask, store):
    store.root.write_text("a file in its place")
    answer = ask(serve(), "/")
    assert answer.status == 503 and "Not a directory" in answer.text
