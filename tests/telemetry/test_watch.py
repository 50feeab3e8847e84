"""A watched run is a record like any other: listed, loaded, watched live, resumed, and whole whatever a probe does."""

import json
import logging
import subprocess
import sys

import numpy as np
import pytest
from tests.report.embedded import embedded_text

torch = pytest.importorskip("torch")

from tests.telemetry.models import VOCAB, made, rows  # noqa: E402

import headway  # noqa: E402
from headway.report.assemble import notebook_views  # noqa: E402
from headway.report.page.run_payload import run_payload  # noqa: E402
from headway.store import Store  # noqa: E402
from headway.telemetry import SCORES, Schedule, TelemetryError, Watch  # noqa: E402
from headway.telemetry.stage_log import StageLog  # noqa: E402
from headway.watch.survey import Survey  # noqa: E402

ALWAYS = Schedule(growth=None, every=1, share=None)


def watching(folder, **more):
    grams = headway.ngrams(rows(20).ravel(), 3, vocab=VOCAB)
    return Watch(made(), rows(), ladder=grams, **{"folder": folder, "name": "test", "schedule": ALWAYS} | more)


def run(watch, steps=4, first=0):
    for step in range(first, steps):
        watch.step(step)
        with torch.no_grad():
            for parameter in watch.model.parameters():
                parameter += 0.01


@pytest.fixture
def record(tmp_path):
    watch = watching(tmp_path)
    run(watch)
    watch.finish(4)
    return headway.load(watch.path)


def test_the_record_holds_every_score_of_every_head_over_training(record):
    trajectory = record.trajectory
    assert trajectory.times("loss").tolist() == [0, 1, 2, 3, 4]
    for name in SCORES:
        assert trajectory[f"head_scores/{name}"].shape == (1, 5, 2, 2)
    assert trajectory["attention_by_lag"].shape == (1, 5, 2, 2, 24)
    assert trajectory["kl_rungs"].shape == (1, 5, 4) and trajectory["in_context_score"].shape == (1, 5)
    assert set(trajectory.clock_of.values()) == {"evaluation"}
    assert record.provenance["telemetry"]["found"] == "2 layers x 2 heads, by scaled_dot_product_attention"
    assert record.provenance["versions"]["torch"] == torch.__version__
    assert record.cell.settings.name == "test" and record.cell.settings.model == "Nano"


def test_it_is_listed_and_drawn_like_any_other(record, tmp_path):
    [entry] = Store(tmp_path).status(thorough=True)
    assert entry.state == "done" and "name=test" in entry.summary
    [view] = notebook_views([record])
    told = run_payload(view)
    assert told["title"] == "Nano, 4,832 parameters (test)"
    assert told["rungs"] == ["uniform", "unigram", "bigram", "3-gram"]
    words = {each["array"]: each for each in told["measures"]}
    assert words["head_scores/prefix_matching"]["axes"] == "heads" and "in_context_score" in words
    assert len(told["levels"]) == 4
    headway.page(record, tmp_path / "page.html")
    assert "prefix matching (induction)" in embedded_text((tmp_path / "page.html").read_text())


def test_reading_a_record_needs_no_pytorch(record):
    code = (
        "import sys; sys.modules['torch'] = None\n"
        f"import headway; record = headway.load({str(record.path)!r})\n"
        "print(record.cell.settings.about().rungs, record.trajectory['loss'].shape)"
    )
    told = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'bigram'" in told and "(1, 5)" in told


def test_it_is_live_while_it_trains_and_goes_on_after_an_interruption(tmp_path):
    watch = watching(tmp_path)
    run(watch, 3)
    watch._recording.save()
    [seen] = Survey(tmp_path).look().cells.values()
    assert seen.state == "running" and seen.position == 2 and "kl_rungs" in seen.clock_of
    with pytest.raises(Exception, match="another process is computing"):
        watching(tmp_path).step(0)
    watch.close()
    [seen] = Survey(tmp_path).look().cells.values()
    assert seen.state == "stopped"
    again = watching(tmp_path)
    run(again, 6, first=1)  # training went back to an earlier checkpoint of its own
    again.finish(6)
    assert headway.load(again.path).trajectory.times("loss").tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_a_finished_record_is_not_written_again(record, tmp_path):
    with pytest.raises(TelemetryError, match="Give this run another name"):
        watching(tmp_path).step(0)
    other = watching(tmp_path, name="other")
    other.step(0)
    other.finish()
    assert other.path != record.path


