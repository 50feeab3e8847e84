"""A figure becomes files, whole and repeatable, and leaves no trace anywhere else."""

import ast
import re
import struct
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest

import headway
from headway.records import Trajectory
from headway.report.captions import MATRICES, TOGETHER, caption_of, captioned
from headway.report.figures import figure_stages, new_figure, save
from headway.report.figures.files import save_all


def test_figures_are_png_pdf_and_svg_and_made_twice_are_the_same_bytes(staircase, tmp_path):
    first, second = (
        save(figure_stages(staircase.run(), staircase.blocks), tmp_path / name / "u=0.001") for name in ("a", "b")
    )
    assert [path.name for path in first] == ["u=0.001.png", "u=0.001.pdf", "u=0.001.svg"]
    for one, other, begins in zip(first, second, (b"\x89PNG\r\n", b"%PDF-", b"<?xml"), strict=True):
        assert one.read_bytes().startswith(begins)
        assert one.read_bytes() == other.read_bytes()
        assert b"Date" not in one.read_bytes() and b"dc:date" not in one.read_bytes()
    width, height = struct.unpack(">II", first[0].read_bytes()[16:24])
    assert width == round(5.5 * 160) and height > 0


def test_a_figure_that_cannot_be_drawn_leaves_the_old_files_alone(tmp_path):
    figure = new_figure()
    save(figure, tmp_path / "figure")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    figure.text(0, 0, r"$\nonsense$")
    with pytest.raises(ValueError, match="nonsense"):
        save(figure, tmp_path / "figure")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_drawing_leaves_matplotlib_s_settings_as_they_were(staircase, tmp_path):
    before = dict(matplotlib.rcParams)
    save(figure_stages(staircase.run(), staircase.blocks), tmp_path / "figure")
    assert dict(matplotlib.rcParams) == before


def test_figures_need_neither_a_display_nor_the_accelerator(tmp_path):
    code = (
        "import sys, headway.report.figures as figures\n"
        "figures.save(figures.new_figure(), sys.argv[1])\n"
        "sys.exit(', '.join({'jax', 'matplotlib.pyplot', 'tkinter'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "figure")],
        env={"PYTHONPATH": str(Path(headway.__file__).parents[1]), "MPLCONFIGDIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", ["KL to each rung.", "Where \N{GREEK SMALL LETTER ALPHA} > 0, V_1* grows."])
def test_a_caption_travels_in_every_file_of_its_figure(words, tmp_path):
    figure = captioned(new_figure(), f"{words}\n  Thin lines are seeds.")
    png, pdf, svg = save(figure, tmp_path / "figure")
    assert caption_of(png.read_bytes()) == f"{words} Thin lines are seeds."
    assert "Thin lines are seeds." in svg.read_text() and b"/Subject" in pdf.read_bytes()
    assert caption_of(save(new_figure(), tmp_path / "bare")[0].read_bytes()) == ""


def test_a_caption_counts_the_seeds_of_its_runs(staircase):
    run = staircase.run()
    one = Trajectory((0,), clocks={}, arrays={}, clock_of={})
    count = len(run.seeds)
    assert captioned(new_figure(), "It.", [(None, run)]).get_label() == f"It. {count} seeds."
    assert captioned(new_figure(), "It.", [(None, one)]).get_label() == "It. 1 seed."
    assert captioned(new_figure(), "It.", [(None, run), (None, one)]).get_label() == f"It. 1 to {count} seeds per run."


def test_every_figure_says_what_it_shows():
    """Whatever a function `figure_...` returns has a caption."""
    folder = Path(headway.__file__).parent / "report" / "figures"
    functions = {
        f"{path.stem}.{node.name}": [ast.unparse(each) for each in ast.walk(node) if isinstance(each, ast.Return)]
        for path in folder.glob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("figure_")
    }
    assert len(functions) > 40
    silent = [name for name, ends in functions.items() if not all(end.startswith("return captioned(") for end in ends)]
    assert silent == []


def test_an_svg_has_coordinates_to_a_hundredth_of_a_point_and_all_its_words(staircase, tmp_path):
    figure = captioned(figure_stages(staircase.run(), staircase.blocks), "Lines at 0.12345 nats.")
    drawing = save(figure, tmp_path / "figure")[2].read_text()
    paths = re.findall(r' d="([^"]*)"', drawing)
    assert len(paths) > 20 and not [path for path in paths if re.search(r"\.\d{3}", path)]
    assert "0.12345 nats" in drawing, "only coordinates are shortened"


def test_a_figure_is_laid_out_as_before_when_it_is_drawn_after_it_was_saved(tmp_path):
    figure = new_figure()
    figure.subplots()
    engine = figure.get_layout_engine()
    first = save(figure, tmp_path / "a")
    assert figure.get_layout_engine() is engine
    assert [path.read_bytes() for path in save(figure, tmp_path / "b")] == [path.read_bytes() for path in first]


MANY = r"""
import os, sys
from pathlib import Path
from headway.report.figures import files, new_figure

os.sched_getaffinity = lambda process: {0, 1}
assert files._may_fork()
folder = Path(sys.argv[1])
stems = [folder / name for name in ("a", "b", "u=0.001")]
paths = files.save_all({stem: new_figure(height=1 + place) for place, stem in enumerate(stems)})
print(*(path.name for path in paths))
broken = new_figure()
broken.text(0, 0, r"$\nonsense$")
try:
    files.save_all({folder / "good": new_figure(), folder / "bad": broken})
except ValueError as error:
    print(str(error).split()[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere one process saves all")
def test_many_figures_are_saved_as_one_is_and_an_error_is_raised_here(tmp_path):
    """Two processes, whatever the machine has; the second one's figure is the broken one.

    In a process without JAX, whose threads forbid a fork.
    """
    places = {"PYTHONPATH": str(Path(headway.__file__).parents[1]), "MPLCONFIGDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", MANY, str(tmp_path)], env=places, capture_output=True, text=True)
    names = [f"{stem}.{kind}" for stem in ("a", "b", "u=0.001") for kind in ("png", "pdf", "svg")]
    assert (done.stdout, done.stderr) == (f"{' '.join(names)}\n\\nonsense\n", "")
    alone = save(new_figure(height=2), tmp_path / "alone")
    assert [(tmp_path / name).read_bytes() for name in names[3:6]] == [path.read_bytes() for path in alone]
    assert (tmp_path / "good.svg").exists() and not (tmp_path / "bad.png").exists()


def test_nothing_to_save_is_nothing():
    assert save_all({}) == []


def test_matrices_of_all_heads_together_are_described_as_those_of_each_with_one_more_colour():
    before, after = TOGETHER.split(", black where several share a position")
    assert before + after == MATRICES and before.endswith("one colour per head")
