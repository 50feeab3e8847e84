"""Figure 5: the marks are the numbers, the dashed line stands at the best step, fresh data lies behind a break."""

import dataclasses

import numpy as np
import pytest
from tests.report.figures.drawn import labelled, upright

from headway.report.figures import figure_sizes, reference_names, rung_names
from headway.report.figures.sizes import rungs_met
from headway.tasks.run import Settings


def sized(staircase, **training) -> Settings:
    return staircase.settings.changed(training=training)


@pytest.fixture(scope="module")
def runs(staircase):
    """Loss ten times as high with a hundredth of the data; with 100 sequences it rises again after step 20."""
    low = staircase.run()["excess_loss"] + 0.1
    little = 10 * low
    little[:, 5:] += np.array([[100.0], [100.0], [-100.0]])  # the last seed is best later
    without = {
        name: values for name, values in staircase.run(excess_loss=low).arrays.items() if name != "kl_references"
    }
    plain = dataclasses.replace(staircase.run(), arrays=without)
    references = sized(staircase, samples=100).changed(task={"references": (2, 3, 5)})
    return {
        "fresh": (sized(staircase, data="fresh"), plain),
        "10000": (sized(staircase, samples=10_000), plain),
        "100": (references, staircase.run(excess_loss=little)),
    }


def marks(axes) -> list[tuple[np.ndarray, np.ndarray]]:
    """What was drawn as median lines."""
    return [line.get_data() for line in axes.get_lines() if line.get_linewidth() == 1.3 and len(line.get_xdata())]


def test_the_lowest_losses_stand_in_the_order_of_the_sizes_with_fresh_data_behind_a_break(runs):
    above, below = figure_sizes(runs, ()).axes
    (fresh_place, fresh), (places, medians) = marks(above)
    lowest = {name: np.median(trajectory["excess_loss"].min(axis=1)) for name, (_, trajectory) in runs.items()}
    np.testing.assert_array_equal(places, [100, 10_000])
    np.testing.assert_allclose(medians, [lowest["100"], lowest["10000"]], rtol=1e-6)
    np.testing.assert_allclose(fresh, lowest["fresh"], rtol=1e-6)
    assert 20_000 <= fresh_place[0] < below.get_xlim()[1]
    assert [text.get_text() for text in below.get_xticklabels()] == ["100", "10000", "fresh"]
    assert above.get_xscale() == below.get_xscale() == "log"
    dots = [line for line in above.get_lines() if line.get_markersize() == 2.2]
    assert sum(len(line.get_xdata()) for line in dots) == 3 * 3


def test_the_number_of_rungs_met_stands_below(runs):
    _, below = figure_sizes(runs, ()).axes
    (_, fresh), (_, medians) = marks(below)
    np.testing.assert_array_equal(
        [*fresh, *medians], [np.median(rungs_met(runs[name][1])) for name in ("fresh", "100", "10000")]
    )
    assert list(below.get_yticks()) == [0, 1, 2, 3]


def test_each_shown_size_says_what_its_curves_are_distances_to(runs):
    panels = figure_sizes(runs, ("100", "10000", "fresh")).axes[2:]
    assert [axes.get_title() for axes in panels] == ["100 sequences", "10000 sequences", "fresh sequences"]
    assert [axes.get_ylabel() for axes in panels] == ["KL to n-gram models", "KL to the rungs", "KL to the rungs"]
    for axes, names in zip(panels, (reference_names((2, 3, 5)), rung_names(3), rung_names(3)), strict=True):
        assert list(labelled(axes)) == list(names)


def test_the_dashed_line_stands_at_the_median_of_the_best_steps_and_the_shade_covers_the_seeds(runs):
    axes = figure_sizes(runs, ("100",)).axes[2]
    (shade,) = axes.patches
    assert upright(axes) == [20]
    assert (shade.get_x(), shade.get_x() + shade.get_width()) == (20, 200)


def test_a_seed_without_a_number_met_no_known_number_of_rungs(odd_runs):
    assert np.isnan(rungs_met(odd_runs["nothing is a number"][1])).all()
    assert np.isfinite(rungs_met(odd_runs["a seed diverged"][1])).all()


def test_odd_runs_can_be_sized(odd_runs):
    by_size = {
        name: (settings.changed(training={"samples": 100 * 2**place}), trajectory)
        for place, (name, (settings, trajectory)) in enumerate(odd_runs.items())
    }
    figure_sizes(by_size, list(by_size)[-4:]).draw_without_rendering()
    lost = {name: by_size[name] for name in ("nothing is a number", "diverged at once")}
    figure_sizes(lost, list(lost)).draw_without_rendering()
