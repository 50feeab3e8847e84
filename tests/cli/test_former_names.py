"""Experiments and runs that got another name are still found by the old one."""

from headway.experiments import NAMES, find
from headway.experiments.former_names import EXPERIMENTS, FORMERLY


def test_every_former_name_of_an_experiment_leads_to_one_and_is_that_of_no_other():
    assert set(EXPERIMENTS.values()) <= set(NAMES)
    assert not EXPERIMENTS.keys() & set(NAMES)


def test_every_former_name_leads_to_a_run_and_is_that_of_no_other():
    for name, former in FORMERLY.items():
        runs = {run for grid in find(name).grids.values() for run in grid}
        assert set(former.values()) <= runs, name
        assert not former.keys() & runs, name


def test_a_command_with_a_former_name_computes_that_run(dry):
    cells = dry("run", "two-blocks", "--grid", "as-run", "--only", "full, two")
    assert [cell.settings for cell in cells] == [find("two-layers").grids["as-run"]["full, two layers"]]
