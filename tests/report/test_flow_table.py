"""What the document says of a gradient flow."""

import dataclasses

import numpy as np
from tests.report.made_flow import SETTINGS, made_flow

from headway.report.document.tables import NamedRun, flow_table


def rows(*runs: NamedRun) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in flow_table(runs).splitlines()]


def named(trajectory, settings=SETTINGS) -> NamedRun:
    return NamedRun("flow", "printed", "flow", settings, trajectory)


def test_a_flow_has_its_boundaries_with_intervals_and_how_they_compare():
    headings, _, row = rows(named(made_flow(seeds=(0, 2, 4))))
    told = dict(zip(headings, row, strict=True))
    assert (told["grid"], told["Π(s)"], told["seeds"]) == ("printed", "twice", "3")
    assert told["boundary 2"].startswith("33 [30, 3")
    assert told["3 / 2"].startswith("3 [3, 3]")
    assert told["loss at the start"] == "6.12"


def test_a_stage_that_not_every_seed_ends_says_so_and_one_that_none_ends_has_no_time():
    made = made_flow(seeds=(0, 1))
    ends = np.array([[10, 30, np.inf], [10, np.inf, np.inf]])
    headings, _, row = rows(named(dataclasses.replace(made, facts={"boundaries": ends})))
    told = dict(zip(headings, row, strict=True))
    assert told["boundary 2"] == "30 (1 of 2)" and told["boundary 3"] == "-" and told["3 / 2"] == "-"


def test_flows_of_fewer_features_leave_cells_empty():
    settings = dataclasses.replace(SETTINGS, features=2)
    headings, _, _, row = rows(named(made_flow()), named(made_flow(settings), settings))
    assert dict(zip(headings, row, strict=True))["boundary 3"] == "-"
