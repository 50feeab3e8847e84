"""Chains of 2, 4 and 5 blocks, predicted from records of 3: trained on a CPU, they lie in the interval."""

from pathlib import Path

import numpy as np
import pytest
from tests.analysis.ladders_of_blocks import ladder_of

from headway.analysis.seed_stages import boundary_table
from headway.analysis.stages import stages_from_ladder
from headway.claims.claim import AnyRun
from headway.forecast.answer import Forecast
from headway.forecast.ask import runs_of
from headway.forecast.chain_cells import chained
from headway.forecast.from_chain import BY_BLOCKS, NORMAL, from_chain
from headway.forecast.held_out import held_out
from headway.forecast.question import Question

ROOT = Path(__file__).parents[2]
RESULTS, TRAINED = ROOT / "results", ROOT / "tests" / "data" / "blocks"
BLOCKS = ((1, 2), (3, 4), (5, 6), (7, 8), (9, 10))
LADDERS = {"two": (2, 1.7), "four, 1500 steps": (4, 1.5), "five": (5, 1.5)}
"""Run -> blocks and ratio."""


@pytest.fixture(scope="module")
def runs() -> list[AnyRun]:
    """What is committed, read once for all questions."""
    return runs_of("minimal", [RESULTS])


def ask(question: Question, runs: list[AnyRun]) -> Forecast:
    return from_chain(question, runs, ("results",))


def predicted_and_measured(runs: list[AnyRun]) -> list[tuple[Forecast, float, int, int]]:
    """Forecast, steps, blocks and boundary of every seed of the ladders, which chose how wide the interval is."""
    found = []
    for run, (blocks, ratio) in LADDERS.items():
        times, kl = ladder_of(run)
        for boundary in range(1, blocks):
            question = Question("minimal", ratio=ratio, blocks=BLOCKS[:blocks], boundary=boundary)
            told = ask(question, runs)
            for each in kl:
                found.append((told, stages_from_ladder(times, each).boundaries[boundary - 1], blocks, boundary))
    return found


def test_runs_of_other_numbers_of_blocks_lie_in_the_interval_and_it_is_as_wide_as_they_ask_for(runs):
    """Boundaries that the records of 3 blocks have choose its width; the others, which continue them, are inside."""
    pairs = predicted_and_measured(runs)
    assert len(pairs) == 2 + 4 * 3 + 2 * 4 and all(told.low <= steps <= told.high for told, steps, *_ in pairs)
    missed: dict[tuple[int, int], list[float]] = {}
    for told, steps, blocks, boundary in pairs:
        if boundary < 3:
            away = np.log(steps / told.steps) / np.log(blocks / 3)
            missed.setdefault((blocks, boundary), []).append(float(away))
    each = [np.mean(values) for values in missed.values()]
    assert np.sqrt(np.mean(np.square(each))) == pytest.approx(BY_BLOCKS, abs=0.1)


def test_the_interval_widens_with_the_number_of_blocks_that_no_record_has(runs):
    told = [ask(Question("minimal", ratio=1.3, blocks=BLOCKS[:h]), runs) for h in (3, 4, 5)]
    halves = [np.log(each.high / each.low) / 2 for each in told]
    assert halves[0] < halves[1] < halves[2]
    assert halves[2] > NORMAL * BY_BLOCKS * np.log(5 / 3)


def test_later_runs_of_other_numbers_of_blocks_are_held_out(runs):
    """Trained with other ratios than the ladders: all of their boundaries 1 and 2 lie inside."""
    trained = runs_of("minimal", [TRAINED])
    counts = {chained(settings).blocks for settings, _ in trained}
    assert counts == {2, 4, 5}
    rows = held_out("minimal", [*runs, *trained])
    other = {row.what: row for row in rows if row.held == "blocks other than 3"}
    assert set(other) == {"boundary 1", "boundary 2"}
    assert all(row.inside == row.of for row in other.values())


def test_a_boundary_that_continues_the_ladder_is_held_against_runs_that_reach_it(runs):
    """Boundary 3, of which results has none: every seed of 4 and 5 blocks that reaches it lies inside."""
    reached = 0
    for settings, trajectory in runs_of("minimal", [TRAINED]):
        if len(settings.task.blocks) > 3:
            question = Question("minimal", ratio=settings.task.ratio, blocks=settings.task.blocks, boundary=3)
            told, steps = ask(question, runs), boundary_table(trajectory)[:, 2]
            steps = steps[np.isfinite(steps)]
            reached += len(steps)
            assert np.all((told.low <= steps) & (steps <= told.high))
    assert reached >= 2
