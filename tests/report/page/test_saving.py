"""What is shown can be taken away: numbers as CSV, pictures as PNG and SVG."""

import csv
import io
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.report.conftest import Opened
from tests.report.made_run import made_figures, made_findings, made_report

from headway.report.page import FigureGroup
from headway.report.page.views import PNG

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"


def saved(it: Opened, name: str) -> tuple[str, bytes]:
    """Press the button of that name and read the file that comes."""
    with it.page.expect_download() as started:
        it.page.get_by_role("button", name=name, exact=True).first.click()
    return started.value.suggested_filename, Path(started.value.path()).read_bytes()


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_the_curves_are_saved_number_by_number(shown, made):
    name, content = saved(shown, "CSV of the curves")
    assert name == "made-up-curves.csv"
    found = rows(content)
    evaluation = made.trajectory.clocks["evaluation"]
    assert len(found) == 4 * len(evaluation)
    loss = np.array([float(row["excess loss"]) for row in found], np.float32)
    np.testing.assert_array_equal(loss, made.trajectory["excess_loss"].ravel())
    rung = np.array([float(row["KL to rung 2"]) for row in found], np.float32)
    np.testing.assert_array_equal(rung, made.trajectory["kl_rungs"][..., 2].ravel())
    assert [int(row["step"]) for row in found[: len(evaluation)]] == evaluation.tolist()


def test_shares_and_matrices_are_those_of_the_chosen_seed(shown, made):
    shown.choose("#seed", "2")
    shown.move(0)
    shares = rows(saved(shown, "CSV of the bars")[1])
    block = made.trajectory["attention_by_lag"][2, -1, 0, 1, 2:4].sum()
    assert shares[-2]["seed"] == "2" and shares[-2]["head"] == "2"
    assert float(shares[-2]["block 2"]) == pytest.approx(float(block), rel=1e-5)
    name, content = saved(shown, "CSV of all heads")
    assert name == "made-up-seed-2-step-0-attention.csv"
    weights = rows(content)
    last = weights[-1]
    assert (last["query"], last["key"], last["lag"]) == ("25", "25", "1")
    assert float(last["head 3"]) == pytest.approx(float(made.trajectory["attention"][2, 0, 0, 2, -1, -1]), abs=2e-3)


def test_verdicts_and_stages_are_saved_with_every_seed(shown, made):
    verdicts = rows(saved(shown, "CSV of the verdicts")[1])
    assert len(verdicts) == 4 * 4 + 1  # four findings of four seeds, and one that was not run
    assert next(row["value"] for row in verdicts if row["claim"] == "A5") == ""  # the number that is missing
    stages = rows(saved(shown, "CSV of the stages of made up")[1])
    assert [float(row["step of rung 2"]) for row in stages] == [each.boundaries[0] for each in made.stages]


@pytest.mark.parametrize("what", ["the curves", "all heads", "head 2", "the shares"])
def test_every_picture_is_saved_as_pixels_and_as_a_drawing(shown, what):
    name, drawing = saved(shown, f"SVG of {what}")
    root = ElementTree.fromstring(drawing)
    assert name.endswith(".svg") and root.tag == f"{SVG}svg"
    assert len(list(root.iter(f"{SVG}path"))) > 2 and list(root.iter(f"{SVG}text"))
    name, pixels = saved(shown, f"PNG of {what}")
    assert name.endswith(".png") and pixels.startswith(PNG)
    assert int.from_bytes(pixels[16:20]) == pytest.approx(2 * float(root.attrib["width"]), abs=2)


@pytest.mark.parametrize("ending", ["all heads", "head 2", "the curves", "the shares"])
def test_a_saved_picture_says_what_it_shows(shown, ending):
    shown.choose("#seed", "2")
    shown.move(0)
    root = ElementTree.fromstring(saved(shown, f"SVG of {ending}")[1])
    words = [" ".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    lowest = max(float(text.attrib["y"]) for text in root.iter(f"{SVG}text"))
    assert "made up; seed 2," in " ".join(words) and "step 0" in " ".join(words)
    assert lowest < float(root.attrib["height"]) == float(root.attrib["viewBox"].split()[3])
    keys = {"all heads": {"head 1", "head 2", "head 3"}, "head 2": {"head 2"}}
    keys["the curves"] = {"KL to rung 2", "median of 4 seeds", "seed 2", "the others", "level of a rung"}
    assert keys.get(ending, set()) <= set(words)
    assert ending != "head 2" or "head 1" not in words


def test_numbers_of_blocks_stand_apart_in_a_small_picture(shown):
    try:
        shown.page.set_viewport_size({"width": 340, "height": 900})
        shown.settle()
        root = ElementTree.fromstring(saved(shown, "SVG of head 1")[1])
    finally:
        shown.page.set_viewport_size({"width": 1280, "height": 900})
    bold = [text for text in root.iter(f"{SVG}text") if text.attrib.get("font-weight") == "600"]
    assert [text.text for text in bold] == ["3", "2", "1"]
    assert np.diff([float(text.attrib["x"]) for text in bold]).min() > 14


def test_the_drawing_of_a_matrix_has_a_rectangle_in_the_heads_colour_where_it_looks(shown):
    colour = "(canvas) => { const {width, height} = canvas; const pen = canvas.getContext('2d');"
    colour += " return [...pen.getImageData(width - 11, height - 39, 1, 1).data].slice(0, 3); }"
    newest = shown.page.eval_on_selector(".head:nth-child(1) canvas", colour)
    root = ElementTree.fromstring(saved(shown, "SVG of head 1")[1])
    fills = {rectangle.attrib["fill"] for rectangle in root.iter(f"{SVG}rect")}
    assert f"rgb({','.join(map(str, newest))})" in fills


def test_a_figure_is_saved_as_the_drawing_that_was_given(opened):
    (group,) = made_figures("stages", grids=("as-run",))
    drawing = "<svg xmlns='http://www.w3.org/2000/svg'><title>ü</title></svg>".encode()
    with_drawing = replace(group, drawings={"overview": drawing})
    it = opened(made_report(runs=(), findings=made_findings()[:1], figures=(with_drawing,)))
    assert saved(it, "SVG of overview") == ("stages-as-run-overview.svg", drawing)
    assert it.page.get_by_role("button", name="SVG of excess loss").count() == 0  # it has none


def test_many_files_in_a_row_all_come(shown):
    """A browser drops what goes beyond ten files a second, so that the page hands them out more slowly."""
    names = []
    shown.page.on("download", lambda started: names.append(started.suggested_filename))
    press = "(button) => { for (let k = 0; k < 12; k++) button.click(); }"
    with shown.page.expect_event("download", lambda _: len(names) == 12):
        shown.page.get_by_role("button", name="CSV of the bars", exact=True).first.evaluate(press)
    assert names == ["made-up-seed-0-shares.csv"] * 12


def test_a_drawing_of_a_figure_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"has drawings \['mass'\] of figures that it does not show"):
        FigureGroup("stages-quick", "title", "quick", (), {"mass": b"<svg/>"})
