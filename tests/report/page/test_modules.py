"""The modules that compute: places, alignments, words, tables. None of them needs a page."""

import base64
import itertools
import json

import numpy as np
import pytest

from headway.report.page.packing import pack_curves, pack_levels, unpack

pytestmark = pytest.mark.browser

CORNERS = "m.corners(count)"


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_a_head_that_looks_at_one_block_only_stands_in_that_blocks_corner(js, count):
    corners = js("simplex", CORNERS, count=count)
    apart = [np.hypot(*np.subtract(a, b)) for a, b in itertools.combinations(corners, 2)]
    assert len(corners) == count and min(apart, default=1) > 0.5
    for block, corner in enumerate(corners):
        shares = [float(k == block) for k in range(count)]
        assert js("simplex", f"m.pointOf(shares, {CORNERS})", shares=shares, count=count) == pytest.approx(corner)
    nowhere = js("simplex", f"m.pointOf(shares, {CORNERS})", shares=[0.0] * count, count=count)
    assert nowhere == pytest.approx([0, 0])


def test_shares_pull_in_proportion_and_overlapping_blocks_pull_nobody_out(js):
    top, right, left = js("simplex", CORNERS, count=3)
    point = f"m.pointOf(shares, {CORNERS})"
    half = js("simplex", point, shares=[0.5, 0.25, 0.0], count=3)
    assert half == pytest.approx(0.5 * np.array(top) + 0.25 * np.array(right))
    both = js("simplex", point, shares=[1.0, 1.0, 0.0], count=3)  # one lag that belongs to two blocks
    assert both == pytest.approx((np.array(top) + np.array(right)) / 2)
    assert left[1] == pytest.approx(right[1])


def test_numbers_in_one_place_are_moved_apart_and_others_stay(js):
    points = [[50.0, 50.0]] * 4 + [[200.0, 90.0]]
    placed = js("simplex", "m.spread(points, 20)", points=points)
    distances = [np.hypot(*np.subtract(a, b)) for a, b in itertools.combinations(placed, 2)]
    assert min(distances) > 19
    assert placed[-1] == pytest.approx(points[-1], abs=0.05)
    assert np.mean(placed[:4], axis=0) == pytest.approx([50, 50], abs=0.1)


def made_js_run(times: list[float], begins: list[float], clock: str = "step") -> dict:
    """As much of a run as the clock needs: its times, and where the stages of its only seed begin."""
    rungs = list(range(1, len(begins) + 1))
    stages = {"rungs": rungs, "boundaries": begins[1:], "start": min(begins, default=0), "levels": []}
    return {
        "clock": {"word": clock},
        "times": times,
        "evaluation": times,
        "stages": [stages if begins else None],
        "divergedAt": [-1],
    }


ALIGNED = "m.aligned({run: first, seed: 0}, {run: second, seed: 0}, time, rule)"


def test_by_the_clock_the_nearest_moment_is_shown(js):
    first, second = made_js_run([0, 10, 100, 1000], [5]), made_js_run([0, 90, 120, 400], [5])
    chosen = [js("align", ALIGNED, first=first, second=second, time=time, rule="clock") for time in range(4)]
    assert chosen == [0, 0, 1, 3]


def test_by_stage_a_change_of_stage_falls_on_the_same_change_and_ends_on_ends(js):
    first = made_js_run(list(range(101)), [10, 40, 80])
    second = made_js_run([0.1 * k for k in range(201)], [2.0, 3.0, 15.0], clock="time")
    places = {time: js("align", ALIGNED, first=first, second=second, time=time, rule="stage") for time in range(101)}
    assert [places[time] for time in (0, 10, 40, 80, 100)] == [0, 20, 30, 150, 200]
    assert places[60] == 90  # half-way through the second stage
    assert all(before <= after for before, after in itertools.pairwise(places.values()))
    back = js("align", ALIGNED, first=second, second=first, time=90, rule="stage")
    assert back == 60


