"""`--only` chooses runs of a grid before settings are changed: they need not suit the others."""

import re
import shlex
from pathlib import Path

import pytest

from headway.cli import main

OWN_TEXT = (Path(__file__).parents[2] / "docs" / "own_text.md").read_text()


def test_a_setting_that_does_not_suit_the_other_runs_of_the_grid_is_taken(dry, tmp_path):
    """Byte pairs, of another run, come on top of 256 bytes."""
    (tmp_path / "mine.txt").write_text("a text\n" * 200)
    changed = ("--task.text", "mine.txt", "--task.vocab", "64")
    [cell] = dry("run", "text", "--only", "speeches, characters", *changed)
    assert cell.settings.task.vocab == 64
    with pytest.raises(AssertionError, match="ends with 2"):
        dry("run", "text", *changed)


def test_every_option_of_the_page_about_ones_own_text_goes_with_its_command(dry, tmp_path):
    (tmp_path / "my_text.txt").write_text("a text\n" * 200)
    [command] = re.findall(r"^\./run (run text .*)$", OWN_TEXT, re.MULTILINE)
    shown = [words for words in re.findall(r"`(--(?:task|model|training)\.[^`]+)`", OWN_TEXT) if " " in words]
    assert len(shown) >= 6
    for words in shown:
        assert len(dry(*shlex.split(command), *shlex.split(words))) == 1, words


def test_a_run_that_is_not_there_is_named_before_anything_else(capsys):
    with pytest.raises(SystemExit):
        main(["run", "ablations", "--only", "ful", "--only=full", "--task.ratio", "x"])
    assert "no run is called 'ful'. Did you mean 'full'?" in capsys.readouterr().err
