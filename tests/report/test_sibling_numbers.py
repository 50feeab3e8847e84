"""Numbers of the other papers beside ours: read off made runs whose answers are known."""

import numpy as np
import pytest

from headway.experiments import find
from headway.records import Trajectory
from headway.report.document.sibling_numbers import NUMBERS, Published, rows, sibling_table, verdict
from headway.report.document.tables import NamedRun

TIMES = np.arange(0.0, 2001.0, 20.0)


def chain(name: str, switch: float) -> NamedRun:
    """Nearest to the uniform until step 40, to the unigram until `switch`, then to the bigram; the loss is 0.2 - t."""
    nearest = np.digitize(TIMES, [40, switch])
    kl = 1.0 - (nearest[:, None] == np.arange(3))
    loss = np.select([nearest == 0, nearest == 1], [0.3, 0.17], 0.05)
    trajectory = Trajectory(
        seeds=(0,),
        clocks={"evaluation": TIMES},
        arrays={"kl_rungs": kl[None], "loss": loss[None]},
        clock_of={"kl_rungs": "evaluation", "loss": "evaluation"},
        facts={},
    )
    return NamedRun("induction", "paper", name, find("induction").grids["paper"][name], trajectory)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda each: f"{each.experiment}: {each.run}, {each.quantity}")
def test_every_number_is_of_a_run_that_is_made(number):
    assert number.run in find(number.experiment).grids["paper"]
    assert 0 < number.rounding < 0.2 * number.number


def test_steps_are_counted_in_sequences_and_levels_where_a_rung_is_nearest():
    found = {
        (each.run, each.quantity): ours[0] for each, ours in rows([chain("2 states", 1200), chain("3 states", 1200)])
    }
    batch = 64
    assert found["2 states", "sequences until the unigram"] == 40 * batch
    assert found["2 states", "sequences until the bigram"] == 1200 * batch
    assert found["3 states", "KL at the start"] == 0.3
    assert found["3 states", "KL on the unigram's plateau"] == 0.17
    assert found["3 states", "KL at the end"] == 0.05


def test_a_number_is_inside_as_far_as_it_was_rounded():
    each = Published("induction", "2 states", "KL at the end", 0.020, 0.0005, lambda run: run)
    for ours, words in (([0.0204], "inside"), ([0.0206], "outside"), ([0.01, 0.03], "inside"), ([np.nan], "never")):
        assert verdict(each, np.array(ours)) == words


def test_seeds_that_never_got_there_are_counted():
    one, never = chain("2 states", 1200), chain("2 states", 5000)
    both = one.trajectory.arrays["kl_rungs"], never.trajectory.arrays["kl_rungs"]
    arrays = {"kl_rungs": np.concatenate(both), "loss": np.repeat(one.trajectory["loss"], 2, axis=0)}
    run = one._replace(trajectory=Trajectory((0, 1), one.trajectory.clocks, arrays, one.trajectory.clock_of, {}))
    line = next(line for line in sibling_table([run]).splitlines() if "until the bigram" in line)
    assert line.endswith("| 76800 | 76800 to 76800, 1 of 2 seeds | outside |")
    assert len(sibling_table([run._replace(grid="quick")]).splitlines()) == 2