LACKED = "m.lackedStage({run: first, seed: 0}, {run: second, seed: 0}, time)"


def test_a_run_that_lacks_the_last_stages_has_only_its_end_for_them_and_says_so(js):
    first, second = made_js_run(list(range(101)), [10, 40, 80]), made_js_run(list(range(51)), [20])
    times = (5, 10, 25, 40, 55, 100)
    places = [js("align", ALIGNED, first=first, second=second, time=time, rule="stage") for time in times]
    assert places == [10, 20, 35, 50, 50, 50]
    assert [js("align", LACKED, first=first, second=second, time=time) for time in times] == [0, 0, 0, 2, 2, 3]
    assert js("align", LACKED, first=second, second=first, time=50) == 0
    alone = made_js_run([5], [])
    assert js("align", ALIGNED, first=first, second=alone, time=70, rule="stage") == 0


def test_stages_are_those_of_a_rung_so_that_a_skipped_one_has_no_counterpart(js):
    first, second = made_js_run(list(range(101)), [10, 40, 80]), made_js_run(list(range(51)), [20, 30])
    second["stages"][0]["rungs"] = [1, 3]
    times = (10, 40, 60, 80, 90)
    places = [js("align", ALIGNED, first=first, second=second, time=time, rule="stage") for time in times]
    assert places == [20, 30, 30, 30, 40]
    assert [js("align", LACKED, first=first, second=second, time=time) for time in times] == [0, 2, 2, 0, 0]


def test_a_stage_that_begins_with_the_run_is_still_the_first(js):
    first, second = made_js_run(list(range(101)), [0, 40]), made_js_run(list(range(101)), [30, 60])
    places = [js("align", ALIGNED, first=first, second=second, time=time, rule="stage") for time in (0, 20, 40, 100)]
    assert places == [30, 45, 60, 100]


SHORT = """m.shortWords({seeds: rungs.map((_, k) => k), rungs: 3, stages: rungs.map((each) => ({rungs: each})),
    stages_from: "ladder", evaluation: [0, 1, 2, 3], progress: {word: "excess loss"},
    arrays: {kl_rungs: {at: (seed, time, rung) => Math.abs(time - rung)}}})"""


def test_where_training_ended_is_stated_with_the_count_by_minima_where_it_is_another(js):
    assert js("summary", SHORT, rungs=[[1, 2, 3]]) == ""
    words = js("summary", SHORT, rungs=[[1, 2, 3], [1, 2], [1, 2], [1]])
    assert words.startswith(" Seed 3 ended in stage 1 and seeds 1 and 2 ended in stage 2.")
    assert " KL minima are in order in 4 of 4 seeds; a stage also requires a turn" in words
    missed = js("summary", SHORT, rungs=[[1, 3], [1, 2, 3]])
    assert missed.startswith(" Seed 0 made no turn to stage 2. KL minima are in order in 2 of 2 seeds")
    squared = SHORT.replace("excess loss", "squared error")
    assert " Distance minima are in order in 2 of 2 seeds" in js("summary", squared, rungs=[[1, 3], [1, 2, 3]])


def test_a_share_of_the_run_is_a_share_of_the_slider(js):
    first, second = made_js_run(list(range(11)), []), made_js_run(list(range(101)), [])
    assert js("align", ALIGNED, first=first, second=second, time=3, rule="share") == 30


def test_a_clock_is_offered_only_to_runs_that_have_the_same(js):
    training, flow = made_js_run([0], [0]), made_js_run([0], [0], clock="time")
    offered = "Object.keys(m.alignments(first, second))"
    assert js("align", offered, first=training, second=training) == ["clock", "stage", "share"]
    assert js("align", offered, first=flow, second=training) == ["stage", "share"]


