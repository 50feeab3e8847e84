"""A dashed line and a name where each stage begins, the first included: what comes before it is the start."""

import itertools
import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser
from tests.report.conftest import Opened
from tests.report.made_run import made_boundaries, made_report, made_settings, made_view

pytestmark = pytest.mark.browser

VIEW = made_view()
EIGHT = made_view("eight blocks", made_settings(8, tuple((k,) for k in range(1, 9))))
DRAWN = """[...document.querySelectorAll("#charts .annotation")].map((node) => {
    const { left, right, top, bottom } = node.querySelector("rect").getBoundingClientRect();
    return { words: node.textContent, left, right, top, bottom };
})"""
LINES = """(() => {
    const { layout } = document.querySelector("#charts .plot");
    return layout.shapes.map(({ x0, x1, line }) => ({ ends: [x0, x1], line }));
})()"""


@pytest.fixture(scope="module")
def _staged(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    yield from Opened.once(browser, tmp_path_factory.mktemp("staged"), made_report(runs=(VIEW, EIGHT)))


@pytest.fixture
def staged(_staged: Opened) -> Iterator[Opened]:
    yield from _staged.as_when_opened()


def overlapping(boxes: list[dict]) -> list[tuple[str, str]]:
    """Names of stages that are drawn over other words."""
    return [
        (a["words"], b["words"])
        for a, b in itertools.combinations(boxes, 2)
        if any(re.fullmatch(r"start|(stage )?\d", box["words"]) for box in (a, b))
        and min(a["right"], b["right"]) > max(a["left"], b["left"])
        and min(a["bottom"], b["bottom"]) > max(a["top"], b["top"])
    ]


def resized(it: Opened, width: int) -> None:
    it.page.set_viewport_size({"width": width, "height": 900})
    it.settle()
    it.settle()


@pytest.mark.parametrize(("width", "names"), [(1280, ["start", "stage 1", "stage 2"]), (400, ["1", "stage 2", "3"])])
def test_every_stage_has_a_line_where_it_begins_and_a_name_that_covers_nothing(staged, width, names):
    resized(staged, width)
    lines = staged.page.evaluate(LINES)
    changes = np.median([np.round(made_boundaries(3, seed)) for seed in VIEW.trajectory.seeds], axis=0)
    assert [line["ends"] for line in lines] == [[step, step] for step in (8, *changes)]
    assert all(line["line"] == lines[0]["line"] and line["line"]["dash"] == "dash" for line in lines)
    boxes = staged.page.evaluate(DRAWN)
    assert set(names) <= {box["words"] for box in boxes}
    assert overlapping(boxes) == []
    resized(staged, 1280)


def test_where_stages_lie_close_together_no_name_covers_another(staged):
    staged.choose("#run", "eight blocks")
    for width in (1280, 400):
        resized(staged, width)
        assert len(staged.page.evaluate(LINES)) == 8
        assert overlapping(staged.page.evaluate(DRAWN)) == []
    resized(staged, 1280)


def test_the_slider_and_the_words_for_who_cannot_see_have_the_first_stage_too(staged):
    assert staged.page.locator(".ticks i").count() == 3
    words = staged.page.get_attribute("#charts .plot", "aria-label")
    assert "Stage 1 begins at step 8 in the median." in words and "Stage 3 begins" in words


def test_the_marks_and_the_buttons_of_stages_say_which_steps_they_mean(staged):
    """A button leads to where a stage shows best, which is not where it begins."""
    marks = [mark.get_attribute("title") for mark in staged.page.locator(".ticks i").all()]
    second = VIEW.stages[0].boundaries[0]
    assert marks[1] == f"stage 2 begins at step {second:.0f}" and len(marks) == 3
    button = staged.page.locator(".stage-buttons button", has_text="2")
    assert button.get_attribute("title") == "Jump to the step where KL to rung 2 reaches its minimum in stage 2 (key 2)"
    button.click()
    staged.settle()
    times, kl = VIEW.trajectory.clocks["evaluation"], VIEW.trajectory["kl_rungs"][0, :, 2]
    inside = (times >= second) & (times < VIEW.stages[0].boundaries[1])
    assert staged.step() == times[inside][np.argmin(kl[inside])] > second


def test_a_pointer_finds_the_mark_of_a_stage_below_the_slider(staged):
    box = staged.page.locator(".ticks i").nth(1).bounding_box()
    at = [box["x"] + 4, box["y"] + box["height"] - 2]
    assert "begins" in staged.page.evaluate("([x, y]) => document.elementFromPoint(x, y).title", at)


STAGED = {"rungs": 2, "stages_from": "ladder", "evaluation": [0, 10, 100], "intervals": [], "seeds": [0, 1, 2]}


def beginning(js, *seeds: dict | None) -> list[list[float]]:
    """[rung, step] of a ladder's stages."""
    run = STAGED | {"stages": list(seeds)}
    return js("stages", "m.beginnings(run).map(({ rung, step }) => [rung, step])", run=run)


def seed(rungs: list[int], start: float, *boundaries: float) -> dict:
    return {"rungs": rungs, "start": start, "boundaries": list(boundaries), "levels": []}


def test_the_first_stage_begins_where_its_seeds_enter_it_and_a_run_that_begins_in_it_has_no_line(js):
    assert beginning(js, seed([1, 2], 20, 60), seed([1, 2], 30, 80), None) == [[1, 25], [2, 70]]
    assert beginning(js, seed([1, 2], 0, 60), None, None) == [[2, 60]]
    assert beginning(js, seed([1], 20), None, None) == [[1, 20]]
    assert beginning(js, None, None, None) == []


NAMES = """m.stageNames(begun, axis, { muted: "grey" }, 0.5, wide).map(({ text, xanchor }) => [text, xanchor])"""


def named(js, wide: float, *steps: float, seen: tuple[float, float] = (0, 100)) -> list[list[str]]:
    """[name, where it is anchored] of stages that begin at these steps."""
    begun = [{"rung": k, "step": step} for k, step in enumerate(steps, start=1)]
    made = NAMES.replace("axis", "{ seen, place: (x) => x, coordinate: (x) => x }")
    return js("marks", made, begun=begun, wide=wide, seen=seen)


def test_a_name_without_room_is_a_number_and_a_number_without_room_is_left_out(js):
    assert named(js, 600, 50, 80) == [["start", "right"], ["stage 1", "left"], ["stage 2", "left"]]
    assert named(js, 600, 50, 53, 54) == [["start", "right"], ["1", "left"], ["stage 3", "left"]]
    assert named(js, 600) == []


def test_before_the_first_line_stands_the_stage_that_the_run_begins_in(js):
    begun = [{"rung": 2, "step": 50, "before": 1}, {"rung": 3, "step": 80, "before": 2}]
    names = js(
        "marks",
        NAMES.replace("axis", "{ seen: [0, 100], place: (x) => x, coordinate: (x) => x }"),
        begun=begun,
        wide=600,
    )
    assert names == [["stage 1", "right"], ["stage 2", "left"], ["stage 3", "left"]]
    came_from = "m.beginnings(run).map(({ rung, before }) => [rung, before])"
    run = STAGED | {"rungs": 3, "seeds": [0]}
    assert js("stages", came_from, run=run | {"stages": [seed([1, 2, 3], 0, 20, 60)]}) == [[2, 1], [3, 2]]
    assert js("stages", came_from, run=run | {"stages": [seed([2, 3], 20, 60)]}) == [[2, 0], [3, 2]], "no turn to 1"


def test_a_stage_that_begins_above_the_title_of_the_bars_is_named_behind_it(js):
    assert named(js, 600, 5, 80) == [["stage 1", "left"], ["stage 2", "left"]]
    assert named(js, 600, 5, 21, 80) == [["1", "left"], ["stage 2", "left"], ["stage 3", "left"]]
    assert named(js, 600, 5, 15, 80) == [["stage 2", "left"], ["stage 3", "left"]]


def test_after_a_zoom_names_stand_where_they_have_room_in_what_is_seen(js):
    within = [["start", "right"], ["stage 1", "left"], ["2", "left"], ["stage 3", "left"]]
    assert named(js, 600, 50, 53, 54, seen=(40, 60)) == within
    assert named(js, 600, 50, 53, 54, seen=(52, 60)) == [["2", "left"], ["stage 3", "left"]]
