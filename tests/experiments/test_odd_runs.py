"""Every experiment reads and draws runs of any shape: what a claim cannot speak about is "not run", never a crash."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.report.made_run import FOUR, made_settings, made_trajectory

from headway.experiments import NAMES, find
from headway.records import Trajectory
from headway.report.build import run_view
from headway.report.document import write_document
from headway.report.page import Report, write_page
from headway.settings import Settings

BLOCKS = ((1, 2), (3, 4), (5, 6))
Run = tuple[Settings, Trajectory]


def run(
    heads: int = 3,
    blocks: Any = BLOCKS,
    seeds: tuple[int, ...] = FOUR,
    references: tuple[int, ...] = (2, 4, 6),
    diverged: dict[int, int] | None = None,
    change: Callable[[Trajectory], Trajectory] = lambda trajectory: trajectory,
) -> Run:
    settings = made_settings(heads, blocks, references)
    return settings, change(made_trajectory(settings, seeds, diverged))


def only(clock: str, rows: list[int]) -> Callable[[Trajectory], Trajectory]:
    """The trajectory at some of the times of a clock."""

    def pick(trajectory: Trajectory) -> Trajectory:
        arrays = {
            name: values[:, rows] if trajectory.clock_of[name] == clock else values
            for name, values in trajectory.arrays.items()
        }
        clocks = {**trajectory.clocks, clock: trajectory.clocks[clock][rows]}
        return dataclasses.replace(trajectory, arrays=arrays, clocks=clocks)

    return pick


def unknown(trajectory: Trajectory) -> Trajectory:
    """Nothing that was measured is a number."""
    arrays = {name: np.full_like(values, np.nan) for name, values in trajectory.arrays.items()}
    return dataclasses.replace(trajectory, arrays=arrays)


def start_and_end(trajectory: Trajectory) -> Trajectory:
    return only("snapshot", [0, -1])(only("evaluation", [0, -1])(trajectory))


ALL = {"A1", "A1 minimal", "A2", "A3", "A4", "A4 minimal", "A5", "A6"}
ODD: dict[str, tuple[Run, set[str]]] = {
    "one head": (run(heads=1), {"A3", "A4", "A4 minimal", "A6"}),
    "one block": (run(blocks=((1, 2),), references=()), ALL - {"A5"}),
    "one lag": (run(blocks=((1,),), references=()), ALL),
    "two heads": (run(heads=2), {"A3"}),
    "four heads on overlapping blocks": (run(4, ((5, 6, 7, 8), (3, 4, 5, 6), (1, 2, 3, 4))), {"A3"}),
    "four single lags": (run(blocks=((1,), (2,), (3,), (4,)), references=()), {"A2", "A3", "A5"}),
    "one seed": (run(seeds=(7,)), set()),
    "a seed diverged": (run(diverged={1: 40}), set()),
    "every seed diverged": (run(diverged={0: 1, 1: 2, 2: 3, 3: 40}), set()),
    "nothing is a number": (run(change=unknown), set()),
    "no attention matrices": (run(change=only("snapshot", [])), set()),
    "start and end only": (run(change=start_and_end), set()),
}
each_odd_run = pytest.mark.parametrize("odd", ODD)


def results_of(experiment: str, both: Run) -> list[Run]:
    """The run stands in for all of a grid; the minimal model has no n-gram models beside it."""
    settings, trajectory = both
    arrays = {name: values for name, values in trajectory.arrays.items() if name != "kl_references"}
    minimal = dataclasses.replace(settings, references=()), dataclasses.replace(trajectory, arrays=arrays)
    return [minimal] if experiment == "stages" else [both, minimal]


def findings_of(both: Run) -> list:
    return [finding for name in NAMES for finding in find(name).read(results_of(name, both))]


@each_odd_run
def test_exactly_the_claims_that_do_not_apply_are_not_run(odd):
    both, not_run = ODD[odd]
    found = findings_of(both)
    assert {finding.claim for finding in found} == ALL
    assert {finding.claim for finding in found if finding.verdict == "not run"} == not_run
    assert all(finding.detail for finding in found if finding.verdict == "not run")


@pytest.mark.parametrize("odd", ["a seed diverged", "every seed diverged"])
def test_a_seed_that_diverged_counts_against_every_claim(odd):
    (settings, trajectory), _ = ODD[odd]
    lost = trajectory.facts["diverged_at"] >= 0
    for finding in findings_of((settings, trajectory)):
        assert not np.asarray(finding.holds)[lost].any()
        assert f"{lost.sum()} of 4 seeds diverged." in finding.detail


# Laying out a figure takes a second: only what could upset it.
@pytest.mark.parametrize(
    "odd", ["one head", "one lag", "every seed diverged", "nothing is a number", "start and end only"]
)
@pytest.mark.parametrize("experiment", NAMES)
def test_every_figure_can_be_drawn(odd, experiment):
    both, _ = ODD[odd]
    figures = find(experiment).draw(results_of(experiment, both))
    assert figures
    for figure in figures.values():
        figure.draw_without_rendering()


def test_figures_of_matrices_are_left_out_where_none_were_kept():
    whole, without = (
        {name: set(find(name).draw(results_of(name, both))) for name in NAMES}
        for both in (run(), ODD["no attention matrices"][0])
    )
    assert {name: whole[name] - without[name] for name in NAMES} == {
        "stages": {"overview", "figure-1"},
        "attention": {"figure-2", "heads"},
        "ladder": set(),
    }


@pytest.mark.parametrize("steps, panels", [(2000, 4), (600, 4), (300, 3), (60, 2), (36, 2)])
def test_figure_2_shows_a_short_run_at_its_end_and_no_step_twice(steps, panels):
    settings, trajectory = run()
    short = dataclasses.replace(settings, training=dataclasses.replace(settings.training, steps=steps))
    figure = find("attention").draw(results_of("attention", (short, trajectory)))["figure-2"]
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles[0] == "$t = 0$"
    assert len(set(titles)) == len(titles) == panels


@each_odd_run
def test_page_and_document_can_be_written(odd, tmp_path):
    (settings, trajectory), _ = ODD[odd]
    findings = [("as-run", finding) for finding in findings_of((settings, trajectory))]
    page = write_page(
        tmp_path / "page.html", Report("odd", "", (run_view(odd, settings, trajectory, {}),), tuple(findings))
    )
    assert odd in page.read_text()
    document = write_document(tmp_path / "page.md", findings, [("minimal", "as-run", settings, trajectory)], "command")
    text = document.read_text()
    assert all(f"**{claim}.**" in text for claim in ALL)
    assert "| nan" not in text and "[nan" not in text.split("## Stage boundaries")[0]
