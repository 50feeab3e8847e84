"""What is no mistake but should be known, and a folder that was named by mistake."""


def test_claims_of_an_empty_folder_name_it(headway, tmp_path):
    said = headway("claims", "A1", "--from", str(tmp_path))
    assert said.code == 2
    assert f"there are no records in {tmp_path}" in said.err


def test_a_batch_beyond_the_training_set_is_noted(dry, headway, capsys):
    """Every step takes all samples then, which somebody who types it should know."""
    dry("run", "stages", "--training.batch", "600", "--training.samples", "500")
    assert "there are only 500 samples: every step uses all of them" in capsys.readouterr().err
    dry("run", "stages", "--training.batch", "500", "--training.samples", "500")
    assert "note:" not in capsys.readouterr().err
