"""One slider moves everything, and every way to move it ends at the same place."""

import itertools

import numpy as np
import pytest
from tests.report.made_run import STEPS, made_report, made_settings, made_view

from headway.report.colours import head_colours, to_rgb

pytestmark = pytest.mark.browser

REVERSED = made_settings(8, ((13, 14), (9, 10, 11, 12), (1, 2, 3, 4, 5, 6, 7, 8)), references=(4, 8, 12))


def index_of(steps: np.ndarray, step: int) -> int:
    return int(np.flatnonzero(steps == step)[0])


def test_the_slider_moves_the_marker_the_pictures_the_bars_and_the_words(shown):
    seen = []
    for time in (0, 18, 30):
        shown.move(time)
        bars = tuple(bar.get_attribute("style") for bar in shown.page.locator(".fill").all())
        second = shown.picture(".head:nth-child(2) canvas")
        seen.append((shown.marker(), shown.picture(), second, bars, shown.text("#narration")))
    for before, after in itertools.pairwise(seen):
        assert all(old != new for old, new in zip(before, after, strict=True))


def test_a_map_names_its_step_only_where_the_slider_stands_at_another(shown, made):
    evaluation, stored = (made.trajectory.clocks[clock] for clock in ("evaluation", "snapshot"))
    between = int(np.flatnonzero(~np.isin(evaluation, stored))[0])
    shown.move(between)
    nearest = stored[np.argmin(np.abs(stored - evaluation[between]))]
    assert set(shown.page.locator(".head .taken").all_inner_texts()) == {f"taken at step {nearest}"}
    shown.move(index_of(evaluation, nearest))
    assert set(shown.page.locator(".head .taken").all_inner_texts()) == {""}


def test_moving_the_slider_does_not_draw_the_charts_again(shown):
    count = "document.querySelector('.plot').on('plotly_afterplot', () => window.drawings++)"
    shown.page.evaluate(f"window.drawings = 0; {count}")
    for time in range(0, 30, 3):
        shown.move(time)
    assert shown.page.evaluate("window.drawings") == 0
    shown.click("#log-value")
    assert shown.page.evaluate("window.drawings") > 0


def test_the_marker_stands_at_its_step_on_both_kinds_of_time_axis(shown, made):
    steps = made.trajectory.clocks["evaluation"]
    first = 0.4  # where the logarithmic axis puts step 0
    for time in (0, 20, len(steps) - 1):
        shown.move(time)
        along = np.log(max(steps[time], first) / first) / np.log(STEPS / first)
        assert shown.marker() == pytest.approx(along, abs=0.003)
    shown.click("#log-time")
    for time in (0, 25, len(steps) - 1):
        shown.move(time)
        assert shown.marker() == pytest.approx(steps[time] / STEPS, abs=0.003)


def test_a_cell_has_the_colour_of_the_head_that_looks_there(shown):
    """At the end head 2 alone holds block 2, so the cell at lag 3 of the last query has its colour."""
    pixel = """(canvas) => {
        const run = headway.report.runs[0];
        const ratio = canvas.width / parseFloat(canvas.style.width);
        const cell = Math.floor((parseFloat(canvas.style.width) - 46) / run.keys * ratio);
        const x = 40 * ratio + (run.keys - 3 + 0.5) * cell;
        const y = 18 * ratio + (run.queries - 0.5) * cell;
        const copy = new OffscreenCanvas(1, 1).getContext("2d");
        copy.drawImage(canvas, -x, -y);
        return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3);
    }"""
    second = 255 * to_rgb(head_colours(3)[1])
    assert np.abs(shown.page.eval_on_selector("#combined canvas", pixel) - second).max() < 30
    shown.click("#combined .key:nth-child(2)")
    assert min(shown.page.eval_on_selector("#combined canvas", pixel)) > 245  # without head 2 it is paper


def test_stripes_and_blends_are_different_pictures_of_the_same_heads(shown):
    blended = shown.picture()
    shown.click("#combined >> text=side by side")
    assert shown.picture() != blended
    shown.click("#combined >> text=side by side")
    assert shown.picture() == blended


def test_another_seed_shows_its_own_picture_and_its_own_number(shown, made):
    apart = np.abs(made.trajectory["attention"][0] - made.trajectory["attention"][2]).sum(axis=(1, 2, 3, 4))
    step = float(made.trajectory.clocks["snapshot"][apart.argmax()])  # the seeds differ only in when heads move
    shown.move(shown.page.evaluate("step => headway.report.runs[0].times.findIndex((time) => time >= step)", step))
    before = shown.picture()
    shown.choose("#seed", "2")
    assert shown.picture() != before
    at = index_of(made.trajectory.clocks["evaluation"], shown.step())
    assert f"{float(made.trajectory['excess_loss'][2, at]):#.3g}" in shown.text("#narration")