def test_the_same_name_on_another_grid_is_compared_first_then_the_next_run_then_a_seed(js):
    def runs(*labels: str) -> list[dict]:
        return [{"label": label, "title": "a chain", "seeds": [4, 5]} for label in labels]

    partner = "m.partner(runs, {run: 0, seed: 1})"
    names = runs("minimal, as-run", "full, as-run", "minimal, printed")
    assert js("align", partner, runs=names) == {"other": 2, "otherSeed": 1}
    assert js("align", partner, runs=names[:2]) == {"other": 1, "otherSeed": 1}
    assert js("align", partner, runs=names[:1]) == {"other": 0, "otherSeed": 0}


def masses(*shares: tuple[float, ...]) -> list[dict]:
    return [{"blocks": list(blocks), "elsewhere": 1 - sum(blocks)} for blocks in shares]


@pytest.mark.parametrize(
    ("stopped", "gone", "shown"),
    [(-1, -1, [0, 1, 2, 3]), (150, -1, [0, 1, 1, 1]), (-1, 250, [0, 1, 2, 2]), (60, -1, [0, 0, 0, 0])],
)
def test_a_seed_that_has_ended_shows_the_last_picture_that_was_taken_before(js, stopped, gone, shown):
    run = {"snapshot": [0, 100, 200, 300], "picture": [0, 1, 2, 3], "stoppedAt": [stopped], "divergedAt": [gone]}
    assert js("data", "run.picture.map((_, time) => m.pictureAt(run, 0, time))", run=run) == shown


def test_heads_that_are_ahead_of_the_ladder_are_named(js):
    run = "{stages_from: 'ladder', task: {strengths: [3, 2, 1]}, groups: [{}, {}, {}], rungs: 3}"
    ahead = f"m.aheadWords({run}, stage, masses)"
    now = masses((0.9, 0.0, 0.0), (0.2, 0.7, 0.1), (0.1, 0.1, 0.8))
    words = js("narration", ahead, stage={"number": 1, "rung": 1}, masses=now)
    assert words == "By the ladder this is still stage 1, though heads 2 and 3 already hold blocks 2 and 3."
    words = js("narration", ahead, stage={"number": 2, "rung": 2}, masses=now)
    assert words == "By the ladder this is still stage 2, though head 3 already holds block 3."
    assert js("narration", ahead, stage={"number": 3, "rung": 3}, masses=now) == ""


def test_a_line_is_named_at_its_height_at_the_edge_of_what_is_seen(js):
    height = "m.heightAt(m.timeAxis([0, 1, 10, 100], logarithmic), [1, 10, 100], y, x)"
    told = [js("curves", height, logarithmic=True, y=[4.0, 2.0, 0.0], x=x) for x in (100, 10**1.5, 10)]
    assert told == pytest.approx([0.0, 1.0, 2.0])
    assert js("curves", height, logarithmic=False, y=[4.0, 2.0, 0.0], x=55) == pytest.approx(1.0)
    assert js("curves", height, logarithmic=False, y=[4.0, 2.0, None], x=100) == 2.0  # it diverged


FALLING = """m.OF({seeds: falls.map((_, k) => k), rungs: 2, rungNames: ["the start", "plateau 1", "plateau 2"],
    stages: falls.map((each) => ({rungs: each.map((_, k) => k + 1), start: each[0], boundaries: each.slice(1)})),
    stages_from: "loss", evaluation: [0, 1000], intervals: [], divergedAt: falls.map(() => -1),
    stoppedAt: falls.map(() => -1), clock: {word: "step", whole: true}, arrays: {},
    progress: {array: "loss", word: "loss", unit: ""}})"""


def test_the_first_of_two_drops_has_no_median_with_the_only_drop_of_another_seed(js):
    def of(word: str, module: str, falls: list) -> object:
        return js(module, FALLING.replace("OF", word), falls=falls)

    mixed, same = [[100, 400], [500], [120, 420], [600]], [[100, 400], [120, 420]]
    words = of("summarise", "summary", mixed)
    assert "the loss falls once in 2 seeds and falls twice in 2 seeds." in words
    assert "at step 550 where it falls once; at step 110 and at step 410 where it falls twice." in words
    assert of("beginnings", "stages", mixed) == []
    assert "The drops are half done, in the median, at step 110 and at step 410." in of("summarise", "summary", same)
    assert [each["step"] for each in of("beginnings", "stages", same)] == [110, 410]


