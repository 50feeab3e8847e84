"""The moving picture shows every snapshot of a seed, once, in order, and stops at the last."""

import dataclasses
import io
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from headway.analysis import Stages
from headway.report.figures import animation
from headway.report.figures.animation import PAUSE, _caption, animate


def frames(content: bytes) -> list[np.ndarray]:
    picture = Image.open(io.BytesIO(content))
    shown = []
    for number in range(picture.n_frames):
        picture.seek(number)
        shown.append(np.asarray(picture.convert("RGB")))
    assert picture.info["duration"] == PAUSE
    return shown


def test_every_snapshot_is_a_frame_and_no_two_are_alike(staircase):
    shown = frames(animate(staircase.run(), 3, blocks=staircase.blocks))
    assert len(shown) == len(staircase.snapshots)
    assert all((before != after).any() for before, after in pairwise(shown))


def test_the_same_run_gives_the_same_bytes_and_another_seed_others(staircase):
    """Seed 7 has its heads in another order."""
    assert animate(staircase.run(), 3) == animate(staircase.run(), 3)
    assert animate(staircase.run(), 3) != animate(staircase.run(), 7)


@pytest.mark.parametrize(("time", "name"), [(3, "start"), (5, "stage 1"), (40, "stage 3")])
def test_a_frame_names_the_stage_as_the_page_does(time, name):
    """Rung 2 was skipped: the time at rung 3 is stage 3 all the same."""
    assert _caption(time, Stages((1, 3), (20.0,), (10.0,), (0.1, 0.1), start=5.0)) == f"step {time}, {name}"


def test_a_record_without_attention_is_refused_by_name(staircase):
    run = staircase.run()
    without = {name: values for name, values in run.arrays.items() if name != "attention"}
    with pytest.raises(ValueError, match="no attention, which the picture needs"):
        animate(dataclasses.replace(run, arrays=without), 3)


def test_the_legend_of_heads_and_blocks_stands_under_the_picture_and_the_curves_are_called_rungs(
    staircase, monkeypatch
):
    """Block k has the colour of rung k: under both panels the legend would name the curves."""
    made = []
    monkeypatch.setattr(animation, "Figure", lambda *given, **named: made.append(Figure(*given, **named)) or made[-1])
    animate(staircase.run(), 3, blocks=staircase.blocks)
    curves, picture = made[0].subfigs
    (legend,) = picture.legends
    assert not made[0].legends and not curves.legends
    assert legend.get_title().get_text() == "attention: heads, and the keys of each block"
    assert {"head 1", "block 1"} <= {words.get_text() for words in legend.get_texts()}
    assert curves.axes[0].get_title() == "curves: the rungs of the ladder"
