"""What is told of a folder: every cell in its state, how long it will take, and nothing changed by looking."""

import hashlib
import json
from pathlib import Path

import pytest
from tests.report.made_run import FOUR, made_settings
from tests.watch.made import CELL, OTHER, WHOLE, save

from headway.records import PILOT_SEEDS, Cell
from headway.store import progress
from headway.store.plan import Plan, announced
from headway.sweep import begun
from headway.watch import timing
from headway.watch.handler import Handler
from headway.watch.overview import shown, state
from headway.watch.snapshot import Seen, Snapshot
from headway.watch.survey import Survey


def fingerprint(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_cell_waits_runs_stops_goes_on_and_is_done(store):
    survey, identity = Survey(store.root), CELL.identity
    seen = lambda: survey.look().cells[identity]  # noqa: E731
    assert survey.look().cells == {}
    with announced(store.root, [CELL]):
        assert seen().state == "waiting" and seen().words.startswith("4 seeds; model.embedding=one-hot, ")
        with pytest.raises(KeyboardInterrupt), store.open(CELL) as work:
            assert (seen().state, seen().position) == ("running", 0)
            work.resume()
            save(work, -1, 200, 12.0)
            assert (seen().state, seen().position, seen().seconds) == ("running", 200, 12.0)
            raise KeyboardInterrupt
    assert (seen().state, seen().position) == ("stopped", 200)
    with store.open(CELL) as work:
        work.resume()
        assert seen().state == "running"
        work.place(WHOLE, {})
    assert (seen().state, seen().trouble) == ("done", "")


def test_a_cell_that_an_error_ended_says_which_until_it_is_tried_again(store):
    survey = Survey(store.root)
    for saved in (False, True):
        with pytest.raises(ValueError), store.open(CELL) as work:
            work.resume()
            if saved:
                save(work, -1, 200, 12.0)
            raise ValueError("too hot")
        seen = survey.look().cells[CELL.identity]
        assert (seen.state, seen.trouble) == ("failed", "ValueError: too hot")
        assert seen.position == (200 if saved else 0)
    with store.open(CELL):
        assert survey.look().cells[CELL.identity].state == "running"
    assert survey.look().cells[CELL.identity].state == "stopped"


def test_cells_that_train_together_fail_together_but_not_those_that_are_done(store):
    with pytest.raises(ValueError), store.open(CELL) as first, store.open(OTHER):
        first.resume()
        first.place(WHOLE, {})
        raise ValueError("too hot")
    states = {seen.identity: seen.state for seen in Survey(store.root).look().cells.values()}
    assert states == {CELL.identity: "done", OTHER.identity: "failed"}


def test_a_sweep_that_was_killed_waits_for_nothing(store):
    survey = Survey(store.root)
    with announced(store.root, [CELL, OTHER]):
        assert len(survey.look().cells) == 2
        [plan] = store.root.glob("*.plan")
        left_behind = plan.read_bytes()
    plan.write_bytes(left_behind)
    assert survey.look().cells == {}
    with announced(store.root, [CELL]):
        assert not plan.exists()
        assert set(survey.look().cells) == {CELL.identity}


def test_a_sweep_also_announces_what_its_cells_are_compared_with_and_not_what_is_done(store, record):
    compared = Cell(made_settings(references=(2, 4)), FOUR)
    with announced(store.root, [record, compared]):
        [plan] = Survey(store.root).look().plans
    assert {identity for identity, _ in plan.cells} == {each.identity for each in (compared, *compared.references())}


def test_a_sweep_that_cannot_be_announced_goes_on_all_the_same(store):
    store.root.write_text("a file in its place")
    with announced(store.root, [CELL]):
        assert store.root.is_file()


def test_looking_changes_nothing_and_reads_no_array(store, record, monkeypatch):
    with store.open(OTHER) as work:
        work.resume()
        work.save(None, {}, 3)
        before = fingerprint(store.root)
        monkeypatch.setattr("headway.store.arrays.decode", lambda data: pytest.fail("an array was read"))
        Survey(store.root).look()
        assert fingerprint(store.root) == before


def test_what_has_not_changed_is_not_read_again(store, record, monkeypatch):
    survey = Survey(store.root)
    first = survey.look()
    monkeypatch.setattr("headway.watch.survey.read_named", lambda *_: pytest.fail("read again"))
    assert survey.look().cells == first.cells


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"format": "headway record", "version": 1}'])
def test_a_damaged_record_is_told_as_such(store, record, content):
    (store.root / record.identity / "record.json").write_bytes(content)
    seen = Survey(store.root).look().cells[record.identity]
    assert seen.state == "damaged" and seen.trouble


def test_nothing_is_read_of_a_file_that_is_far_too_large(store, record, monkeypatch):
    with (store.root / record.identity / "record.json").open("r+b") as file:
        file.truncate(100_000_000)
    monkeypatch.setattr("headway.store.files.os.read", lambda *place: pytest.fail("it was read"))
    seen = Survey(store.root).look().cells[record.identity]
    assert (seen.state, "100000000 bytes" in seen.trouble) == ("damaged", True)


