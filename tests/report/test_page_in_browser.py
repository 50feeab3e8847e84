"""The page draws whatever it is given, fits its window, and keeps every text a text."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import Browser
from tests.report.conftest import Opened
from tests.report.made_run import made_report, made_settings, made_view

from headway.records import Trajectory
from headway.report.page import write_page

pytestmark = pytest.mark.browser

REVERSED = made_settings(8, ((13, 14), (9, 10, 11, 12), (1, 2, 3, 4, 5, 6, 7, 8)), references=(4, 8, 12))


def with_holes(trajectory: Trajectory) -> Trajectory:
    """The same run with numbers missing in every array, and all of them in the last seed's."""
    arrays = {name: values.copy() for name, values in trajectory.arrays.items()}
    for values in arrays.values():
        values[0, ::3] = np.nan
        values[-1] = np.nan
    return replace(trajectory, arrays=arrays)


def without_pictures(trajectory: Trajectory) -> Trajectory:
    arrays = {name: values for name, values in trajectory.arrays.items() if name != "attention"}
    return replace(trajectory, arrays=arrays)


def cut(trajectory: Trajectory, step: int) -> Trajectory:
    """What an interrupted run leaves: everything up to a step."""
    kept = {name: times <= step for name, times in trajectory.clocks.items()}
    arrays = {name: values[:, kept[trajectory.clock_of[name]]] for name, values in trajectory.arrays.items()}
    clocks = {name: times[kept[name]] for name, times in trajectory.clocks.items()}
    return replace(trajectory, clocks=clocks, arrays=arrays)


USUAL = made_view()
UNUSUAL = (
    made_view("one seed, one head, one block", made_settings(1, ((1, 2, 3),)), seeds=(7,)),
    made_view("two blocks", made_settings(2, ((1, 2), (3, 4)))),
    made_view("eight heads, unequal blocks, n-gram models", REVERSED),
    made_view("overlapping blocks", made_settings(4, ((5, 6, 7, 8), (3, 4, 5, 6), (1, 2, 3, 4)))),
    made_view(
        "eight blocks of one lag and forty seeds", made_settings(8, tuple((k,) for k in range(1, 9))), tuple(range(40))
    ),
    replace(USUAL, label="numbers missing", trajectory=with_holes(USUAL.trajectory)),
    replace(USUAL, label="no stages", stages=(), intervals=()),
    replace(USUAL, label="no pictures", trajectory=without_pictures(USUAL.trajectory)),
    replace(USUAL, label="interrupted", trajectory=cut(USUAL.trajectory, 30), stages=(), intervals=()),
    made_view("one seed diverged", seeds=tuple(range(8)), diverged={3: 120}),
    made_view("all seeds diverged", diverged={0: 40, 1: 50, 2: 90, 3: 300}),
)


