"""R1 and R2: what counts as training that follows the flow, and what does not."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.claims.made import OFTEN, climbing, made_run, made_settings
from tests.claims.made_flows import ADAMW, BOUNDARIES, FLOW, GD, SGD, made_theory

from headway.claims.theory_over_training import flow_predicts_training, one_factor_maps, relative_boundaries
from headway.experiments.overlay import R2, STRETCH
from headway.experiments.regression import CLOSE, NEAR, R1

follows = partial(flow_predicts_training, R1, close=CLOSE, near=NEAR)
maps = partial(one_factor_maps, R2, within=STRETCH)
NOISY = SGD.changed(training={"batch": 4})
COARSE = GD.changed(training={"learning_rate": 0.4})


def scaled(factor: float) -> tuple[float, ...]:
    return tuple(factor * boundary for boundary in BOUNDARIES)


def predicted(gd=None, sgd=None, adamw=None, flow=None):
    """R1 of runs that follow the flow but for what is given."""
    runs = (gd or made_theory(GD), sgd or made_theory(SGD), adamw or made_theory(ADAMW, scaled(3)))
    # Runs that do not follow at all, with larger steps and smaller batches, do not decide.
    beyond = made_theory(COARSE, scaled(4)), made_theory(NOISY, scaled(0.1), heads=(2, 1, 0))
    return follows(flow or made_theory(FLOW), *beyond, *runs)


def test_training_at_the_flows_times_with_its_heads_is_predicted():
    found = predicted(gd=made_theory(GD, scaled(1.015)), sgd=made_theory(SGD, scaled(0.92)))
    assert found.verdict == "holds"
    assert found.values == pytest.approx([0.015, 0.015])
    assert "GD 0.4 by 300 % (0 of 2 seeds within 2%, 2 with the same heads)" in found.detail
    assert "SGD batch 4 by 90 % (0 of 2 seeds within 10%, 0 with the same heads)" in found.detail
    assert "AdamW's boundaries are at steps 30, 120 and 480" in found.detail


@pytest.mark.parametrize(
    "changes, lost",
    [
        ({"gd": made_theory(GD, (10, 40, 164))}, {"GD 0.01 within 2%"}),
        ({"gd": made_theory(GD, (9.7, 40, 160))}, {"GD 0.01 within 2%"}),
        ({"gd": made_theory(GD, (10, 40, np.inf))}, {"GD 0.01 within 2%", "GD 0.01: same heads"}),
        ({"gd": made_theory(GD, heads=(0, 2, 1))}, {"GD 0.01: same heads"}),
        ({"sgd": made_theory(SGD, (10, 45, 160))}, {"SGD batch 256 within 10%"}),
        ({"adamw": made_theory(ADAMW, order=(0, 2, 1))}, {"AdamW in order"}),
        ({"adamw": made_theory(ADAMW, (10, 40, np.inf))}, {"AdamW in order"}),
        (
            {"flow": made_theory(replace(FLOW, projections=1), scaled(0.5))},
            {"GD 0.01 within 2%", "SGD batch 256 within 10%"},
        ),
    ],
    ids=["late", "early", "never", "other heads", "SGD late", "AdamW out of order", "AdamW never", "another flow"],
)
def test_anything_else_is_not(changes, lost):
    found = predicted(**changes)
    assert found.verdict == "fails"
    assert {part for part, seeds in found.parts.items() if seeds == 0} == lost
    assert {seeds for part, seeds in found.parts.items() if part not in lost} == {2}


def test_a_flow_that_never_gets_there_predicts_nothing():
    never = (10, 40, np.inf)
    found = predicted(gd=made_theory(GD, never), sgd=made_theory(SGD, never), flow=made_theory(FLOW, never))
    assert found.verdict == "fails" and np.isnan(found.values).all()


def test_a_seed_that_diverged_is_not_predicted():
    found = predicted(gd=made_theory(GD, diverged={1: 7}))
    assert found.holds == (True, False) and "1 of 2 seeds diverged" in found.detail


@pytest.mark.parametrize("change", [{"ratio": 1.5}, {"length": 11}, {"noise": 1e-4}, {"heads": 4}])
def test_runs_from_other_starts_are_not_compared(change):
    found = predicted(gd=made_theory(GD.changed(task=change)))
    assert found.verdict == "not run" and "same initial values" in found.detail


def test_without_an_optimiser_there_is_no_verdict():
    assert follows(made_theory(FLOW), made_theory(GD), made_theory(SGD)).verdict == "not run"


def test_steps_of_adamw_are_laid_on_the_flows_first_boundary():
    flow = made_theory(FLOW)
    np.testing.assert_allclose(relative_boundaries(made_theory(ADAMW, (300, 600, 9600)), flow)[0], [1, 0.5, 2])
    np.testing.assert_allclose(relative_boundaries(made_theory(SGD, (11, 40, np.inf)), flow)[0], [1.1, 1, np.nan])


def laid_over(*steps: float, flow=BOUNDARIES):
    """R2 of a transformer that goes up a rung at each of these steps, the first one included."""
    run = made_run(made_settings(), times=OFTEN, kl=climbing(*steps)["kl"])
    return maps(run, made_theory(FLOW, flow, seeds=(0,)))


def test_boundaries_in_the_flows_proportions_need_one_factor_only():
    """The flow's second and third are 1 to 4: steps 150 and 600 are, too, whatever the first stage did."""
    found = laid_over(7, 150, 600)
    assert found.verdict == "holds"
    assert found.values == pytest.approx([1.0], rel=0.1)


@pytest.mark.parametrize("last", [300, 1200])
def test_boundaries_in_other_proportions_need_more(last):
    found = laid_over(30, 150, last)
    assert found.verdict == "fails"
    assert found.values == pytest.approx([last / 600], rel=0.15)
    assert found.parts == {"within a factor 1.25": 0, "within the range of the flow's seeds": 0}


def test_a_transformer_or_a_flow_that_stops_early_is_not_mapped():
    for found in (laid_over(30, 150), laid_over(30, 150, 600, flow=(10, 40, np.inf))):
        assert found.verdict == "cannot be judged" and np.isnan(found.values).all()
        assert "never reaches the last stage" in found.detail


def test_two_blocks_or_another_number_of_features_leave_nothing_to_predict():
    flow = made_theory(FLOW, seeds=(0,))
    two = made_run(made_settings(blocks=((1, 2), (3, 4))), times=OFTEN, kl=climbing(30, 150, rungs=2)["kl"])
    four = made_run(
        made_settings(blocks=((1,), (2,), (3,), (4,))), times=OFTEN, kl=climbing(9, 30, 150, 600, rungs=4)["kl"]
    )
    assert "three blocks" in maps(two, flow).detail
    assert "4 blocks" in maps(four, flow).detail
