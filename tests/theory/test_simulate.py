"""What the flow does from a start near the symmetric one, in both of its forms."""

import numpy as np
import pytest

from headway.theory.flow import plateaus
from headway.theory.problem import geometric, reduced_problem
from headway.theory.simulate import halfway, simulate
from headway.theory.solve import log_times

STRENGTHS = geometric(3, 1.7)
TIMES = log_times(0.1, 3000, 120)


@pytest.fixture(scope="module", params=[2, 1], ids=["printed", "as-run"])
def problem(request):
    return reduced_problem(STRENGTHS, length=6, projections=request.param)


@pytest.fixture(scope="module")
def run(problem):
    return simulate(problem, seeds=(0, 1, 2), noise=1e-6, times=TIMES)


def test_the_record_has_the_axes_it_promises(run):
    assert run["attention"].shape == (3, 121, 3, 6)
    assert run["values"].shape == (3, 121, 3, 3)
    assert run["loss_parts"].shape == (3, 121, 3, 6)
    assert run.times("loss") is run.clocks["time"]
    assert all(values.dtype == np.float64 for values in run.arrays.values())


def test_the_loss_waits_where_unlearned_features_leave_it(run):
    """Between two boundaries the loss is flattest, on the axis of log time, at 1/2 sum_{j > i} m_j^2."""
    levels = np.asarray(plateaus(STRENGTHS))
    slope = -np.gradient(run["loss"][:, 1:], np.log(TIMES[1:]), axis=1)
    for seed, ends in enumerate(run.facts["boundaries"]):
        for i in (1, 2):
            between = np.flatnonzero((TIMES[1:] > ends[i - 1]) & (TIMES[1:] < ends[i]))
            flattest = between[slope[seed, between].argmin()]
            assert run["loss"][seed, 1 + flattest] == pytest.approx(levels[i], rel=0.02)


def test_the_loss_ends_at_nothing_and_never_rises(run):
    assert run["loss"][:, 0] == pytest.approx(np.full(3, np.asarray(plateaus(STRENGTHS))[0]), rel=1e-12)
    assert np.diff(run["loss"], axis=1).max() <= 1e-12
    assert run["loss"][:, -1].max() < 1e-3


def test_attention_stays_on_the_simplex(run):
    assert np.abs(run["attention"].sum(axis=-1) - 1).max() < 1e-14
    assert run["attention"].min() > 0


def test_parts_sum_to_the_loss(run):
    assert np.abs(run["loss_parts"].sum(axis=(2, 3)) - run["loss"]).max() < 1e-12


def test_positions_are_learned_in_order_of_strength(run):
    """The part of the loss that feature k owns at position k halves, k = 1, 2, 3 in order, at times far apart."""
    own = run["loss_parts"][:, :, range(3), range(3)]
    halved = TIMES[np.argmax(own < own[:, :1] / 2, axis=1)]
    assert np.all(halved[:, 1:] > 1.5 * halved[:, :-1])


def test_a_head_offsets_what_the_leftover_attention_of_another_would_add(run):
    """The head on position 1 carries minus feature 3, because the head that learned feature 3 still looks at 1."""
    for attention, values in zip(run["attention"][:, -1], run["values"][:, -1], strict=True):
        stayed, third = attention[:, 0].argmax(), attention[:, 2].argmax()
        assert stayed != third
        assert attention[third, 0] > 0.01
        added = values[third, 2] * attention[third, 0]
        assert values[stayed, 2] * attention[stayed, 0] == pytest.approx(-added, rel=0.2)


def test_boundaries_are_where_the_loss_is_half_way(run):
    """Found by events while solving, and again between the saved times."""
    for loss, ends in zip(run["loss"], run.facts["boundaries"], strict=True):
        for level, end in zip(halfway(STRENGTHS), ends, strict=True):
            after = int(np.argmax(loss < level))
            assert TIMES[after - 1] <= end <= TIMES[after]


def test_a_seed_does_not_depend_on_its_neighbours(problem, run):
    other = simulate(problem, seeds=(7, 1, 9), noise=1e-6, times=TIMES)
    for name in run.arrays:
        assert np.array_equal(other[name][1], run[name][1])
    assert np.array_equal(other.facts["boundaries"][1], run.facts["boundaries"][1])
