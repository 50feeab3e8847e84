"""The notebook on one's own PyTorch model runs. (That it is the pair of its text: tests/docs/test_notebooks.py.)"""

import re

import pytest

pytest.importorskip("torch")

from tests.docs.test_notebooks import run, text_of


def test_the_notebook_watches_a_model_and_ends_with_a_page(tmp_path, monkeypatch):
    short, replaced = re.subn(r"STEPS, BATCH = \d+, \d+", "STEPS, BATCH = 40, 8", text_of("your_own_model"))
    assert replaced == 1
    names = run(short, tmp_path, monkeypatch)
    trajectory = names["record"].trajectory
    assert trajectory["kl_rungs"].shape[2] == len(names["rungs"]) and trajectory.times("loss")[-1] == 40
    assert not trajectory["probe_failed"].any()
    assert names["previous"].shape[1:] == (2, 4)
    assert (tmp_path / "your_own_model.html").is_file()
