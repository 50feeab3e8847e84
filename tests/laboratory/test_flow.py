"""A cell of the flow: what is stored of it, and that it is the flow of matrices, too."""

from dataclasses import replace

import numpy as np
import pytest

from headway.experiments.flow import AS_RUN, PRINTED
from headway.laboratory.flow import flow, kept, problem_of
from headway.records import Cell
from headway.settings import FlowSettings
from headway.theory import State, log_times, logits, near_uniform, simulate, solve, stack

SETTINGS = FlowSettings(length=6, projections=1, first=1.0, last=60.0, points=12)
SEEDS = (3, 1)
TIMES = log_times(1.0, 200.0, 25)


@pytest.fixture(scope="module")
def found():
    return flow(Cell(SETTINGS, SEEDS))


@pytest.fixture(scope="module")
def whole():
    times = log_times(SETTINGS.first, SETTINGS.last, SETTINGS.points)
    return simulate(problem_of(SETTINGS), seeds=SEEDS, noise=SETTINGS.noise**0.5, times=times)


def test_positions_that_hold_a_feature_are_kept_and_of_the_others_the_largest(found, whole):
    np.testing.assert_array_equal(found["attention"], whole["attention"][..., :3].astype(np.float32))
    np.testing.assert_array_equal(found["attention_elsewhere"], whole["attention"][..., 3:].max(-1).astype(np.float32))
    np.testing.assert_array_equal(found["loss_parts"], whole["loss_parts"][..., :3].astype(np.float32))
    for name in ("loss", "values"):
        np.testing.assert_array_equal(found[name], whole[name].astype(np.float32))
    np.testing.assert_array_equal(found.facts["boundaries"], whole.facts["boundaries"])
    assert found.seeds == SEEDS


def test_parts_at_the_features_are_nearly_all_of_the_loss(found):
    """Elsewhere there is only what heads look at by the way."""
    rest = found["loss"] - found["loss_parts"].sum(axis=(2, 3))
    assert (rest > -1e-5).all() and (rest < 0.02 * found["loss"][:, :1]).all()


def test_where_every_position_holds_a_feature_nothing_is_elsewhere(whole):
    assert not kept(whole, SETTINGS.length)["attention_elsewhere"].any()


@pytest.mark.parametrize("settings", [PRINTED, AS_RUN], ids=["printed", "as-run"])
def test_the_flow_of_figure_10_is_that_of_its_matrices(settings):
    """d = 50, until the last stage is over: three numbers a head give what 2500 give."""
    reduced = problem_of(settings)
    matrices = problem_of(replace(settings, dimension=50))
    assert (reduced.size, matrices.size) == (3, 2500)
    few, many = (
        solve(logits, problem, stack([in_logits(near_uniform(problem, 0, noise=1e-3))]), TIMES, tolerance=1e-12)
        for problem in (reduced, matrices)
    )
    np.testing.assert_allclose(few.attention, many.attention, rtol=0, atol=1e-8)
    np.testing.assert_allclose(few.values @ matrices.features, many.values, rtol=0, atol=1e-8)
    put = np.einsum("tkj,tkj->tj", few.values[0], softmax(few.attention[0])[..., :3])
    np.testing.assert_allclose(put[-1], reduced.strengths, rtol=0.05)


def in_logits(state: State) -> State:
    return State(state.values, np.log(state.attention))


def softmax(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores)
    return raised / raised.sum(axis=-1, keepdims=True)