def test_another_run_brings_its_own_task_and_keeps_the_step(opened):
    it = opened(made_report(runs=(made_view("quick"), made_view("as-run", REVERSED, seeds=(5, 6)))))
    it.choose("#seed", "3")
    it.move(22)
    step = it.step()
    it.choose("#run", "as-run")
    assert it.step() == step
    assert it.page.locator(".head").count() == 8
    assert "lags 13–14" in it.text("#reading-words")
    it.choose("#ladder", "n-gram models")
    assert "context 12" in it.text("#chart-legend")
    it.choose("#run", "quick")
    assert "context 12" not in it.text("#chart-legend")


def test_the_words_say_what_the_heads_hold(shown, made):
    shown.press("2")
    at = index_of(made.trajectory.clocks["evaluation"], shown.step())
    share = float(made.trajectory["attention_by_lag"][0, at, 0, 1, 2:4].sum())
    words = shown.text("#narration")
    assert "stage 2" in words and "heads 1 and 3 share block 1" in words
    assert f"head 2 holds block 2 with {100 * share:.0f} %" in words
    near, far = (float(value) for value in made.trajectory["kl_rungs"][0, at, 2:])
    assert f"KL {near:#.3g} to rung 2 and {far:#.3g} to the truth." in words
    shown.move(0)
    assert "the start: no head holds a block yet" in shown.text("#narration")


def test_number_keys_go_to_where_the_model_is_closest_to_the_rung(shown, made):
    evaluation = made.trajectory.clocks["evaluation"]
    first, second = made.stages[0].boundaries
    inside = np.flatnonzero((evaluation >= first) & (evaluation < second))
    shown.press("2")
    assert shown.step() == evaluation[inside[made.trajectory["kl_rungs"][0, inside, 2].argmin()]]


def test_arrows_move_by_one_measurement_and_leave_other_controls_alone(shown, made):
    steps = made.trajectory.clocks["evaluation"].tolist()
    assert shown.step() == steps[-1]
    shown.press("ArrowLeft")
    assert shown.step() == steps[-2]
    shown.page.focus("#time")
    shown.press("Home")
    shown.press("ArrowRight")
    assert shown.step() == steps[1]
    shown.page.focus("#seed")
    shown.press("3")
    assert shown.step() == steps[1]


def test_the_space_bar_plays_from_the_start_and_pauses(shown):
    shown.press(" ")
    assert shown.page.get_attribute(".play", "aria-label") == "Pause"
    for _ in range(3):
        now = shown.page.evaluate("headway.selection.state.time")
        assert now < shown.page.evaluate("headway.report.runs[0].times.length - 1")  # it began anew
        shown.page.wait_for_function("(now) => headway.selection.state.time > now", arg=now)
    shown.press(" ")
    stopped = shown.step()
    shown.page.wait_for_timeout(500)
    assert shown.step() == stopped


def test_next_and_previous_go_from_stage_to_stage(shown):
    shown.press("1")
    first = shown.step()
    shown.press("n")
    second = shown.step()
    shown.page.get_by_role("button", name="Next stage (key n)").click()
    shown.settle()
    third = shown.step()
    shown.press("n")  # there is none behind the last
    assert first < second < third == shown.step()
    shown.press("p")
    assert shown.step() == second
    shown.press("1")
    assert shown.step() == first


def test_the_speed_is_chosen_and_playing_goes_on_with_it(shown):
    shown.press("+")
    assert shown.page.input_value("#speed") == "2"
    shown.choose("#speed", "0.25 ×")
    shown.page.evaluate("document.activeElement.blur()")
    shown.press("-")
    assert shown.page.input_value("#speed") == "0.25"  # the slowest
    shown.press(" ")
    shown.choose("#speed", "4 ×")
    assert shown.page.get_attribute(".play", "aria-label") == "Pause"
    last = shown.page.evaluate("headway.report.runs[0].times.length - 1")
    shown.page.wait_for_function("(last) => headway.selection.state.time === last", arg=last)
    shown.page.wait_for_function("() => headway.selection.state.playing === false")


