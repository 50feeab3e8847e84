"""Claims against settings that were varied."""

import numpy as np
from tests.report.figures.drawn import labelled

from headway.records import Finding
from headway.report.figures import figure_variation


def found(claim: str, values: list[float], holds: bool = True) -> Finding:
    seeds = tuple(range(len(values)))
    return Finding(claim, "It is so.", "if so", "how much", seeds, tuple(values), (holds,) * len(values))


def dots(axes) -> dict[float, list[float]]:
    """Place -> the seeds that are drawn there."""
    (drawn,) = [line for line in axes.get_lines() if line.get_marker() == "."]
    found: dict[float, list[float]] = {}
    for place, value in zip(*drawn.get_data(), strict=True):
        found.setdefault(float(place), []).append(float(value))
    return found


def test_a_line_through_the_medians_for_every_combination_of_the_other_settings():
    varied = [
        ({"task.ratio": ratio, "model.heads": heads}, [found("A1", [ratio, ratio * heads, 9.0])])
        for ratio in (1.0, 2.0, 4.0)
        for heads in (1, 2)
    ]
    axes, empty = figure_variation(varied).axes
    assert {name: list(line) for name, line in labelled(axes).items()} == {"heads 1": [1, 2, 4], "heads 2": [2, 4, 8]}
    assert (axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()) == ("A1", "task.ratio", "how much")
    assert not empty.axison


def test_seeds_are_dots_and_those_without_a_number_are_left_out():
    varied = [
        ({"task.ratio": 1.0}, [found("A1", [3.0, np.nan, 5.0])]),
        ({"task.ratio": 2.0}, [found("A1", [np.inf, 7.0, 7.0])]),
        ({"task.ratio": 3.0}, [found("A1", [np.nan])]),
    ]
    axes = figure_variation(varied).axes[0]
    assert dots(axes) == {1.0: [3.0, 5.0], 2.0: [7.0, 7.0]}


def test_a_median_is_filled_where_the_claim_holds():
    varied = [({"task.ratio": ratio}, [found("A1", [1.0], holds)]) for ratio, holds in ((1.0, True), (2.0, False))]
    axes = figure_variation(varied).axes[0]
    filled, hollow = [line for line in axes.get_lines() if line.get_marker() == "o"]
    assert (filled.get_markerfacecolor(), list(filled.get_xdata())) == (filled.get_color(), [1.0])
    assert (hollow.get_markerfacecolor(), list(hollow.get_xdata())) == ("white", [2.0])


def test_a_line_goes_from_left_to_right_however_the_values_were_given():
    axes = figure_variation([({"task.ratio": ratio}, [found("A1", [ratio])]) for ratio in (2.0, 1.0, 1.5)]).axes[0]
    (line,) = [line for line in axes.get_lines() if line.get_label() == "_alone"]
    assert list(line.get_xdata()) == list(line.get_ydata()) == [1.0, 1.5, 2.0]


def test_every_claim_with_a_number_has_a_panel():
    findings = [found("A1", [1.0]), found("A2", [np.nan]), found("A3", [2.0]), found("A4", [3.0])]
    axes = figure_variation([({"task.ratio": 1.0}, findings)]).axes
    assert [each.get_title(loc="left") for each in axes] == ["A1", "A3", "A4", ""]


def test_words_stand_side_by_side_and_numbers_of_many_sizes_on_a_logarithmic_axis():
    words = figure_variation([({"model.norm": norm}, [found("A1", [1.0])]) for norm in ("none", "pre", "post")]).axes[0]
    assert [label.get_text() for label in words.get_xticklabels()] == ["none", "pre", "post"]
    sizes = figure_variation([({"training.batch": size}, [found("A1", [1.0])]) for size in (1, 10, 100)]).axes[0]
    assert (sizes.get_xscale(), words.get_xscale()) == ("log", "linear")
    assert [label.get_text() for label in sizes.get_xticklabels()] == ["1", "10", "100"]


def test_very_many_values_have_round_ticks_and_a_dot_each():
    axes = figure_variation([({"task.ratio": 1 + k / 500}, [found("A1", [float(k)])]) for k in range(500)]).axes[0]
    assert len(axes.get_xticks()) < 12
    assert len(dots(axes)) == 500