def test_a_probe_that_fails_ends_no_training_and_is_shown(tmp_path, caplog, monkeypatch):
    caplog.set_level(logging.INFO)
    watch = watching(tmp_path)
    run(watch, 2)
    monkeypatch.setattr(watch._reader, "forward", lambda *_: 1 / 0)
    watch.step(2)
    watch._recording.save()
    assert "the probe at step 2 failed; training goes on" in caplog.text and "ZeroDivisionError" in caplog.text
    [seen] = Survey(tmp_path).look().cells.values()
    assert seen.state == "running" and "ZeroDivisionError" in seen.trouble
    monkeypatch.undo()
    watch.step(3)
    watch.finish()
    record = headway.load(watch.path)
    [failed] = record.provenance["telemetry"]["failures"]
    assert failed["step"] == 2 and "ZeroDivisionError" in failed["error"]
    assert record.trajectory["probe_failed"][0].tolist() == [0, 0, 1, 0]
    assert np.isnan(record.trajectory["loss"][0]).tolist() == [False, False, True, False]
    page = embedded_text(headway.page(record, tmp_path / "page.html").read_text())
    assert "ZeroDivisionError" in page


def test_a_first_probe_that_fails_is_tried_again_later(tmp_path, monkeypatch):
    watch = watching(tmp_path)
    monkeypatch.setattr(watch._reader, "forward", lambda *_: 1 / 0)
    watch.step(0)
    assert [each["step"] for each in watch.failures] == [0]
    monkeypatch.undo()
    watch = watching(tmp_path, name="second")
    with monkeypatch.context() as patch:
        patch.setattr(watch._reader, "forward", lambda *_: 1 / 0)
        watch.step(0)
    watch.step(1)
    watch.finish()
    assert headway.load(watch.path).trajectory.times("loss").tolist() == [1]


def test_a_full_disk_ends_no_training(tmp_path, monkeypatch, caplog):
    watch = watching(tmp_path)
    watch.step(0)
    monkeypatch.setattr(watch._recording._work, "save", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    monkeypatch.setattr("headway.telemetry.recording.SAVE_EVERY", 0.0)
    watch.step(1)
    watch.finish()
    assert "No space left" in caplog.text


def test_nothing_found_is_raised_at_the_first_probe_and_leaves_no_record(tmp_path):
    watch = Watch(made("softmax"), rows(), folder=tmp_path)
    with pytest.raises(TelemetryError, match="no attention was found"):
        watch.step(0)
    watch.step(1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"probe": np.zeros((2, 9))}, "wanted integers"),
        ({"probe": rows(length=4)}, "at least 8"),
        ({"probe": rows() - 100}, "Leave out padding"),
        ({"scores": ("induction",)}, "there is no score 'induction'; there are"),
    ],
)
def test_mistakes_are_told_before_training(wrong, words, tmp_path):
    with pytest.raises(TelemetryError, match=words):
        Watch(made(), **{"probe": rows(), "folder": tmp_path} | wrong)


def test_only_the_first_of_several_processes_measures(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    watch = watching(tmp_path)
    run(watch)
    watch.finish(4)
    assert watch.path is None and list(tmp_path.iterdir()) == []


def test_a_sharded_model_is_refused(tmp_path):
    class FSDPModule(type(made())):
        pass

    model = FSDPModule()
    with pytest.raises(TelemetryError, match="headway measure"):
        Watch(model, rows(), folder=tmp_path).step(0)


def test_some_scores_alone(tmp_path):
    with watching(tmp_path, scores=("entropy",)) as watch:
        watch.step(0)
    arrays = headway.load(watch.path).trajectory.arrays
    assert [name for name in arrays if name.startswith("head_scores/")] == ["head_scores/entropy"]


def test_a_script_that_ends_has_finished_its_run_and_one_that_dies_has_not(tmp_path):
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.telemetry.models import made, rows\n"
        "from headway.telemetry import Watch\n"
        f"watch = Watch(made(), rows(), folder={str(tmp_path)!r}, name=sys.argv[1]); watch.step(0)\n"
        "if sys.argv[1] == 'dies': 1 / 0\n"
    )
    for name in ("ends", "dies"):
        subprocess.run([sys.executable, "-c", code, name], capture_output=True)
    states = {seen.cell.settings.name: seen.state for seen in Survey(tmp_path).look().cells.values()}
    assert states == {"ends": "done", "dies": "stopped"}


def test_the_end_of_a_stage_is_reported_once_with_the_step():
    """KL to three rungs, each reaching its minimum in turn."""
    steps = np.unique(np.geomspace(1, 10_000, 60).astype(int))
    time = np.log10(steps)
    kl = np.stack([0.2 + time, 0.1 + np.abs(time - 1), 0.1 + np.abs(time - 3)], axis=1)
    log, news = StageLog(("uniform", "unigram", "bigram")), []
    for count in range(3, len(steps) + 1):
        news += log.update(steps[:count].tolist(), list(kl[:count]))
    assert len(news) == 1 and news[0].startswith("the stage 'unigram' ends: KL to it reached its minimum at step 10 ")
    assert log.stage == "bigram"


def test_the_stage_of_a_run_is_a_rung_by_name(tmp_path):
    watch = watching(tmp_path)
    assert watch.stage == ""
    watch.step(0)
    assert watch.stage in ("uniform", "unigram", "bigram", "3-gram")
    watch.close()
    assert json.loads((watch.path.with_name(watch.path.name + ".partial") / "cell.json").read_text())
