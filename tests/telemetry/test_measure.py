"""`headway measure` over folders of transformers and files of weights, interrupted and not."""

import json

import numpy as np
import pytest
from tests.report.embedded import embedded_text

torch = pytest.importorskip("torch")

from tests.telemetry.models import VOCAB, made, rows  # noqa: E402

import headway  # noqa: E402
from headway.cli import main  # noqa: E402
from headway.telemetry import Schedule, TelemetryError, Watch  # noqa: E402
from headway.telemetry.checkpoints import bare_names, in_order, measure  # noqa: E402

BUILDER = "from tests.telemetry.models import made\n\n\ndef build():\n    return made()\n"
STEPS = (0, 10, 20)


def models():
    """The same training at three steps."""
    model = made()
    for step in STEPS:
        yield step, model
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(1.5)


@pytest.fixture
def folder(tmp_path):
    """Weights as three programs write them: plain, compiled and wrapped in an entry, and as safetensors."""
    from safetensors.torch import save_file

    (tmp_path / "my_model.py").write_text(BUILDER)
    out = tmp_path / "out"
    out.mkdir()
    for step, model in models():
        weights = model.state_dict()
        if step == 0:
            torch.save(weights, out / "step0.pt")
        elif step == 10:
            torch.save(
                {"model": {f"_orig_mod.{name}": value for name, value in weights.items()}, "step": 10},
                out / "step10.pt",
            )
        else:
            save_file({name: value.contiguous() for name, value in weights.items()}, out / "step20.safetensors")
    np.save(tmp_path / "probe.npy", rows())
    np.save(tmp_path / "training.npy", rows(20).ravel())
    return tmp_path


def call(folder, *more):
    names = [str(path) for path in sorted((folder / "out").iterdir())]
    ends = ["--builder", f"{folder}/my_model.py", "--probe", f"{folder}/probe.npy", "--into", f"{folder}/runs"]
    main(["measure", *names, *ends, "--ngrams", f"{folder}/training.npy", "--orders", "2", *more])
    return [path for path in (folder / "runs").iterdir() if (path / "record.json").exists()]


def test_a_folder_of_checkpoints_gives_what_watching_would_have_given(folder, capsys):
    [path] = call(folder)
    record = headway.load(path)
    watch = None
    for step, model in models():
        watch = watch or Watch(
            model, rows(), ladder=headway.ngrams(rows(20).ravel(), 2, vocab=VOCAB), folder=folder / "live",
            schedule=Schedule(growth=None, every=1, share=None),
        )  # fmt: skip
        watch.step(step)
    watch.finish()
    live = headway.load(watch.path).trajectory
    assert record.trajectory.times("loss").tolist() == list(STEPS)
    for name in set(live.arrays) - {"probe_seconds"}:
        np.testing.assert_array_equal(record.trajectory[name], live[name], err_msg=name)
    assert record.cell.settings.checkpoints == ("step0.pt", "step10.pt", "step20.safetensors")
    assert "step 20: " in capsys.readouterr().out


def test_interrupted_it_goes_on_with_the_next_checkpoint_and_done_it_stays_as_it_is(folder, capsys, monkeypatch):
    original, seen = Watch.measure, []

    def stopping(self, step):
        if step == 10 and not seen:
            seen.append(step)
            raise KeyboardInterrupt
        original(self, step)

    monkeypatch.setattr(Watch, "measure", stopping)
    with pytest.raises(SystemExit) as end:
        call(folder)
    assert end.value.code == 130
    capsys.readouterr()
    [path] = call(folder)
    said = capsys.readouterr().out
    assert "step 0: " not in said and "step 10: " in said
    assert headway.load(path).trajectory.times("loss").tolist() == list(STEPS)
    written = (path / "record.json").stat().st_mtime_ns
    assert call(folder) == [path] and (path / "record.json").stat().st_mtime_ns == written


def test_it_is_on_the_page_of_its_folder(folder):
    call(folder)
    main(["report", "--from", f"{folder}/runs", "--into", f"{folder}/page"])
    assert "previous token" in embedded_text((folder / "page" / "report.html").read_text())


def test_folders_of_transformers_need_no_builder(tmp_path):
    transformers = pytest.importorskip("transformers")
    sizes = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 64, "vocab_size": VOCAB}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))
    for step in (5, 10):
        model.save_pretrained(tmp_path / "out" / f"checkpoint-{step}")
    (tmp_path / "out" / "checkpoint-10" / "trainer_state.json").write_text(json.dumps({"global_step": 12}))
    watch = measure(sorted((tmp_path / "out").iterdir()), rows(), folder=tmp_path / "runs")
    record = headway.load(watch.path)
    assert record.trajectory.times("loss").tolist() == [5, 12]
    assert record.cell.settings.name == "out" and record.cell.settings.model == "GPT2LMHeadModel"


def test_a_file_that_would_run_code_is_refused(folder):
    class Evil:
        def __reduce__(self):
            return (print, ("this ran",))

    torch.save({"weight": Evil()}, folder / "out" / "step30.pt")
    with pytest.raises(TelemetryError, match="cannot be read as weights alone"):
        measure([folder / "out" / "step30.pt"], rows(), builder=folder / "my_model.py", folder=folder / "runs")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "there is no nowhere"),
        (["out/step0.pt"], "--builder my_model.py"),
        (["out"], "has no step in its name"),
        (["out/step0.pt", "--builder", "wrong.py"], r"no function build\(\)"),
        (["out/step0.pt", "--builder", "other.py"], "does not fit the model"),
    ],
)
def test_mistakes_are_told_in_words(arguments, words, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    (folder / "wrong.py").write_text("x = 1\n")
    (folder / "other.py").write_text("import torch\n\n\ndef build():\n    return torch.nn.Linear(2, 2)\n")
    with pytest.raises(SystemExit) as end:
        main(["measure", *arguments, "--probe", "probe.npy"])
    assert end.value.code == 2
    import re

    assert re.search(words, capsys.readouterr().err)


def test_steps_are_read_from_names_and_order_the_checkpoints(tmp_path):
    for name in ("step100.pt", "step20.pt", "ckpt-v2-3000.pt"):
        (tmp_path / name).write_bytes(b"")
    assert [each.step for each in in_order(list(tmp_path.iterdir()))] == [20, 100, 3000]
    (tmp_path / "other20.pt").write_bytes(b"")
    with pytest.raises(TelemetryError, match="are both of step 20"):
        in_order(list(tmp_path.iterdir()))


def test_names_of_weights_lose_what_wrappers_wrote_before_them():
    assert bare_names({"state_dict": {"module._orig_mod.a": 1, "_orig_mod.module.b": 2}}) == {"a": 1, "b": 2}
