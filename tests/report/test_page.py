"""What goes into a page comes out of it, and nothing in a text can leave its place."""

import base64
import io
import json
import re
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from PIL import Image
from tests.report.embedded import embedded
from tests.report.made_run import made_figures, made_png, made_report, made_trajectory, made_view

from headway.report.page import FigureGroup, Report, RunView, SeedStages, write_page
from headway.report.page.packing import pack_curves, pack_levels, plain_json, unpack
from headway.report.page.payload import pack_figure, payload
from headway.report.page.picture_payload import MOST_PICTURES, kept_times
from headway.report.page.write import MODULES, chart_library, in_ascii, joined_modules, page
from headway.report.page.write import embedded as packing

HOSTILE = "</script><script>alert(1)</script><!-- & {{data}} \u2028 é"


def test_curves_keep_every_bit():
    values = np.array([[0.1, -np.inf, np.nan], [1e-38, 3.4e38, 0]], np.float32)
    np.testing.assert_array_equal(unpack(pack_curves(values)), values)


def test_attention_is_kept_to_within_half_a_step():
    values = np.random.default_rng(0).random((2, 3, 4, 5)).astype(np.float32)
    packed = pack_levels(values)
    assert np.abs(unpack(packed) - values).max() <= packed["step"] / 2 * (1 + 1e-6)
    assert packed["step"] == pytest.approx(values.max() / 254)


def test_a_missing_weight_is_not_taken_for_a_zero():
    values = np.array([0.0, np.nan, 0.5, np.inf], np.float32)
    np.testing.assert_allclose(unpack(pack_levels(values)), [0, np.nan, 0.5, np.nan])


def test_a_run_with_very_many_pictures_keeps_evenly_spaced_ones():
    assert kept_times(40, size=MOST_PICTURES).tolist() == list(range(40))
    kept = kept_times(40, size=4 * MOST_PICTURES)
    assert kept[0] == 0 and kept[-1] == 39 and len(kept) == 10
    assert set(np.diff(kept)) <= {4, 5}
    assert kept_times(1, size=4 * MOST_PICTURES).tolist() == [0]


@pytest.mark.parametrize("values", [np.zeros((2, 2)), np.full((2, 2), np.nan)])
def test_attention_without_any_weight_survives(values):
    np.testing.assert_array_equal(unpack(pack_levels(values)), values)


def test_numbers_that_json_does_not_know_become_null():
    value = {
        "a": float("nan"),
        "b": [np.float32("inf"), np.int64(3)],
        "c": np.array([1.5, np.nan]),
        "d": {1},
    }
    assert plain_json(value) == {"a": None, "b": [None, 3], "c": [1.5, None], "d": "{1}"}


def test_the_page_holds_the_run_it_was_given():
    view = made_view()
    run = embedded(page(made_report(runs=(view,))))["runs"][0]
    np.testing.assert_array_equal(unpack(run["arrays"]["kl_rungs"]), view.trajectory["kl_rungs"])
    np.testing.assert_array_equal(unpack(run["facts"]["rung_excess"]), view.trajectory.facts["rung_excess"])
    shown = unpack(run["arrays"]["attention"])
    assert np.abs(shown - view.trajectory["attention"]).max() <= run["arrays"]["attention"]["step"] / 2 * 1.001
    assert run["clocks"]["snapshot"] == view.trajectory.clocks["snapshot"].tolist()
    assert [stages["boundaries"] for stages in run["stages"]] == [list(s.boundaries) for s in view.stages]


def test_the_strengths_in_the_drawing_are_those_of_the_chain():
    task = payload(made_report())["runs"][0]["task"]
    assert task["strengths"] == pytest.approx([10 * 1.7**2, 10 * 1.7, 10])


def test_stages_are_listed_by_seed_even_if_given_in_another_order_or_not_at_all():
    view = made_view()
    partial = replace(view, stages=(view.stages[2], view.stages[0]))
    listed = payload(made_report(runs=(partial,)))["runs"][0]["stages"]
    assert [stages and stages["seed"] for stages in listed] == [0, None, 2, None]


def test_hostile_texts_stay_texts():
    report = made_report(
        HOSTILE, introduction=HOSTILE, runs=(replace(made_view(), label=HOSTILE),), commands=(HOSTILE,)
    )
    text = page(report)
    assert embedded(text)["runs"][0]["label"] == HOSTILE
    assert "<script>alert" not in text
    assert text.count("</script") == 4  # the data, the figures, our modules, the chart library


def test_the_data_is_small_and_the_same_numbers_are_the_same_text():
    """Neighbours on a curve share their first bytes, which are kept together: less than half of base64's 4/3."""
    curve = np.exp(-np.linspace(0, 5, 4000)) + 1e-3 * np.random.default_rng(0).random(4000)
    packed = {"arrays": [pack_curves(curve.astype(np.float32))] * 8}
    assert packing(packed) == packing(packed)
    assert len(packing({"arrays": [pack_curves(curve)]})) < 0.9 * 4 / 3 * 4 * 4000


