"""Paper B's flows: each reduced system against what it reduces; the start, the plateau and the end in closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.theory.descent import by_descent

from headway.theory import flow
from headway.theory.emergence import context, escape, late, logits, sample, simulate
from headway.theory.emergence.context import Pair
from headway.theory.emergence.sample import Triple
from headway.theory.emergence.toy import Toy, focus, toy, toys
from headway.theory.problem import State, reduced_problem
from headway.theory.simulate import logit_loss
from headway.theory.solve import solve

MET = 640 / (np.sqrt(np.pi / 2) * 200 / np.sqrt(200 / 199 / 8))
"""Time 640 of the first toy, in closed forms of its plateau."""
TIMES = np.sort(np.concatenate([[0.0, MET], np.geomspace(0.02, 60.0, 60)]))
SEEN = [(8, 200, 1, 0.0), (8, 200, 4, 0.0), (8, 200, 1, 0.3)]
each_parameter = pytest.mark.parametrize("shared", [False, True], ids=["logits", "gap"])


def gap_of(toy: Toy, seen: dict, case: int) -> np.ndarray:
    """Da, from the attention on all copies."""
    return np.log(
        seen["attention_relevant"][:, case] * toy.others / (toy.copies * (1 - seen["attention_relevant"][:, case]))
    )


def as_triple(toy: Toy, state: Pair) -> Triple:
    """w along W*, split into the first direction and the others."""
    size = np.sqrt(toy.dimension)
    return Triple(state.value / size, state.value * np.sqrt(toy.dimension - 1) / size, state.gap)


def as_matrices(population: logits.Population, state: Triple) -> logits.Matrices:
    size = population.target.shape[1]
    along = jnp.full(size, state.other / np.sqrt(size - 1)).at[0].set(state.repeated)
    copies = jnp.arange(int(population.toy.length)) >= population.toy.others
    return logits.Matrices(population.target * along, jnp.where(copies, state.gap, 0.0))


@pytest.fixture(scope="module")
def flows():
    """The flow of the T logits, of three toys."""
    with jax.enable_x64(True):
        return simulate.by_flow(toys(SEEN, shared=False), TIMES, threshold=0.1, longest=10)


@each_parameter
@pytest.mark.parametrize("case", [(3, 6, 1, 0.0), (5, 9, 4, 0.0)])
def test_without_a_repeated_vector_the_three_variables_are_the_two(case, shared):
    problem = toy(*case, shared=shared)
    state = Pair(jnp.float64(0.9), jnp.float64(0.4))
    pair, triple = context.flow(problem, state), sample.flow(problem, as_triple(problem, state))
    assert np.hypot(triple.repeated, triple.other) == pytest.approx(abs(float(pair.value)), rel=1e-13)
    assert float(triple.gap) == pytest.approx(float(pair.gap), rel=1e-13)
    for loss in (sample.loss, sample.tested):
        assert loss(problem, as_triple(problem, state)) == pytest.approx(float(context.loss(problem, state)), rel=1e-13)


@pytest.mark.parametrize("case", [(3, 6, 1, 0.0), (4, 7, 2, 0.3), (2, 5, 4, 0.8)])
def test_the_three_variables_are_the_gradient_of_the_whole_model(case):
    """W along W* on the repeated vector and on the rest, and T logits: nothing else moves, and the loss is the same."""
    problem = toy(*case)
    population = logits.Population(problem, logits.orthogonal_target(jax.random.key(1), case[0]))
    state = Triple(0.3, 0.7, 0.5)
    matrices = as_matrices(population, state)
    assert logits.loss(population, matrices) == pytest.approx(float(sample.loss(problem, state)), rel=1e-13)
    assert logits.tested(population, matrices) == pytest.approx(float(sample.tested(problem, state)), rel=1e-13)
    speed, few = logits.flow(population, matrices), sample.flow(problem, state)
    moved = as_matrices(population, Triple(few.repeated, few.other, few.gap))
    assert np.abs(speed.values - moved.values).max() < 1e-14
    assert np.ptp(speed.logits[: -case[2]]) < 1e-15 and np.ptp(speed.logits[-case[2] :]) < 1e-15
    assert speed.logits[-1] - speed.logits[0] == pytest.approx(float(few.gap), rel=1e-12)
    assert abs(speed.logits.sum()) < 1e-15, "forces on a softmax sum to zero"


def test_the_toy_is_paper_a_with_one_feature_of_strength_root_d_in_slower_time():
    d, length = 5, 9
    whole = reduced_problem(np.array([np.sqrt(d)]), length=length, heads=1)
    pair = Pair(jnp.float64(0.9), jnp.float64(0.4))
    state = State(np.array([[0.9]]), np.eye(length)[:1] * 0.4)
    speed, few = flow.logits(whole, state), context.flow(toy(d, length), pair)
    assert speed.values[0, 0] / d == pytest.approx(float(few.value), rel=1e-13)
    assert (speed.attention[0, 0] - speed.attention[0, 1]) / d == pytest.approx(float(few.gap), rel=1e-13)
    assert logit_loss(whole, state) / d == pytest.approx(float(context.loss(toy(d, length), pair)), rel=1e-13)


def test_a_gap_that_all_copies_share_is_the_gradient_in_that_gap():
    """k = B: the loss as a function of w and Da alone, differentiated."""
    problem = toy(5, 9, 3, shared=True)
    state = Pair(jnp.float64(0.9), jnp.float64(0.4))
    slope = jax.grad(context.loss, argnums=1)(problem, state)
    speed = context.flow(problem, state)
    assert -slope.value == pytest.approx(float(speed.value), rel=1e-13)
    assert -slope.gap == pytest.approx(float(speed.gap), rel=1e-13)


def test_copies_pull_a_gap_of_logits_b_times_less_than_a_shared_one():
    state = Pair(0.9, 0.4)
    for copies in (1, 3, 6):
        own, shared = (context.flow(toy(5, 9, copies, shared=shared), state).gap for shared in (False, True))
        assert shared / own == pytest.approx(copies * (9 - copies) / 9, rel=1e-13)


def test_the_whole_model_solved_is_the_three_variables_solved(flows):
    """Over a whole run and not only in their speeds, with a repeated vector."""
    problem = toy(*SEEN[2])
    population = logits.Population(problem, logits.orthogonal_target(jax.random.key(1), 8))
    unit = float(escape.plateau(problem))
    begin = jax.tree.map(lambda part: part[None], logits.start(problem))
    path = solve(logits.flow, population, begin, TIMES[:45] * unit, tolerance=1e-8)
    for time in (20, 38, 44):
        found = logits.measure(population, jax.tree.map(lambda part, time=time: part[0, time], path))
        for name, value in found.items():
            assert float(value) == pytest.approx(flows[0][name][time, 2], abs=1e-5), name


@each_parameter
@pytest.mark.parametrize("case", [(16, 400, 1, 0.0), (16, 400, 4, 0.0), (16, 400, 1, 0.5)])
def test_near_the_start_the_linearised_flow_is_the_flow(case, shared):
    """Its speed is the flow's at its own place, to within B/T and the square of how far it has come."""
    problem = toy(*case, shared=shared)
    for far in (0.1, 0.2):
        time = far / escape.rate(problem)
        state, speed = jax.jvp(lambda time: escape.linearised(problem, time), (time,), (1.0,))
        for named, own in zip(speed, sample.flow(problem, state), strict=True):
            assert float(named) == pytest.approx(float(own), rel=case[2] / 400 + 3 * far**2 + 0.02)


