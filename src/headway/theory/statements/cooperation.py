"""Lemma 1 and Theorems 3 to 5: one head leaves."""

from typing import Literal

import jax
import numpy as np

from headway.theory.offshoot import Offshoot, as_heads, best_settled, lyapunov, offshoot
from headway.theory.problem import Numbers, Problem, State
from headway.theory.solve import solve
from headway.theory.statements.algebra import CLOSE, problems
from headway.theory.statements.check import Check, check
from headway.theory.statements.competition import SHORT, TIMES, along, deviation
from headway.theory.two_scale import lyapunov as rest_lyapunov
from headway.theory.two_scale import next_head


def heads_that_leave(rng: np.random.Generator, instances: int) -> list[Offshoot]:
    """Anything, not only what is near (9)."""
    return [
        Offshoot(rng.standard_normal((1, 3)), rng.standard_normal(3), rng.dirichlet(np.ones(5)))
        for _ in range(instances)
    ]


def lemma_1_derivative(rng: np.random.Generator, instances: int = 8) -> Check:
    """dD/dt = -(H-1) D + (a dV'/dt + a V') / (H-1), D = V - V*, a = s'_1. Corrected: the last term is (da/dt) V'.

    Compared with the derivative of V - V* along the flow. `worst` is the largest error of an entry.
    """
    errors, corrected = [], []
    for task, state in zip(problems(rng, instances), heads_that_leave(rng, instances), strict=True):

        def apart(state: Offshoot, task: Problem = task) -> Numbers:
            return state.settled - best_settled(task, 1, State(state.value, state.attention))

        velocity = offshoot(task, state)
        now, truth = jax.jvp(apart, (state,), (velocity,))
        a, speed = state.attention[0], velocity.attention[0]
        printed = -2 * now + (a * velocity.value + a * state.value) / 2
        errors.append(np.abs(printed - truth).max())
        fixed = -2 * now + (a * velocity.value + speed * state.value) / 2
        corrected.append(np.abs(fixed - truth).max() < CLOSE)
    return check("Lemma 1, derivative", np.array(errors) < CLOSE, corrected, max(errors))


def lemma_1_and_theorem_3(rng: np.random.Generator, instances: int = 3) -> tuple[Check, Check, Check]:
    """||D(t)|| <= e^{-c2 t} ||D(0)|| + c1/c2; the phi of Theorem 3 never falls; and Theorem 3, along the same runs.

    Lemma 1 holds with c2 = H - 1 and c1 = max ||d(s'_1 V')/dt|| / (H - 1). Theorem 3 is as Theorem 2, for
    Delta = max ||V_h - V||, ||s_h - s|| and those of the others. By the print the head that leaves is compared with the
    ensemble that it leaves, so Delta(0) is ||s'(0) - s_1*|| and not eps. Corrected: ||V_h - V'||, ||s_h - s'||, and the
    constant and the window of Theorem 2. No distance of s' from s_1* has to be assumed for any of them.
    `worst`: the largest ||D|| divided by the bound; the largest fall of phi; the printed Delta(0) / eps, eps = 1e-4.
    """
    tasks, outside, starts = problems(rng, instances), 0.1, []
    for task in tasks:
        s = (1 - outside) * np.eye(5)[0] + outside * rng.dirichlet(np.ones(5))
        head = State(np.asarray(task.strengths)[0] / 3 * rng.uniform(0.5, 1.5, 3), s)
        settled = best_settled(task, 1, head) + 0.1 * rng.standard_normal((1, 3))
        starts.append(as_heads(task, Offshoot(settled, *head)))
    rate, path = deviation(rng, tasks, starts)
    first = np.array([np.linalg.norm(start.attention[-1] - np.eye(5)[0]) for start in starts])

    def look(task: Problem, heads: State) -> tuple[Numbers, Numbers, Numbers]:
        state = Offshoot(heads.values[:1], heads.values[-1], heads.attention[-1])
        best = best_settled(task, 1, State(state.value, state.attention))
        velocity = offshoot(task, state)
        turn = state.attention[0] * velocity.value + velocity.attention[0] * state.value
        norm = jax.numpy.linalg.norm
        return norm(state.settled - best), norm(turn) / 2, lyapunov(task, state)

    distance, turn, phi = along(look, tasks, path)
    bound = np.exp(-2 * SHORT) * distance[:, :1] + turn.max(axis=1, keepdims=True) / 2
    share, falls = np.max(distance / bound, axis=1), np.diff(phi, axis=1).min(axis=1)
    return (
        check("Lemma 1", share <= 1 + 1e-6, None, share.max()),
        check("Theorem 3, Lyapunov function", falls > -1e-9, None, -falls.min()),
        check("Theorem 3", first <= 1e-4, np.ptp(rate, axis=1) < 0.1 * rate.max(axis=1), first.max() / 1e-4),
    )