def test_where_progress_is_an_accuracy_it_rises_and_the_loss_is_not_mentioned(js):
    rising = FALLING.replace('word: "loss"', 'word: "accuracy", rises: true')
    words = js("summary", rising.replace("OF", "summarise"), falls=[[100, 400], [500]])
    assert "the accuracy rises once in 1 seed and rises twice in 1 seed." in words
    assert "The rises are half done, in the median, at step 500 where it rises once; at step 100 and" in words
    run = rising.removeprefix("m.OF(")[:-1].replace("start: each[0]", "levels: [0, 0], start: each[0]")
    story = js("story", f"m.storyline({run}, 0)", falls=[[100, 400]])
    assert story == "The accuracy of seed 0 rises at step 100 and at step 400."


def test_a_long_name_beside_a_chart_takes_two_lines_or_is_cut_and_its_number_stays(js):
    labels = [{"text": "no component 0.999", "end": "0.999"}, {"text": "bigram 0.0093", "end": "0.0093"}]
    labels += [{"text": "any value of the context"}, {"text": "a name that has far too many letters 0.1", "end": "0.1"}]
    cut = js("figure", "labels.map((label) => m.fitted(label, 17))", labels=labels)
    assert cut[:2] == [["no component", "0.999"], ["bigram 0.0093"]]
    assert cut[2:] == [["any value of", "the context"], ["a name that… 0.1"]]


def test_what_heads_did_is_said_from_their_shares_before_and_after(js):
    before = masses((0.9, 0.04), (0.7, 0.1), (0.2, 0.1), (0.1, 0.1))
    after = masses((0.1, 0.86), (0.8, 0.1), (0.6, 0.1), (0.12, 0.4))
    words = js("story", "m.moveWords(before, after, 'block')", before=before, after=after).replace("\u00a0", " ")
    assert "head 1 left block 1 for block 2 (4 % → 86 % of its attention)" in words
    assert "head 2 stayed on block 1 (70 % → 80 %" in words
    assert "head 3 settled on block 1 (20 % → 60 %" in words
    assert "head 4 still holds no block, though it now attends more to block 2 (10 % → 40 %)" in words


def test_a_stage_whose_block_no_head_holds_names_the_head_that_attends_to_it_most(js):
    before, now = masses((0.83, 0.0), (0.73, 0.1)), masses((0.88, 0.0), (0.55, 0.3))
    unheld = "m.unheldWords(before, now, 1, 'block').replaceAll('\\u00a0', ' ')"
    words = "; no head holds block 2 yet; head 2 has the most attention on it, 30 %"
    assert js("story", unheld, before=before, now=now) == words
    assert js("story", unheld, before=now, now=masses((0.88, 0.0), (0.2, 0.6))) == ""
    assert "holds block 2; head 2" in js("story", unheld, before=masses((0.1, 0.8), (0.5, 0.2)), now=now), "let go"


def test_kl_and_losses_have_three_digits_where_the_last_ones_are_zeros_too(js):
    values = [1.0, 1.0004, 0.3, 0.0843, 12.0, 999.7, 1234.4, 0.00041, -0.5, 0, None]
    told = js("words", "values.map(m.threeDigits)", values=values)
    assert told == [
        "1.00",
        "1.00",
        "0.300",
        "0.0843",
        "12.0",
        "1\u202f000",
        "1\u202f234",
        "4.10e−4",
        "−0.500",
        "0",
        "–",
    ]