def test_the_escape_time_is_when_the_linearised_loss_has_fallen_by_its_share():
    for problem in (toy(16, 100), toy(16, 100, 4, shared=True), toy(16, 100, 4, 0.2)):
        time = escape.escape_time(problem, 0.8)
        assert escape.linearised_loss(problem, time) == pytest.approx(0.1, rel=1e-12)
    wanted = 4 * 100 / (2 * 4) * np.arcsinh(0.8 * 4 * 100 / 4)
    assert escape.escape_time(toy(16, 100, 4, shared=True)) == pytest.approx(wanted, rel=1e-12)


def test_the_published_rate_lacks_a_cross_term_that_is_small_for_many_dimensions():
    for size in (16, 64, 256):
        problem = toy(size, 100, 1, 0.2, shared=True)
        missing = escape.rate(problem) ** 2 - escape.published_rate(problem) ** 2
        assert missing == pytest.approx(2 * 0.2 * 0.8 / size / 100**2, rel=1e-10)
    assert escape.rate(toy(16, 100, shared=True)) == pytest.approx(
        float(escape.published_rate(toy(16, 100))), rel=1e-12
    )


@each_parameter
def test_the_closed_form_of_the_plateau_and_its_delay_are_the_limit_of_long_inputs(shared):
    """sqrt(pi/2) sqrt(d) T / B + (1 - pi/4) T / B^2 for the gap; / sqrt(B) and / B for logits."""
    cases = [(8, 4**power, copies, 0.0) for copies in (1, 4) for power in (4, 5, 6)]
    problems = toys(cases, shared=shared)
    _, plateaus = by_descent(problems, np.empty(0), rate=1.0, threshold=0.1, tail=1.0, longest=5.0)
    closed, more = simulate.units_of(problems), np.array([float(escape.delay(problem)) for problem in problems])
    off = (plateaus / (closed + more)).reshape(2, 3) - 1
    assert np.all(np.diff(np.abs(off), axis=1) < 0) and np.all(off[:, -1] < 0.015)
    assert np.all(plateaus / closed - 1 > 0.5 * more / closed), "the delay is seen"
    ratio, delays = closed[2] / closed[5], more[2] / more[5]
    assert (ratio, delays) == pytest.approx((4, 16) if shared else (2, 4), rel=1e-3)


