"""A task that nobody here has heard of gets the whole page: ladder, heads, slider, story, comparison."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from playwright.sync_api import Browser
from tests.report.conftest import Opened
from tests.report.made_run import made_view
from tests.report.made_task import CHAIN, TIMES, chain_view, curves_alone, heads_view, line_view, settings

from headway.records import About, Trajectory
from headway.report.about import about_of, drawable
from headway.report.build import run_view
from headway.report.page import Report
from headway.report.page.packing import unpack
from headway.report.page.payload import payload
from headway.report.page.picture_payload import MOST_PICTURES
from headway.report.page.run_payload import MOST_TIMES, run_payload
from headway.settings.plain import plain
from headway.tasks.chain import Chain
from headway.tasks.in_context_chain import InContextChain

RUNS = (chain_view(), line_view(), heads_view(), made_view("minimal, quick"))
HOSTILE = "<img src=x onerror=alert(1)>&amp;"


def test_the_words_of_a_run_are_those_of_its_record():
    run = run_payload(chain_view())
    assert (run["title"], run["rungs"]) == (CHAIN.title, ["uniform", "unigram", "bigram"])
    assert run["progress"] == {"array": "excess_loss", "word": "excess loss", "unit": "nats", "rises": False}
    assert run["levels"] == pytest.approx([0.75, 0.32, 0.0])
    assert run["clock"] == {"word": "step", "whole": True, "axis": "optimiser step", "planned": 2000}
    named = {each["array"]: (each["words"], each["axes"]) for each in run["measures"]}
    assert named["attention_previous"] == ("attention on the token before", "heads")
    assert named["gradient_norm"][1] == "run"
    assert run["settings"]["task"] == {"states": 4, "length": 64}
    assert "about" not in run["provenance"]


def test_about_comes_from_the_record_then_from_the_settings_then_from_what_is_there():
    class Own:
        def about(self) -> About:
            return About("By the settings")

    assert about_of(Own(), {"about": {"title": "By the record"}}) == About("By the record")
    assert about_of(Own(), {}).title == "By the settings"
    generic = about_of(settings(points=3), {}, curves_alone())
    assert (generic.progress, generic.rungs) == ("loss", ())
    with pytest.raises(ValueError, match="has an unknown 'colour'"):
        about_of(Own(), {"about": {"title": "x", "colour": "red"}})


def test_older_records_of_in_context_chains_say_over_which_positions_attention_was_taken():
    former = {"title": "x", "measures": [["attention_back_1", "attention on the token before"], ["mine", "my own"]]}
    told = dict(about_of(settings(), {"about": former}).measures)
    assert told["attention_back_1"] == dict(InContextChain().about().measures)["attention_back_1"]
    assert told == {"attention_back_1": "attention on the token before (mean over positions)", "mine": "my own"}


def test_a_clock_of_another_unit_says_it_and_ends_where_the_curves_do():
    """Predicted plateaus go on to 2.5, whenever the last seed is done."""
    loss = np.array([[0.5, 0.4, 0.1, 0.0, np.nan, np.nan], [0.5, 0.4, 0.1, np.nan, np.nan, np.nan]])
    trajectory = Trajectory((0, 1), {"escape": np.linspace(0, 2.5, 6)}, {"loss": loss}, {"loss": "escape"}, {})
    run = run_payload(run_view("toy", settings(), trajectory, {}))
    assert len(run["clocks"]["evaluation"]) == unpack(run["arrays"]["loss"]).shape[1] == 4
    assert (run["clock"]["axis"], run["clock"]["unit"]) == ("time, in predicted plateaus", "in predicted plateaus")


def test_a_chain_has_one_title_though_older_records_put_it_otherwise():
    """Of 50 tokens was read as the length of the sequence."""
    words = "attention to what followed the current token, on repeated random tokens"
    former = {"title": "x", "measures": [["a", "attention of layer 1, 2 before"], ["b", words]]}
    assert dict(about_of(settings(), {"about": former}).measures) == {
        "a": "attention of layer 1 to the token 2 back",
        "b": "attention, on repeated random tokens, to what followed the current token",
    }
    former = {"title": "A Markov chain of 50 tokens with 3 blocks of lags"}
    assert about_of(settings(), {"about": former}).title == Chain().about().title
    task = SimpleNamespace(blocks=Chain().blocks, vocab=Chain().vocab)  # settings that say nothing themselves
    assert about_of(SimpleNamespace(task=task), {}).title == Chain().about().title


def test_a_run_without_a_ladder_has_the_stages_of_its_loss():
    run = run_payload(line_view())
    assert run["stages_from"] == "loss" and run["rungs"] == ["the start", "plateau 1", "plateau 2"]
    for seed, stages in enumerate(run["stages"]):
        assert stages["start"] == pytest.approx(15, rel=0.1)
        assert stages["boundaries"] == [pytest.approx(400 + 40 * seed, rel=0.1)]


def test_seeds_that_stopped_are_not_said_to_be_interrupted():
    run = run_payload(heads_view())
    assert run["clock"]["planned"] is None and run["stopped"] == [1200, 1400, 1600]


def test_a_run_with_nothing_over_time_is_refused_and_said_not_to_be_drawable():
    trajectory = Trajectory((0,), {"sharpness": np.arange(3.0)}, {}, {})
    with pytest.raises(ValueError, match="has no curve to draw: its arrays are none"):
        run_payload(run_view("empty", settings(), trajectory, {}))
    assert not drawable({"excess_loss": "sharpness"}) and not drawable({}) and drawable({"loss": "time"})


def test_huge_matrices_and_long_curves_are_thinned_to_what_a_page_can_hold():
    ticks = np.arange(1, 5001)
    snapshot = np.array([0, 10, 20])
    big = np.zeros((2, 3, 4, 4, 256, 256), np.float16)
    big[..., -1, -1] = 1.0
    arrays = {"loss": np.ones((2, 5000), np.float32), "attention": big}
    clock_of = {"loss": "step", "attention": "snapshot"}
    trajectory = Trajectory((0, 1), {"step": ticks, "snapshot": snapshot}, arrays, clock_of)
    run = run_payload(run_view("big", settings(), trajectory, {}))
    assert len(run["clocks"]["evaluation"]) == MOST_TIMES and run["clocks"]["evaluation"][-1] == 5000
    shown = unpack(run["arrays"]["attention"])
    assert shown.size <= 2 * MOST_PICTURES and run["coarse"] > 1
    assert shown[0, 0, 0, 0, -1, -1] == pytest.approx(1 / run["coarse"] ** 2, rel=0.02)  # a mean over the cell


def test_curves_on_another_clock_than_the_ladder_are_shown_at_its_ticks():
    view = chain_view(positions=8)
    steps = np.arange(0, 2001)
    loss = np.tile(np.linspace(2, 0, 2001, dtype=np.float32), (3, 1))
    arrays = {name: view.trajectory[name] for name in ("kl_rungs",)} | {"loss": loss}
    clocks = {"evaluation": TIMES, "step": steps}
    trajectory = Trajectory((0, 1, 2), clocks, arrays, {"kl_rungs": "evaluation", "loss": "step"})
    run = run_payload(run_view("two clocks", settings(), trajectory, {"about": plain(replace(CHAIN, progress="loss"))}))
    np.testing.assert_allclose(unpack(run["arrays"]["loss"]), loss[:, TIMES])
    assert run["clocks"]["evaluation"] == TIMES.tolist()


@pytest.fixture(scope="module", params=[1280, 400])
def _tasks(request, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    report = Report("Tasks", "", RUNS)
    yield from Opened.once(browser, tmp_path_factory.mktemp("tasks"), report, width=request.param)


@pytest.fixture
def tasks(_tasks: Opened) -> Iterator[Opened]:
    """Four runs of four tasks, the in-context chain chosen; at both widths."""
    yield from _tasks.as_when_opened()
    assert "undefined" not in _tasks.text("body") and "NaN" not in _tasks.text("body")
    assert _tasks.overflow() <= 0


@pytest.mark.browser
def test_the_ladder_has_the_names_of_the_tasks_own_rungs(tasks):
    assert tasks.page.locator("#chart-legend > .key").all_inner_texts() == ["uniform", "unigram", "bigram"]
    traces = "document.querySelectorAll('.plot .xy2 .scatterlayer .trace').length"
    assert tasks.page.evaluate(traces) == 9  # each rung: the chosen seed, the others, the median
    labels = tasks.page.locator("#charts .annotation-text").all_text_contents()
    assert {"uniform 0.750", "unigram 0.320", "bigram 0"} <= set(labels)


@pytest.mark.browser
def test_the_story_is_told_with_the_tasks_own_names(tasks):
    words = tasks.text(".storyline")
    assert words.startswith(
        "Seed 0: stage 1 (unigram) from step 20, stage 2 (bigram) from step 310. KL to unigram reaches its minimum ("
    )
    tasks.press("1")
    assert "stage 1 of 2 (unigram)" in tasks.text("#narration") and "to bigram" in tasks.text("#narration")
    assert "entered stage 2 (bigram) at step 403" in tasks.summary()
    assert "unigram → bigram" in tasks.text("#stage-tables")
    tasks.choose("#seed", "1")
    assert tasks.text(".storyline").startswith("Seed 1: stage 1 (unigram) from step 24")


@pytest.mark.browser
def test_the_slider_moves_every_layers_picture_the_lags_and_the_measures(tasks):
    assert tasks.page.locator(".head").count() == 2 and tasks.page.locator("#lags figure").count() == 2
    seen = []
    for time in (20, 50, 69):
        tasks.move(time)
        pictures = [tasks.picture(f".head:nth-child({k}) canvas") for k in (1, 2)]
        bars = [bar.get_attribute("height") for bar in tasks.page.locator("#lags rect").all()]
        dots = [dot.get_attribute("cx") for dot in tasks.page.locator("#measures circle").all()]
        seen.append((tasks.text("#narration"), *pictures, bars, dots))
    for before, after in itertools.pairwise(seen):
        assert all(old != new for old, new in zip(before, after, strict=True))
    assert "most at lag 2: 89 %" in tasks.text("#lags")


@pytest.mark.browser
def test_a_task_without_ladder_and_heads_has_its_curve_its_stages_and_no_empty_panel(tasks):
    tasks.choose("#run", "line")
    for part in ("#combined", "#masses", "#lags", "#measures", "#triangle-figure", "#values", "#portraits"):
        assert tasks.page.locator(part).is_hidden()
    assert "Half the squared error" in tasks.text("#charts") and "KL" not in tasks.text("#charts")
    assert "The loss of seed 0 falls at step 15 and at step 40" in tasks.text(".storyline")
    assert "falls twice in every seed" in tasks.summary()
    assert "A line through noisy points" in tasks.text("#reading-words")
    assert tasks.page.evaluate("document.querySelector('#ladder').closest('label').hidden")


@pytest.mark.browser
def test_what_the_second_chart_shows_comes_back_with_the_run_that_has_it(tasks):
    first = tasks.page.locator("#run option:checked").inner_text()
    assert tasks.page.input_value("#ladder") == "rungs"
    tasks.choose("#run", "recall")
    assert tasks.page.input_value("#ladder") != "rungs"
    tasks.choose("#run", first)
    assert tasks.page.input_value("#ladder") == "rungs"
    tasks.choose("#ladder", "attention on the token before")
    tasks.choose("#run", "minimal, quick")
    assert tasks.page.input_value("#ladder") == "rungs"
    tasks.choose("#run", first)
    assert tasks.page.input_value("#ladder") == "measure attention_previous"


@pytest.mark.browser
def test_numbers_of_sixteen_heads_are_small_charts_that_follow_the_slider(tasks):
    tasks.choose("#run", "recall")
    assert tasks.page.locator("#measures figure").count() == 32
    assert "Attention on the value that is asked for" in tasks.text("#measures")
    tasks.move(45)
    early = tasks.text("#measures")
    tasks.move(len(TIMES) - 1)
    assert tasks.text("#measures") != early and "0.93" in tasks.text("#measures").replace("0.929", "0.93")
    assert "highest in layer 3, head 2" in tasks.text("#narration")
    assert "This seed stopped at step 1\u202f200" in tasks.text("#narration")
    assert "Accuracy" in tasks.text("#charts")
    tasks.choose("#ladder", "attention on the token before")
    tasks.choose("#layer", "1")
    assert "Attention on the token before, layer 1" in tasks.text("#charts")
    tasks.page.locator("#measures svg").first.click(position={"x": 5, "y": 5})
    tasks.settle()
    assert tasks.step() < 5


@pytest.mark.browser
def test_runs_of_different_tasks_stand_side_by_side(tasks):
    tasks.page.evaluate("headway.selection.set({ other: 2, otherSeed: 0 })")
    tasks.settle()
    for run, other in itertools.permutations(range(4), 2):
        tasks.page.evaluate("(chosen) => headway.selection.set(chosen)", {"run": run, "other": other, "layer": 0})
        tasks.settle()
        tasks.move(40)
        tasks.press("n")
        assert tasks.page.locator("#second").is_visible()
        assert tasks.text("#second .view-name").startswith(RUNS[other].label)
        assert tasks.text("#second .narration").startswith("Step ")
        assert tasks.overflow() <= 0
    assert tasks.page.locator("#align option").all_inner_texts() == ["step", "stage", "share of the run"]


@pytest.mark.browser
def test_the_first_screen_shows_curves_stages_attention_and_slider(opened, photograph):
    it = opened(Report("In-context chain", "", (chain_view(),)))
    for selector in ("#time", "#charts .plot", ".head:nth-child(1) canvas", ".head:nth-child(2) canvas"):
        box = it.page.locator(selector).bounding_box()
        assert box["y"] + box["height"] <= 905, selector
    for width in (1280, 400):
        it.page.set_viewport_size({"width": width, "height": 900})
        it.settle()
        photograph(it.page, f"task-{width}")


@pytest.mark.browser
def test_names_of_somebodys_own_are_never_markup(opened):
    about = replace(
        CHAIN,
        title=HOSTILE,
        rungs=(HOSTILE, "a & b", "f_{<b>}"),
        measures=(("attention_previous", HOSTILE),),
    )
    view = replace(chain_view(positions=8), label=HOSTILE, provenance={"about": plain(about)})
    it = opened(Report("x", "", (view,)))
    it.page.select_option("#ladder", "measure attention_previous")
    it.press("1")
    assert it.page.locator("img").count() == 0
    assert HOSTILE in it.text("#measures") and HOSTILE in it.text("#watch-title")
    assert "<img src=x" in it.text("#charts").lower()  # the title of the second chart, as text


@pytest.mark.browser
def test_runs_of_another_origin_are_listed_under_their_own_title(opened):
    runs = (line_view(), chain_view("chain 12ab", 16, "Other runs in this folder"))
    it = opened(Report("Folder", "", runs, notes=("2 runs are not drawn here.",)))
    assert it.page.get_attribute("#run optgroup", "label") == "Other runs in this folder"
    named = "chain 12ab (Other runs in this folder)"
    assert it.page.locator("#run optgroup option").all_inner_texts() == [named]
    assert "2 runs are not drawn here." in it.text("#summary")
    it.choose("#run", named)
    assert it.text("#watch-title") == f"{named}: {CHAIN.title}"


def test_real_records_of_every_kind_make_a_page(tmp_path):
    from headway.lookup import readable
    from headway.report.assemble import can_draw, other_label, portraits_among, view_of
    from headway.store import Store

    records = readable([Store(Path(__file__).parents[2] / "results")])
    portraits = portraits_among(records)
    seen = {}
    for record in records:
        if can_draw(record) and len(seen.setdefault(record.cell.kind, [])) < 3:
            seen[record.cell.kind].append(view_of(other_label(record), record, portraits))
    assert {"markov", "flow", "regression", "recall", "single-location", "toy"} <= seen.keys()
    views = tuple(view for some in seen.values() for view in some)
    assert len(payload(Report("Results", "", views))["runs"]) == len(views)