def reason(js, kl: list[float], met: list[int], stage: int = 2) -> str:
    """Why a seed is in a stage, where KL to rung i is kl[i] and its minimum 0.1 i."""
    run = made_js_run([100, 200], [0, 50]) | {
        "rungNames": ["uniform", "f_{1:1}", "f_{1:2}", "f_{1:3}"],
        "rungs": 3,
        "progress": {"word": "loss"},
        "minima": [{"lowest": [0, 0.1, 0.2, 0.3], "met": met}],
    }
    here = "({ ...run, arrays: { kl_rungs: { at: (seed, at, rung) => kl[rung] } } })"
    return js("narration", f"m.stageReason({here}, 0, 1, {{ rung: stage }})", run=run, kl=kl, stage=stage, met=met)


def test_why_the_stage_is_not_that_of_the_nearest_rung(js):
    """By the minima, because the next stage does not last, or because the model makes no turn towards its rung."""
    rule = "a stage goes by how far each KL is above its own minimum, not by which is lowest"
    assert reason(js, [5, 2, 0.45, 0.6], [0, 1, 2, 3]) == rule
    short = "a stage counts only if it lasts for two evaluations and until the step has grown by a tenth"
    assert (
        reason(js, [5, 2, 0.45, 0.31], [0, 1, 2, 3]) == f"KL to the truth is already nearer to its minimum, but {short}"
    )
    assert reason(js, [5, 0.11, 0.45, 0.4], [0, 1, 2]).startswith("KL to rung 1 is nearer to its minimum, but a stage")
    turn = "KL to the truth is already nearer to its minimum, but the model makes no turn towards it in this run"
    assert reason(js, [5, 2, 0.45, 0.31], [0, 1, 2]).startswith(turn)
    assert reason(js, [5, 2, 0.45, 0.31], [0, 1, 2, 3], stage=1) == rule, "numbers of another stage's evaluation"


def test_tables_quote_what_would_break_them_and_leave_out_what_is_not_there(js):
    rows = [["a, b", 'say "x"', "two\nlines"], [None, float("nan"), -0.5]]
    assert js("saving", "m.csvText(rows)", rows=rows) == '"a, b","say ""x""","two\nlines"\r\n,,-0.5\r\n'


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (["minimal, as-run", "seed", 3], "minimal-as-run-seed-3"),
        (["../../etc/passwd"], "etc-passwd"),
        (["u=0.001", "<b>"], "u-0.001-b"),
        (["…"], "headway"),
    ],
)
def test_file_names_hold_only_what_every_disk_takes(js, parts, name):
    assert js("saving", "m.fileName(...parts)", parts=parts) == name


def test_what_python_packs_javascript_unpacks(js):
    curves = np.array([[0.1, -2.5], [3e-30, 7.0]], np.float32)
    assert js("data", "[...m.unpack(packed).values]", packed=pack_curves(curves)) == curves.ravel().tolist()
    packed = pack_levels(np.array([0.0, np.nan, 0.3, 0.5], np.float32))
    read = js("data", "[...m.unpack(packed).values].map((each) => Number.isNaN(each) ? null : each)", packed=packed)
    assert read[1] is None
    np.testing.assert_allclose([read[0], *read[2:]], unpack(packed)[[0, 2, 3]], rtol=1e-6)
    text = base64.b64encode(bytes(range(256))).decode()
    old = "(() => { const own = Uint8Array.fromBase64; Uint8Array.fromBase64 = undefined; "
    old += "try { return [...m.bytesOf(text)]; } finally { Uint8Array.fromBase64 = own; } })()"
    assert js("data", old, text=text) == list(range(256))  # a browser that does not know fromBase64


def test_a_grid_is_unpacked_when_it_is_asked_for_and_only_once(js):
    """The second array cannot be unpacked at all, which nobody hears of as long as nobody asks for it."""
    damaged = {"type": "float32", "shape": [1], "data": "%"}
    arrays = {"excess_loss": pack_curves(np.ones((1, 1), np.float32)), "attention_by_lag": damaged}
    run = {"arrays": arrays, "facts": {}, "clocks": {"evaluation": [0]}, "portraits": [], "seeds": [0]}
    text = json.dumps({"runs": [{**run, "task": {"blocks": [[1]]}}]})
    same = "(({arrays}) => arrays.excess_loss === arrays.excess_loss)(m.readReport(text).runs[0])"
    assert js("data", same, text=text) is True