@pytest.fixture(scope="module")
def _unusual(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    yield from Opened.once(browser, tmp_path_factory.mktemp("unusual"), made_report(runs=UNUSUAL), width=900)


@pytest.mark.parametrize("view", UNUSUAL, ids=lambda view: view.label)
def test_unusual_runs_draw_without_complaint(_unusual, view):
    it = _unusual
    it.page.evaluate("document.activeElement?.blur(); headway.selection.set({ other: -1 })")
    it.choose("#run", view.label)
    it.page.evaluate("document.activeElement?.blur()")
    for key in ("ArrowLeft", "1", "3", "n", "p", "c", "ArrowRight"):
        it.press(key)
    assert it.page.locator("#second").is_visible()
    assert "undefined" not in it.text("body") and "NaN" not in it.text("body")
    assert it.overflow() <= 0
    it.check()


CHOSEN_BEFORE_IT_IS_DRAWN = """async ([first, second]) => {
    const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    headway.selection.set({ run: first, other: -1, seed: 0, time: 0 });
    await frames();
    // The page's own observers began before this one. So when it hears of another width they have asked for the next
    // frame, in which they draw before anybody is told of the run that is chosen here.
    const home = document.querySelector("#view .heads");
    const resize = () => (home.style.width = home.style.width ? "" : "80%");
    let calls = 0;
    const observer = new ResizeObserver(() => (calls++ ? headway.selection.set({ run: second }) : resize()));
    observer.observe(home);
    await frames();
    await frames();
    observer.disconnect();
}"""


def test_a_run_that_is_chosen_while_the_window_changes_its_size_is_drawn_as_itself(_unusual):
    it = _unusual
    labels = [view.label for view in UNUSUAL]
    for second in ("no pictures", "one seed, one head, one block"):
        it.page.evaluate(CHOSEN_BEFORE_IT_IS_DRAWN, [labels.index("two blocks"), labels.index(second)])
    it.page.evaluate("document.querySelector('#view .heads').style.width = ''")
    it.settle()
    it.check()


@pytest.mark.parametrize("runs", [(), UNUSUAL[:1]], ids=["nothing", "one seed"])
def test_the_smallest_reports_are_pages_with_nothing_to_compare(opened, runs):
    it = opened(made_report(runs=runs, findings=(), commands=()), width=900)
    it.press("c")
    assert "undefined" not in it.text("body") and "NaN" not in it.text("body")
    assert it.page.locator("#compare").is_hidden() if runs else "no runs and no findings yet" in it.text("#summary")
    assert it.overflow() <= 0


def test_a_run_that_ended_early_says_so(_unusual):
    _unusual.choose("#run", "interrupted")
    words = "The numbers end at step 30 of 2\u202f000: the run was interrupted or is still in progress."
    assert _unusual.text("#summary .caveat") == words


SCREENS = ((400, "dark"), (1280, "light"), (1920, "dark"))


def test_the_page_fits_its_window_by_day_and_by_night(opened, photograph):
    """Alone, compared, and with everything unfolded; with HEADWAY_SCREENSHOTS there are pictures of it, for eyes."""
    it = opened(made_report(runs=(made_view("quick"), UNUSUAL[2])))
    for width, scheme in SCREENS:
        it.page.set_viewport_size({"width": width, "height": 900})
        it.page.emulate_media(color_scheme=scheme)
        it.choose("#run", "quick")
        it.press("2")
        assert it.overflow() <= 0
        it.page.evaluate("scrollTo(0, 0)")
        photograph(it.page, f"page-{width}-{scheme}", whole=True)
        it.choose("#run", UNUSUAL[2].label)
        it.click("#compare")
        it.page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        it.page.evaluate("scrollTo(0, 0)")
        it.settle()
        assert it.overflow() <= 0
        photograph(it.page, f"compared-{width}-{scheme}", whole=True)
        it.click("#compare")


def test_labels_beside_the_charts_do_not_overlap(opened):
    blocks = tuple((lag,) for lag in range(1, 9))
    it = opened(made_report(runs=(made_view("many", made_settings(2, blocks)),)))
    boxes = [label.bounding_box() for label in it.page.locator(".plot .annotation-text-g").all()]
    area = it.chart_area()
    beside = sorted(box["y"] + box["height"] / 2 for box in boxes if box["x"] > area["x"] + area["width"])
    assert len(beside) == 9 + 8  # a level for every rung, and the end of every curve but the uniform one
    assert np.diff(beside).min() > 11


def test_a_diverged_seed_is_named_marked_and_left_out_of_the_median(opened):
    it = opened(made_report(runs=(made_view(diverged={1: 120}),)))
    assert "1 seed diverged: 1 at step 120" in it.text("#summary")
    assert "3 of 4 seeds entered stage 3 of 3 by step 2" in it.text("#summary .chosen")
    assert "median of 3 seeds" in it.text("#chart-legend") and "diverged" in it.text("#chart-legend")
    it.choose("#seed", "1 (diverged at 120)")
    assert "this seed diverged at step 120" in it.text("#narration")


def test_the_summary_gives_the_measured_numbers(shown, made):
    loss = np.median(made.trajectory["excess_loss"], axis=0)
    words = shown.summary().replace("\u202f", "")
    assert "4 seeds, 2000 steps; every seed entered stage 3 of 3." in words
    assert f"went from {loss[0]:#.3g} to {loss[-1]:#.3g} nats" in words
    [far] = {f"{each:#.3g}" for each in made.trajectory["kl_rungs"][:, -1, 3]}  # made alike in every seed
    assert f"not that it has arrived: at the last step, KL to the truth is {far} in every seed." in words
    assert "The median seed entered stage 2 at step" in words
    assert "Of 3 claims of the grid quick, 1 holds, 1 holds partly and 1 was not run." in shown.text("#verdicts")


def test_verdicts_stand_side_by_side_with_the_numbers_behind_them(shown):
    first, second, third = (row.inner_text() for row in shown.page.locator(".verdicts > tbody > tr").all())
    assert first.count("4 of 4 seeds") == 2
    assert "0.675" in first and "[0.61, 0.74]" in first and "[0.6, 0.75]" in first
    assert "partly" in second and "3 of 4 seeds" in second and "one head a block late: 3 of 4" in second
    assert "fails" in third and "not run" in third
    shown.page.locator(".verdicts summary", has_text="each seed").last.click()
    assert "–" in shown.page.locator(".verdicts .small").last.inner_text()  # the missing value


def test_the_stage_table_gives_every_boundary_and_the_median(shown, made):
    table = shown.text("#stage-tables table")
    for stages in made.stages:
        assert all(f"{step:.0f}" in table for step in stages.boundaries)
    middle = np.median([stages.boundaries for stages in made.stages], axis=0)
    low, high = made.intervals[0]
    assert f"{np.floor(middle[0] + 0.5):.0f} [{low:.0f}, {high:.0f}]" in table


def test_hostile_texts_are_shown_and_not_run(opened):
    hostile = "</script><script>window.broken = true</script><img src=x onerror='window.broken = true'>"
    claim = replace(made_report().findings[0][1], statement=hostile)
    view = replace(made_view(), label=hostile, provenance={hostile: hostile})
    it = opened(made_report(hostile, introduction=hostile, runs=(view,), findings=((hostile, claim),)))
    assert it.page.evaluate("window.broken") is None
    assert it.text("h1") == hostile
    assert it.page.locator("img").count() == 0


def test_even_a_script_that_got_in_can_neither_run_nor_fetch(browser, tmp_path):
    path = write_page(tmp_path / "report.html", made_report(runs=(), findings=()))
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("<main>", "<main><script>window.broken = true</script>"), encoding="utf-8")
    context = browser.new_context()
    page, failures = context.new_page(), []
    page.on("requestfailed", lambda request: failures.append(request.failure))
    page.goto(path.as_uri())
    page.evaluate("document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:9/x.png'}))")
    page.wait_for_timeout(200)
    assert page.evaluate("window.broken") is None
    assert failures == ["csp"]  # refused by the page's own policy before anything was sent
    told = """new Promise((done) => {
        document.addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective));
        const form = Object.assign(document.createElement("form"), { action: "http://127.0.0.1:9/", method: "post" });
        document.body.append(form);
        form.submit();
    })"""
    assert page.evaluate(told) == "form-action"
    context.close()