@pytest.mark.parametrize("logarithmic", [True, False])
def test_a_drag_enlarges_a_part_and_a_double_click_shows_all(shown, made, logarithmic):
    if not logarithmic:
        shown.click("#log-time")
    area = shown.chart_area()
    begins = "document.querySelector('.plot').layout.xaxis.range[0]"
    whole = shown.page.evaluate(begins)
    y = area["y"] + 60
    shown.page.mouse.move(area["x"] + 0.4 * area["width"], y)
    shown.page.mouse.down()
    shown.page.mouse.move(area["x"] + 0.7 * area["width"], y, steps=5)
    shown.page.mouse.up()
    shown.page.wait_for_function(f"(whole) => {begins} > whole", arg=whole)
    assert shown.page.locator(".marker").is_hidden()  # the last step lies outside
    # Lines are named where they leave the chart: at their height there.
    heights = "document.querySelector('.plot').layout.annotations.filter((each) => each.yref === 'y2').map(({y}) => y)"
    end = shown.page.evaluate("document.querySelector('.plot').layout.xaxis.range[1]")
    steps, kl = made.trajectory.clocks["evaluation"], np.median(made.trajectory["kl_rungs"], axis=0)
    place = np.log10(np.maximum(steps, 0.4)) if logarithmic else steps
    wanted = [np.interp(end, place, kl[:, rung]) for rung in (1, 2, 3)]
    shown.page.wait_for_function(
        f"(wanted) => Math.abs({heights}.sort((a, b) => a - b)[0] - wanted) < 1e-4", arg=min(wanted)
    )
    np.testing.assert_allclose(sorted(shown.page.evaluate(heights)), sorted(wanted), rtol=1e-4)
    shown.page.mouse.dblclick(area["x"] + 0.5 * area["width"], y)
    shown.page.wait_for_function(f"(whole) => {begins} === whole", arg=whole)


def click_in_the_middle(it, area):
    middle = area["x"] + area["width"] / 2, area["y"] + 100
    it.page.mouse.move(*middle)
    it.page.wait_for_selector(".hoverlayer .legend")
    it.page.mouse.click(*middle)
    it.settle()


def test_a_click_into_the_charts_goes_there(shown, made):
    shown.click("#log-time")
    click_in_the_middle(shown, shown.chart_area())
    steps = made.trajectory.clocks["evaluation"]
    assert shown.step() == steps[np.abs(steps - STEPS / 2).argmin()]


def test_whoever_clicks_into_the_charts_while_it_plays_wants_to_look_there(shown):
    shown.choose("#speed", "0.25 ×")
    shown.page.evaluate("document.activeElement.blur()")
    shown.press(" ")
    assert shown.page.get_attribute(".play", "aria-label") == "Pause"
    click_in_the_middle(shown, shown.chart_area())
    assert shown.page.get_attribute(".play", "aria-label") == "Play"
    stopped = shown.step()
    shown.page.wait_for_timeout(600)
    assert shown.step() == stopped > 10


def test_a_pointer_over_a_picture_shows_lag_block_and_value(shown):
    canvas = shown.page.locator(".head:nth-child(1) canvas")
    box = canvas.bounding_box()
    canvas.hover(position={"x": box["width"] - 10, "y": box["height"] - 40})
    words = shown.text("#tip")
    assert "query 25 → key 25" in words and "lag 1, block 1" in words and "head 1: 0.4" in words
    canvas.hover(position={"x": box["width"] - 10, "y": 25})
    assert "the future" in shown.text("#tip")


def test_seeds_that_are_left_out_leave_the_chart_and_its_median(shown, made):
    lines = "document.querySelector('.plot').data.filter((each) => each.yaxis === 'y' && each.y.length > 2)"
    middle = f"{lines}.find((each) => each.line.width === 3).y"
    loss = made.trajectory["excess_loss"]
    np.testing.assert_allclose(shown.page.evaluate(middle), np.median(loss, axis=0), rtol=1e-6)
    shown.click(".seed-choice summary")
    shown.click(".seed-choice .key:text-is('3')")
    np.testing.assert_allclose(shown.page.evaluate(middle), np.median(loss[:3], axis=0), rtol=1e-6)
    assert "median of 3 seeds" in shown.text("#chart-legend")
    assert shown.page.locator(".seed-choice .key:text-is('0')").is_disabled()  # the pictures show it
    shown.click(".seed-choice .key:text-is('only this')")
    assert shown.page.evaluate(f"{lines}.length") == 1 and "1 of 4 seeds in the charts" in shown.text("#chart-legend")
    shown.click(".seed-choice .key:text-is('all')")
    np.testing.assert_allclose(shown.page.evaluate(middle), np.median(loss, axis=0), rtol=1e-6)


def test_a_hidden_rung_leaves_the_chart(shown):
    count = "document.querySelectorAll('.plot .scatterlayer .trace').length"
    before = shown.page.evaluate(count)
    shown.click("#chart-legend .key:nth-child(3)")
    assert shown.page.evaluate(count) == before - 3  # the chosen seed, the others, and their median
    assert shown.page.get_attribute("#chart-legend .key:nth-child(3)", "aria-pressed") == "false"