def test_eight_heads_have_eight_kinds_of_dashes(js):
    assert js("pictures", "new Set(m.STROKES).size") >= 8


def test_numbers_are_said_as_a_person_would(js):
    said = js("words", "values.map(m.number)", values=[0.12345, 1234567, 2, None, -3e-5])
    assert said == ["0.123", "1.2e6", "2", "–", "−3.0e−5"]
    assert js("words", "m.lagWords([1, 2, 7])") == "lags 1–2 and 7"


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.812, "81\u00a0%"),
        (0.504, "50.4\u00a0%"),
        (0.50001, "more than 50\u00a0%"),
        (0.5, "50\u00a0%"),
        (0.4999, "50\u00a0%"),
    ],
)
def test_a_share_is_printed_on_its_own_side_of_more_than_half(js, share, words):
    """A head holds a block with more than half of its attention: 50 % is not more than half."""
    assert js("words", f"m.percentBeside(0.5, {share})") == words
    assert js("narration", f"m.heldPercent({share})") == words


def test_on_a_logarithmic_axis_step_zero_stands_left_of_the_first_one(js):
    axis = "((axis) => [axis.place(0), axis.place(5), axis.range])(m.timeAxis(steps, true, false))"
    zero, five, (low, high) = js("curves", axis, steps=[0, 5, 100])
    assert 0 < zero < 5 == five
    assert (10**low, 10**high) == pytest.approx((zero, 100))


SETTLED = """m.leadSentence({seeds: curves.map((_, k) => k), rungs: 1, rungNames: ["the start", "plateau 1"],
    silence: 0.5,
    stages: starts.map((start) => start && {rungs: [1], boundaries: [], levels: [0.03], start}), intervals: [],
    evaluation: [0, 50, 100, 150], divergedAt: curves.map(() => -1), stages_from: "loss",
    clock: {word: "step", whole: true}, progress: {array: "loss", word: "half the squared error", unit: ""},
    arrays: {loss: {at: (seed, time) => curves[seed][time]}}})"""


def test_a_random_start_settles_before_the_drop_that_is_told(js):
    curves = [[50.0, 0.6, 0.55, 0.03], [54.0, 0.7, 0.5, 0.05], [40.0, 0.6, 0.6, 0.04]]
    words = js("lead", SETTLED, curves=curves, starts=[120, 130, 125])
    assert words == (
        "In all 3 seeds the loss (half the squared error) falls from 50.0 to 0.600 within the first 50 steps, stays "
        "near 0.5, the loss of a model that has learnt nothing, and then falls in one drop, half done at step 125, to "
        "0.0400."
    )
    still = js("lead", SETTLED, curves=curves, starts=[None, None, 125])
    assert "and then falls without coming to a plateau, to 0.0400." in still
    low = js("lead", SETTLED, curves=[[0.6, 0.5, 0.5, 0.03]], starts=[120])
    assert low == "The loss (half the squared error) falls in one drop, half done at step 120, from 0.600 to 0.0300."


def test_values_open_on_a_logarithmic_axis_where_the_start_would_flatten_the_rest(js):
    run = SETTLED.replace("leadSentence(", "logarithmicValues([").replace(
        "curves[seed][time]}}})", "curves[seed][time]}}}], {logValue})"
    )
    wide, narrow = [[50.0, 0.6, 0.55, 0.03]], [[1.2, 0.6, 0.55, 0.3]]
    asked = [js("settling", run, curves=curves, starts=[120], logValue=None) for curves in (wide, narrow)]
    chosen = [js("settling", run, curves=wide, starts=[120], logValue=value) for value in (True, False)]
    assert asked == [True, False] and chosen == [True, False]