def test_unfinished_work_that_cannot_be_read_is_damaged(store):
    with store.open(CELL) as work:
        work.resume()
        save(work, -1, 200, 12.0)
    (store.root / f"{CELL.identity}.partial" / progress.CHECKPOINT).write_text("{}")
    assert Survey(store.root).look().cells[CELL.identity].state == "damaged"


def test_links_and_folders_of_other_people_are_left_alone(store, record, tmp_path):
    (store.root / "figures").mkdir()
    (store.root / "flow-0123456789abcdef").symlink_to(tmp_path)
    (store.root / "toy-0123456789abcdef.partial").symlink_to(tmp_path)
    states = {seen.identity: seen.state for seen in Survey(store.root).look().cells.values()}
    assert states == {record.identity: "done", "flow-0123456789abcdef": "damaged"}


def test_a_crowded_folder_is_not_read_to_its_end(store, record, monkeypatch):
    monkeypatch.setattr("headway.watch.survey.MOST_ENTRIES", 3)
    for number in range(9):
        (store.root / f"note-{number}").touch()
    sight = Survey(store.root).look()
    assert sight.crowded and state(sight, [])["crowded"]


def at(position: int, seconds: float, since: tuple[int, float] | None = None, **more) -> Seen:
    return Seen("a", "running", cell=CELL, position=position, seconds=seconds, since=since, **more)


def test_the_time_left_is_that_of_the_steps_left_at_the_pace_since_the_first_look():
    assert timing.cell_left(at(1000, 110.0, (500, 60.0))) == pytest.approx(100.0)
    assert timing.cell_left(at(1000, 110.0)) == pytest.approx(110.0)


def test_nothing_is_predicted_from_the_first_steps_which_waited_for_the_compiler():
    assert timing.cell_left(at(1, 30.0, (1, 30.0))) is None
    assert timing.cell_left(at(0, 0.0)) is None


def test_what_waits_is_taken_to_need_what_the_sweep_has_needed_before():
    plan = Plan(1000.0, (("a", ""), ("b", ""), ("c", ""), ("d", "")))
    cells = {
        "a": at(1000, 50.0),
        "b": Seen("b", "done", changed=1040.0),
        "c": Seen("c", "waiting"),
        "d": Seen("d", "waiting"),
    }
    assert timing.left(Snapshot(cells, (plan,), False)) == {"running": 50.0, "all": 50.0 + 2 * 40.0}
    del cells["b"]
    assert timing.left(Snapshot({**cells, "b": Seen("b", "waiting")}, (plan,), False)) == {"running": 50.0, "all": None}


def test_the_sweep_keeps_its_time_under_the_name_that_is_looked_for():
    assert timing.SECONDS == begun.SECONDS


CURVE = {"excess_loss": "evaluation"}


def test_what_runs_is_shown_first_and_the_number_of_runs_is_limited():
    cells = {f"{k}": Seen(f"{k}", "done", cell=CELL, changed=float(k), clock_of=CURVE) for k in range(30)}
    cells["now"] = Seen("now", "running", cell=CELL, position=5, changed=0.0, clock_of=CURVE)
    cells["new"] = Seen("new", "running", cell=CELL, position=0, changed=99.0)
    found = [seen.identity for seen in shown(Snapshot(cells, (), False))]
    assert found == ["now", "29", "28", "27", "26", "25"]


def test_pilots_of_a_learning_rate_are_not_listed():
    pilot = Cell(CELL.settings, PILOT_SEEDS)
    cells = {
        "pilot": Seen("pilot", "running", cell=pilot, position=5, clock_of=CURVE),
        "run": Seen("run", "done", cell=CELL, clock_of=CURVE),
        "unknown": Seen("unknown", "damaged"),
    }
    sight = Snapshot(cells, (), False)
    assert [seen.identity for seen in shown(sight)] == ["run"]
    told = state(sight, shown(sight))
    assert {row["identity"] for row in told["cells"]} == {"run", "unknown"}
    assert (told["counts"]["running"], told["counts"]["done"], told["showable"]) == (0, 1, 1)


def test_pilots_that_are_running_are_told_of_in_a_sentence(store):
    with store.open(Cell(CELL.settings, PILOT_SEEDS)):
        told = Handler(store.root).news(None)
    assert "1 pilot run is choosing a learning rate, and not listed." in told["lead"]
    assert told["cells"] == [] and told["counts"]["running"] == 0


def test_the_revision_differs_exactly_when_the_news_do(store, record):
    survey = Survey(store.root)
    first, second = (state(sight, shown(sight)) for sight in (survey.look(), survey.look()))
    assert first == second
    json.dumps(first, allow_nan=False)
    with store.open(OTHER):
        sight = survey.look()
        assert state(sight, shown(sight))["revision"] != first["revision"]