def test_descent_follows_the_flow_with_an_error_in_proportion_to_its_step(flows):
    """Near the end of a plateau, at a time that all steps meet: halving the step halves what is missing."""
    seen, _ = flows
    times = np.array([MET])
    losses = [
        by_descent(toys(SEEN[:1], shared=False), times, rate=rate, threshold=0.1, tail=1.0, longest=5.0)[0]
        for rate in (2.0, 1.0, 0.5)
    ]
    errors = np.array([each["loss"][0, 0] for each in losses]) - seen["loss"][TIMES == MET, 0]
    assert np.all(errors > 0), "a step behind"
    assert errors[:-1] / errors[1:] == pytest.approx(np.full(2, 2.0), rel=0.03)


def test_a_run_ends_after_its_tail_or_when_it_may_not_go_on():
    problems = toys([(4, 20, 1, 0.0)], shared=False)
    times = np.linspace(0, 3, 31)
    seen, (plateau,) = by_descent(problems, times, rate=1.0, threshold=0.1, tail=1.2, longest=9.0)
    unit = simulate.units_of(problems)[0]
    known = np.isfinite(seen["loss"][:, 0])
    assert np.array_equal(known, np.round(times * unit) <= 1.2 * plateau)
    _, (censored,) = by_descent(problems, times, rate=1.0, threshold=0.1, tail=1.2, longest=0.5)
    assert censored == np.inf
    _, (lost,) = by_descent(problems, times, rate=300.0, threshold=0.1, tail=1.2, longest=900.0)
    assert np.isnan(lost)


def test_the_loss_starts_at_a_half_and_never_rises(flows):
    seen, _ = flows
    assert seen["loss"][0] == pytest.approx(np.full(3, 0.5), rel=1e-12)
    assert np.diff(seen["loss"], axis=0).max() < 1e-9
    assert seen["attention_relevant"][0] == pytest.approx([1 / 200, 4 / 200, 1 / 200], rel=1e-12)


def test_the_crossing_is_where_the_curve_says(flows):
    seen, plateaus = flows
    units = simulate.units_of(toys(SEEN, shared=False))
    for case, end in enumerate(plateaus / units):
        after = int(np.argmax(seen["loss"][:, case] <= 0.1))
        assert TIMES[after - 1] < end <= TIMES[after]


def test_in_the_late_phase_w_has_no_force_on_it_and_the_gap_that_of_the_flow():
    for problem in (toy(6, 50), toy(6, 50, 3), toy(6, 50, 3, shared=True)):
        for gap in (0.0, 2.0, 6.0):
            speed = context.flow(problem, late.settled(problem, jnp.float64(gap)))
            assert abs(speed.value) < 1e-14
            assert speed.gap == pytest.approx(float(late.flow(problem, gap)), rel=1e-12)
            told = late.loss(problem, gap)
            assert told == pytest.approx(float(context.loss(problem, late.settled(problem, gap))), rel=1e-10)


def test_in_the_end_the_flow_is_the_late_phase(flows):
    seen, _ = flows
    for case, problem in enumerate(toys(SEEN[:2], shared=False)):
        assert seen["loss"][-1, case] == pytest.approx(
            float(late.loss(problem, gap_of(problem, seen, case)[-1])), rel=0.05
        )


def test_the_late_loss_falls_as_a_power_of_time():
    """L = B/(4 k t) is dL/dt = -4 (k/B) L^2."""
    for problem in (toy(6, 50), toy(6, 50, 3), toy(6, 50, 3, shared=True)):
        loss, slope = jax.value_and_grad(late.loss, argnums=1)(problem, jnp.float64(14.0))
        wanted = -4 * problem.pull / problem.copies * loss**2
        assert float(slope * late.flow(problem, 14.0)) == pytest.approx(float(wanted), rel=1e-3)
        assert jax.grad(late.tail, argnums=1)(problem, 70.0) == pytest.approx(
            float(-4 * problem.pull / problem.copies * late.tail(problem, 70.0) ** 2), rel=1e-12
        )


def test_while_attention_is_small_its_logarithm_is_the_square_of_w(flows):
    """Z^2 = 2 (B/k) Da, but for what other tokens take from W, which is a share <W, W*>/d of it: W moves first."""
    seen, _ = flows
    early = np.flatnonzero((TIMES > 0.05) & (TIMES < 0.9))
    for case, problem in enumerate(toys(SEEN[:2], shared=False)):
        share = seen["gain"][early, case]
        free = 2 * float(problem.copies / problem.pull) * gap_of(problem, seen, case)[early]
        ratio = problem.dimension * share**2 / free
        assert np.all(ratio < 1 + 1 / 50) and np.all(ratio > 1 - share - 1 / 50)


def test_copies_that_leave_no_other_token_are_refused():
    with pytest.raises(ValueError, match="Use between 1 and 4"):
        toy(3, 5, 5)
    assert float(focus(toy(3, 5, 2), jnp.float64(0.0))) == pytest.approx(0.4)
