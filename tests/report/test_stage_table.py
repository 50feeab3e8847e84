"""The table of stages: every number that only some seeds have says how many."""

import numpy as np
from tests.claims.made import TIMES, bottoming_at, made_settings, made_trajectory

from headway.analysis import Stages
from headway.report.document.tables import NamedRun, stage_table, stages_in_words

IN_ORDER, STAYS = bottoming_at(10, 60, 300), bottoming_at(*[TIMES[-1]] * 3)


def cells(*kl, stopped: int | None = None) -> list[str]:
    """Of a table's row; `stopped`: the last seed has no numbers from this evaluation on."""
    loss = np.array([np.linspace(1, 0, len(TIMES))] * len(kl))
    trajectory = made_trajectory(kl=kl, loss=loss)
    if stopped is not None:
        for name in ("kl_rungs", "excess_loss"):
            trajectory.arrays[name][-1, stopped:] = np.nan
    table = stage_table([NamedRun("stages", "as-run", "minimal", made_settings(), trajectory)])
    return [cell.strip() for cell in table.splitlines()[-1].strip("|").split("|")]


def test_seeds_that_pass_the_rungs_in_another_order_are_counted():
    assert cells(IN_ORDER, IN_ORDER)[3] == "3"
    assert stages_in_words([Stages((1,)), Stages((2, 1)), Stages((1, 2))]) == "1 to 2 (1 of 3 not in order)"


def test_a_loss_that_some_seeds_do_not_have_is_followed_by_their_number():
    assert "of" not in cells(IN_ORDER, IN_ORDER)[-3]
    assert cells(IN_ORDER, STAYS)[-3].count("(1 of 2)") == 3


def test_a_seed_that_stopped_counts_as_long_as_it_was_trained():
    last = cells(IN_ORDER, IN_ORDER, stopped=len(TIMES) - 1)
    assert not any("(1 of 2)" in cell for cell in last[-4:]), last
    assert last[-3] == cells(IN_ORDER, IN_ORDER)[-3], "the excess loss at the rungs"
