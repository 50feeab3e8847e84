"""What is no mistake but should be known, and a folder that was named by mistake."""

import pytest


def test_claims_of_an_empty_folder_name_it(headway, tmp_path):
    said = headway("claims", "A1", "--from", str(tmp_path))
    assert said.code == 2
    assert f"there are no records in {tmp_path}" in said.err


@pytest.mark.parametrize("arguments", [(), ("A1",), ("--grid", "quick"), ("--published",)])
@pytest.mark.parametrize("folders", [(), ("runs", "results")])
def test_claims_where_nothing_was_run_say_so_and_write_nothing(headway, tmp_path, monkeypatch, arguments, folders):
    monkeypatch.chdir(tmp_path)
    for folder in folders:
        (tmp_path / folder).mkdir()
    said = headway("claims", *arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "headway: there are no records in runs or results: run something first, as in `headway run stages`, or name "
        "another folder with --from.\n"
    )
    assert {path.name for path in tmp_path.rglob("*")} == set(folders)


def test_a_batch_beyond_the_training_set_is_noted(dry, headway, capsys):
    """Every step takes all samples then, which somebody who types it should know."""
    dry("run", "stages", "--training.batch", "600", "--training.samples", "500")
    assert "there are only 500 samples: every step uses all of them" in capsys.readouterr().err
    dry("run", "stages", "--training.batch", "500", "--training.samples", "500")
    assert "note:" not in capsys.readouterr().err


@pytest.mark.parametrize("given", [("--model.width", "2000000"), ("--model.width=48",), ("--vary", "model.width", "8")])
def test_a_width_that_one_hot_embeddings_determine_is_noted(dry, capsys, given):
    dry("run", "stages", *given)
    [note] = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note:")]
    assert note == "note: model.width has no effect: one-hot embeddings determine the width of the model."


def test_the_note_on_the_width_counts_the_runs_and_is_left_out_where_the_width_counts(dry, capsys):
    dry("run", "ladder", "--model.width", "48")
    assert "note: model.width has no effect in 1 of 2 runs: one-hot" in capsys.readouterr().err
    dry("run", "ladder", "--only", "full", "--model.width", "48")
    dry("run", "stages", "--model.heads", "2")
    assert "note:" not in capsys.readouterr().err