def test_the_charts_have_only_the_buttons_that_are_named_here_and_nowhere_to_send_to(shown):
    """A library may grow buttons, such as one that uploads the chart; no policy can forbid the window it opens."""
    titles = [button.get_attribute("data-title") for button in shown.page.locator(".modebar-btn").all()]
    assert titles == ["Zoom", "Pan", "Zoom in", "Zoom out", "Show everything again"]
    assert shown.page.evaluate("document.querySelector('.plot')._context.plotlyServerURL") == ""


def test_a_run_that_begins_in_its_first_stage_has_no_start(opened):
    whole = made_view()
    early = tuple(replace(stages, start=0.0) for stages in whole.stages)
    it = opened(made_report(runs=(replace(whole, stages=early),), findings=()))
    assert it.page.locator(".chapter button").all_inner_texts() == ["Stage 1", "Stage 2", "Stage 3"]


def test_a_stage_is_named_by_its_rung_also_where_no_turn_to_one_was_seen(opened):
    whole = made_view()
    skipping = replace(whole.stages[0], rungs=(1, 3), boundaries=whole.stages[0].boundaries[:1], levels=())
    it = opened(made_report(runs=(replace(whole, stages=(skipping, *whole.stages[1:])),), findings=()))
    assert it.page.locator(".stage-buttons button").all_inner_texts() == ["‹", "1", "3", "›"]
    assert it.page.locator(".chapter button").all_inner_texts() == ["The start", "Stage 1", "Stage 3"]
    assert "rung 3 of 3" in it.text(".chapter:nth-child(3)") and "No turn to rung 2 was seen." in it.text(
        ".chapter:nth-child(3)"
    )
    step = it.step()
    it.press("2")
    assert it.step() == step  # this seed has no such stage
    it.press("3")
    assert "stage 3 of 3" in it.text("#narration")
    it.choose("#seed", "1")
    it.page.evaluate("document.activeElement.blur()")
    it.press("c")
    it.choose("#other-seed", "0")
    it.choose("#align", "stage")
    it.page.evaluate("document.activeElement.blur()")
    it.press("2")
    assert "has no stage 2" in it.text("#second .view-name")
    it.press("3")
    assert "has no stage" not in it.text("#second .view-name") and "stage 3" in it.text("#second .narration")


def test_claims_that_differ_from_grid_to_grid_count_once_by_a_stated_rule(shown):
    words = shown.text("#verdict-table")
    assert "If a claim was tested on several grids, its verdict on as-run counts, or otherwise that on quick." in words


def test_the_filter_finds_a_claim_by_its_verdict_on_any_grid_and_says_so(shown):
    rows = shown.page.locator("#verdict-table .verdicts > tbody > tr")
    on_one_grid, on_another = (shown.page.locator(f".badge.{verdict}") for verdict in ("fails", "not-run"))
    assert rows.filter(has=on_one_grid).filter(has=on_another).count()
    for verdict in ("holds", "fails", "not run"):
        wanted = rows.filter(has=shown.page.locator(f".badge.{verdict.replace(' ', '-')}")).count()
        button = shown.page.locator("#verdict-table .filter .option", has_text=verdict)
        assert int(button.inner_text().split()[-1]) == wanted
        button.click()
        assert rows.filter(visible=True).count() == wanted
        assert f"{verdict} on at least one grid" in shown.text("#verdict-table .filter output")
    shown.page.locator("#verdict-table .filter .option", has_text="all").click()


def test_dark_and_light_are_exchanged_while_the_page_is_open(shown):
    light = shown.picture()
    shown.page.emulate_media(color_scheme="dark")
    shown.settle()
    assert shown.picture() != light
    shown.page.emulate_media(color_scheme="light")
    shown.settle()
    assert shown.picture() == light
