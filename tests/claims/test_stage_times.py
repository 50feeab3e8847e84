"""T1 to T5: made stage times that follow the laws, and some that break one of them."""

import dataclasses

import numpy as np
import pytest
from tests.report.made_stage_times import made_runs

from headway.experiments.stage_times import T1, T2, T3, T4, T5


def judged(claim, runs):
    """Runs are told apart by their settings."""
    return claim.held_against({str(number): run for number, run in enumerate(runs)})


def verdicts(runs, change=None, seed=1):
    """Name of each claim -> holds, seed by seed; `change` alters the facts of one seed in every run."""
    changed = []
    for settings, trajectory in runs:
        facts = {name: np.array(values) for name, values in trajectory.facts.items()}
        if change is not None:
            change(settings, {name: values[seed : seed + 1] for name, values in facts.items()})
        changed.append((settings, dataclasses.replace(trajectory, facts=facts)))
    return {claim.name: judged(claim, changed).holds for claim in (T1, T2, T3, T4, T5)}


@pytest.mark.parametrize("projections", [1, 2])
def test_times_that_follow_the_laws_show_all_of_them(projections):
    assert verdicts(made_runs(projections)) == dict.fromkeys(("T1", "T2", "T3", "T4", "T5"), (True, True, True))


def longer_with_length(settings, facts):
    facts["boundaries"][:, 0] *= (settings.length / 40) ** 0.11
    facts["first_stage"] *= (settings.length / 40) ** 0.11


def first_late(settings, facts):
    facts["boundaries"][:, 0] *= 1.16


def grows_less(settings, facts):
    facts["growth"] *= 0.94


def logarithmic(settings, facts):
    facts["boundaries"][:, 1] = facts["boundaries"][:, 0] - np.log(settings.noise)


def more_than_a_power(settings, facts):
    facts["boundaries"][:, 1] = facts["boundaries"][:, 0] + np.exp(0.01 * np.log(settings.noise) ** 2)


def too_late(settings, facts):
    if settings.ratio == 2.5:
        facts["foretold"] /= 2.2


def never(settings, facts):
    if settings.noise < 1e-12:
        facts["boundaries"][:, 1:] = np.inf
        facts["growth"][:] = np.nan


@pytest.mark.parametrize(
    "change, broken",
    [
        (longer_with_length, {"T1"}),
        (first_late, {"T2"}),
        (grows_less, {"T3"}),
        (logarithmic, {"T4", "T5"}),
        (more_than_a_power, {"T4", "T5"}),
        (too_late, {"T5"}),
        (never, {"T3", "T4", "T5"}),
    ],
)
def test_a_seed_that_breaks_a_law_does_not_show_it_and_the_others_do(change, broken):
    found = verdicts(made_runs(1), change)
    assert {name for name, holds in found.items() if not holds[1]} == broken
    assert all(holds[0] and holds[2] for holds in found.values())


def test_stages_that_never_end_are_counted():
    runs = made_runs(1)
    runs[-1][1].facts["boundaries"][0, 1:] = np.inf
    found = judged(T5, runs)
    assert found.holds == (False, True, True)
    assert f"2 of {9 * len(runs)} boundaries were not reached" in found.detail


def test_two_values_are_no_law():
    base, *others = made_runs(1)
    one = [run for run in others if run[0].length == 160]
    assert judged(T1, [base, *one]).verdict == "not run"
    assert judged(T3, [base, *one]).verdict == "not run"