def test_a_figure_keeps_every_pixel_in_the_smaller_of_two_files():
    shades = np.random.default_rng(0).integers(0, 9, (30, 40, 4)).astype(np.uint8)
    drawn = Image.fromarray(shades)
    content = io.BytesIO()
    drawn.save(content, "png", compress_level=0)
    packed = pack_figure(content.getvalue())
    assert (packed["type"], packed["width"], packed["height"]) == ("webp", 40, 30)
    shown = Image.open(io.BytesIO(base64.b64decode(packed["data"])))
    np.testing.assert_array_equal(np.asarray(shown.convert("RGBA")), np.asarray(drawn))
    tiny = made_png(7, 2, 2)
    assert {pack_figure(png)["type"] for png in (tiny, made_png(7))} <= {"png", "webp"}
    assert len(base64.b64decode(pack_figure(tiny)["data"])) <= len(tiny)


def test_every_module_is_in_the_page_and_none_asks_for_another_file():
    script = joined_modules()
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    assert "mountCharts(" in script and len(MODULES) == len(set(MODULES))


def test_scripts_are_ascii_and_mean_the_same():
    assert in_ascii('"é → 𝛼" /* Ü */') == r'"\u00e9 \u2192 \ud835\udefc" /* \u00dc */'
    assert page(made_report()).split("<script>", 1)[1].isascii()
    for script in (joined_modules(), chart_library()):
        assert not re.search(r"\\[^\x00-\x7f]", script)  # there the new backslash would be taken for an escaped one


def test_every_module_stands_behind_those_that_it_uses():
    folder = files("headway.report.page") / "assets"
    assert {each.name for each in folder.iterdir() if each.name.endswith(".js")} == set(MODULES)
    for place, name in enumerate(MODULES):
        used = re.findall(r'from "\./([\w.]+)"', (folder / name).read_text(encoding="utf-8"))
        assert set(used) <= set(MODULES[:place]), name


def test_a_page_with_one_run_is_small_enough_to_send(tmp_path):
    path = write_page(tmp_path / "deep" / "report.html", made_report())
    assert path.stat().st_size < 8e6


def test_a_page_without_a_run_leaves_the_chart_library_out():
    assert len(page(made_report(runs=()))) < 4e5 < len(page(made_report(runs=(), findings=()), live={}))


def test_a_page_is_replaced_whole_and_leaves_nothing_else_behind(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("an older page")
    assert write_page(path, made_report()) == path
    assert path.read_text(encoding="utf-8").endswith("</html>\n")
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_page_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("an older page")
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_page(path, made_report())
    assert path.read_text() == "an older page"
    assert list(tmp_path.iterdir()) == [path]


def test_stages_that_do_not_fit_their_boundaries_are_refused():
    with pytest.raises(ValueError, match="3 boundaries for 3 stages, which have 2 between them"):
        SeedStages(seed=0, rungs=(1, 2, 3), boundaries=(1.0, 65.0, 450.0))
    with pytest.raises(ValueError, match="1 levels for 2 stages"):
        SeedStages(seed=0, rungs=(1, 2), boundaries=(65.0,), levels=(0.9,))


def test_stages_of_another_run_are_refused():
    view = made_view()
    with pytest.raises(ValueError, match=r"stages were given for the seeds \[9\]"):
        RunView("run", view.settings, made_trajectory(view.settings), stages=(SeedStages(9, (1,), ()),))


def test_an_empty_report_is_a_page_too():
    assert embedded(page(Report("Nothing yet", "No run so far.")))["runs"] == []


def test_a_figure_is_in_the_page_once_pixel_for_pixel_and_with_its_size():
    (group,) = made_figures("stages", grids=("as-run",))
    text = page(made_report(runs=(), figures=(group,)))
    (packed,) = embedded(text)["figures"]
    assert [packed[name] for name in ("key", "title", "grid")] == [group.key, group.title, "as-run"]
    assert [(figure["width"], figure["height"]) for figure in packed["figures"]] == [(880, 384), (1600, 700)]
    for figure, (name, content) in zip(packed["figures"], group.figures, strict=True):
        assert figure["name"] == name
        shown, given = (Image.open(io.BytesIO(each)) for each in (base64.b64decode(figure["data"]), content))
        np.testing.assert_array_equal(np.asarray(shown.convert("RGB")), np.asarray(given.convert("RGB")))
    data = json.dumps(packed)
    assert [data.count(figure["data"]) for figure in packed["figures"]] == [1, 1]


def test_a_finding_tells_the_page_which_figures_show_it():
    grid, finding = made_report().findings[0]
    told = payload(made_report(findings=((grid, replace(finding, figures="stages-quick")),)))["findings"]
    assert told[0]["figures"] == "stages-quick"


def test_figures_that_the_page_could_not_show_or_link_to_are_refused():
    with pytest.raises(ValueError, match=r"'mass' of 'stages-quick' begins with b'%PDF-1.4', which no PNG does"):
        FigureGroup("stages-quick", "title", "quick", (("mass", b"%PDF-1.4 and more"),))
    with pytest.raises(ValueError, match="letters, digits"):
        FigureGroup("stages as run", "title", "as-run", (("mass", made_png(0)),))
    with pytest.raises(ValueError, match=r"several groups of figures \['stages-printed', 'stages-as-run'\]"):
        made_report(figures=made_figures("stages") + made_figures("stages", "ladder"))