def theorem_3_proof(rng: np.random.Generator, instances: int = 8) -> Check:
    """grad_s' phi = V^T G - .., dphi/dt = .. + ||Pi(s') ds'/dt||^2. Corrected: V'^T G, and ||Pi(s') grad_s' phi||^2.

    Compared with automatic differentiation. `worst` is the largest error of an entry of the gradient.
    """
    errors, corrected = [], []
    for task, state in zip(problems(rng, instances), heads_that_leave(rng, instances), strict=True):
        slope = jax.grad(lambda state, task=task: lyapunov(task, state))(state)
        m = np.concatenate([np.asarray(task.strengths), np.zeros(2)])
        common = -2 * (state.settled[0] @ state.value) * np.eye(5)[0] - (state.value @ state.value) * state.attention
        printed = m * np.concatenate([state.settled[0], np.zeros(2)]) + common
        fixed = m * np.concatenate([state.value, np.zeros(2)]) + common
        errors.append(np.abs(printed - slope.attention).max())
        velocity = offshoot(task, state)
        s = state.attention
        turned = s * (fixed - s @ fixed)
        rise = sum(float(np.sum(a * b)) for a, b in zip(slope, velocity, strict=True))
        total = 2 * np.sum(velocity.settled**2) + np.sum(velocity.value**2) + np.sum(turned**2)
        corrected.append(np.abs(fixed - slope.attention).max() < CLOSE and abs(rise - total) < CLOSE)
    return check("Theorem 3, derivatives", np.array(errors) < CLOSE, corrected, max(errors))


def next_feature(rng: np.random.Generator, known: int, instances: int = 16) -> Check:
    """Theorems 4 and 5: from an ordered start with (12), V' -> V_{n+1}* and s' -> s_{n+1}*.

    Corrected: V' -> (m_{n+1} / rho) V_{n+1}*, s' -> rho s_{n+1}* and the rest of s' on the n known positions, where
    settled heads offset it at no cost. Every rho in (0, 1] gives a fixed point; the start chooses. `worst` is the
    largest share of s' that stays on what is known.
    """
    tasks = problems(rng, instances)
    values, attention = rng.uniform(-0.5, 1, (instances, 3)), rng.dirichlet(np.ones(5), instances)
    values[:, known:] = -np.sort(-np.abs(values[:, known:]), axis=1)
    attention[:, known:3] = -np.sort(-attention[:, known:3], axis=1)
    attention[:, known:] *= 0.2  # near what is known, as after the stage before
    attention /= attention.sum(axis=1, keepdims=True)
    with jax.enable_x64(True):
        room = [
            float(rest_lyapunov(known, task, State(V, s))) for task, V, s in zip(tasks, values, attention, strict=True)
        ]
    starts = np.array(room) > 0
    path = solve(next_head(known), tasks, State(values, attention), TIMES)
    V, s = path.values[starts, -1], path.attention[starts, -1]
    m = np.array([np.asarray(task.strengths)[known] for task in tasks])[starts]
    unit, rho, rest = np.eye(3)[known], s[:, known], s[:, known + 1 :].sum(axis=1)
    printed = (np.abs(V - unit).max(axis=1) < 0.02) & (rho > 0.98)
    corrected = (np.abs(V * rho[:, None] / m[:, None] - unit).max(axis=1) < 0.02) & (rest < 0.02)
    left = s[:, :known].sum(axis=1)
    return check(f"Theorem {3 + known}", printed, corrected, float(left.max()))


def leftover(rng: np.random.Generator, projections: Literal[1, 2], instances: int = 8) -> Check:
    """Along (11) a e^{||V'||^2 / 2} is constant with Pi once; log(a/(1-a)) - 1/a + ||V'||^2 with Pi twice; a = s'_1.

    With Pi twice only if s' lies on positions 1 and 2, as in Remark 2's start. So a stays above 0 for ever, as ||V'||
    is bounded. Compared: the derivative along the flow, with 0. `worst` is the largest.
    """

    def constant(state: State) -> Numbers:
        a, square = state.attention[0], (state.values**2).sum()
        if projections == 1:
            return jax.numpy.log(a) + square / 2
        return jax.numpy.log(a / (1 - a)) - 1 / a + square

    drifts = []
    for task in problems(rng, instances, projections):
        s = rng.dirichlet(np.ones(5))
        s = s if projections == 1 else np.array([s[0], 1 - s[0], 0, 0, 0])
        state = State(rng.standard_normal(3), s)
        drifts.append(abs(float(jax.jvp(constant, (state,), (next_head(1)(task, state),))[1])))
    times = "once" if projections == 1 else "twice"
    return check(f"leftover attention, Pi {times}", np.array(drifts) < CLOSE, None, max(drifts))
