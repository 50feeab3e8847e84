"""The statements about Pi(s), tensors and Taylor terms: no run needed, only both sides of an equation."""

from typing import Literal

import jax
import numpy as np

from headway.theory.flow import full, loss
from headway.theory.problem import Problem, State, full_problem, reduced_problem
from headway.theory.statements.check import Check, check

CLOSE = 1e-10


def pi(s: np.ndarray) -> np.ndarray:
    """Pi(s) = diag(s) - s s^T, as a matrix."""
    return np.diag(s) - np.outer(s, s)


def tensor_product(rng: np.random.Generator, instances: int = 8) -> Check:
    """Tensor notation of section 3.1: <M, N> = sum_k <B_k, B'_k> <v_k, v'_k>. Corrected: a double sum, over k and l.

    Compared for M = N with the sum over all entries of the tensor; `worst` is the relative error.
    """
    errors, corrected = [], []
    for _ in range(instances):
        B, v = rng.standard_normal((3, 4)), rng.standard_normal((3, 5))
        truth = np.sum(np.einsum("ka,kt->at", B, v) ** 2)
        errors.append(abs(np.sum(np.sum(B * B, 1) * np.sum(v * v, 1)) - truth) / truth)
        corrected.append(abs(np.sum((B @ B.T) * (v @ v.T)) - truth) < CLOSE)
    return check("tensor inner product", np.array(errors) < CLOSE, corrected, max(errors))


def proposition_1(rng: np.random.Generator, instances: int = 4) -> Check:
    """The population loss is 1/2 ||G - P||^2 and a constant; its flow descends (the proof says: ascends).

    Compared with the mean over white data of the model's own loss.
    """
    d, time, outcomes = 2, 3, []
    data = np.sqrt(d * time) * np.eye(d * time).reshape(-1, d, time)
    for seed in range(instances):
        problem = full_problem(strengths(rng, 2), length=time, dimension=d, heads=3, seed=seed)
        state = State(rng.standard_normal((3, d * d)), rng.dirichlet(np.ones(time), 3))
        heads = np.einsum("kab,nbt,kt->na", state.values.reshape(-1, d, d), data, state.attention)
        features = np.asarray(problem.features).reshape(-1, d, d)
        truth = np.einsum("k,kab,nbk->na", problem.strengths, features, data[:, :, :2])
        population = 0.5 * np.mean(np.sum((heads - truth) ** 2, axis=1))
        outcomes.append(abs(float(loss(problem, state)) - population) < CLOSE)
    return check("Proposition 1", outcomes)


def lemma_2(rng: np.random.Generator, instances: int = 8) -> Check:
    """ker Pi(s) = span{e_j : s_j = 0} united with span{1 on the support}. Corrected: their sum, not their union.

    Compared: is e_j + 1_support, which Pi(s) maps to 0, in the set? And is the dimension that of the sum?
    """
    printed, corrected = [], []
    for _ in range(instances):
        s = np.concatenate([rng.dirichlet(np.ones(3)), np.zeros(2)])
        support = (s > 0).astype(float)
        both = support + np.eye(5)[3]
        in_kernel = np.abs(pi(s) @ both).max() < CLOSE
        in_union = not np.any(both[s > 0]) or np.ptp(both[s > 0]) + np.abs(both[s == 0]).max() == 0
        printed.append(in_kernel == in_union)
        rank_below_one = np.linalg.matrix_rank(pi(0.7 * s), tol=1e-9)
        corrected.append(in_kernel and np.linalg.matrix_rank(pi(s), tol=1e-9) == 2 and rank_below_one == 3)
    return check("Lemma 2", printed, corrected)


def lemma_3(rng: np.random.Generator, instances: int = 200) -> Check:
    """s_i >= s_j and v_i >= v_j for j in [h] give (Pi v)_i >= (Pi v)_j. Corrected: v_i >= v_j for j in [T].

    The proof needs v_i >= <s, v>, which positions outside [h] can spoil. `worst` is the largest violation.
    """
    features, time = 3, 6
    s, v = rng.dirichlet(np.ones(time), instances), rng.standard_normal((instances, time))
    s[:, :features] = -np.sort(-s[:, :features], axis=1)
    v[:, :features] = -np.sort(-v[:, :features], axis=1)

    def gaps(v: np.ndarray) -> np.ndarray:
        moved = s * (v - np.sum(s * v, axis=1, keepdims=True))
        return (moved[:, :1] - moved[:, :features]).min(axis=1)

    topped = v.copy()
    topped[:, 0] = np.maximum(v[:, 0], v.max(axis=1))
    return check("Lemma 3", gaps(v) >= -1e-15, gaps(topped) >= -1e-15, -gaps(v).min())


def expansion(rng: np.random.Generator, instances: int = 8) -> Check:
    """D.1: Pi(s') = Pi(r) + a^2 e1 e1^T + a (e1 r^T + r e1^T), s' = a e1 + r. Corrected: + a(1-a) and - a.

    `worst` is the largest error of an entry.
    """
    errors, corrected = [], []
    for _ in range(instances):
        s = rng.dirichlet(np.ones(5))
        a, e = s[0], np.eye(5)[0]
        r = s - a * e
        cross = np.outer(e, r) + np.outer(r, e)
        errors.append(np.abs(pi(r) + a * a * np.outer(e, e) + a * cross - pi(s)).max())
        corrected.append(np.abs(pi(r) + a * (1 - a) * np.outer(e, e) - a * cross - pi(s)).max() < CLOSE)
    return check("D.1, expansion of Pi", np.array(errors) < CLOSE, corrected, max(errors))


def along_the_first(rng: np.random.Generator, instances: int = 8) -> Check:
    """D.1: e1^T Pi(s')^2 g = a^2 r^T (Pi(r) + I) g for g with g_1 = 0. Corrected: - a r^T (Pi(r) + a(1-a) I) g.

    The remaining entries, (Pi(r)^2 + a^2 r r^T) g, are right as printed. `worst` is the largest error of the first.
    """
    errors, corrected = [], []
    for _ in range(instances):
        s, g = rng.dirichlet(np.ones(5)), rng.standard_normal(5)
        g[0], a = 0.0, s[0]
        r = s.copy()
        r[0] = 0.0
        truth = pi(s) @ pi(s) @ g
        errors.append(abs(a * a * r @ (pi(r) + np.eye(5)) @ g - truth[0]))
        first = -a * r @ (pi(r) + a * (1 - a) * np.eye(5)) @ g
        rest = (pi(r) @ pi(r) + a * a * np.outer(r, r)) @ g
        corrected.append(abs(first - truth[0]) < CLOSE and np.abs(rest[1:] - truth[1:]).max() < CLOSE)
    return check("D.1, update along s_1*", np.array(errors) < CLOSE, corrected, max(errors))


def remark_2(rng: np.random.Generator, instances: int = 100) -> Check:
    """(12) holds for V' = m_1/H V_1* + e V_2*, s' = (1-e) s_1* + e s_2*, small e. Corrected: iff m_2 > m_1^2 / (2 H^2).

    (12) reads m_2 e^2 > (m_1^2/H^2 + e^2) e^2 / 2. `worst` is the smallest m_2 / (m_1^2 / 2 H^2) that was drawn.
    """
    size, heads, small = rng.uniform(0.5, 20, (instances, 1)), 3, 1e-3
    m = size * -np.sort(-rng.uniform(0.3, 1, (instances, 2)), axis=1)
    holds = m[:, 1] * small**2 > 0.5 * (m[:, 0] ** 2 / heads**2 + small**2) * small**2
    needed = m[:, 0] ** 2 / (2 * heads**2)
    return check("Remark 2", holds, holds == (m[:, 1] > needed + small**2 / 2), np.min(m[:, 1] / needed))


def remark_1(rng: np.random.Generator, instances: int = 4) -> Check:
    """At V = 0, s = 1/T: dV/dt = G 1 / T and ds/dt = 0."""
    outcomes = []
    for problem in problems(rng, instances):
        velocity = full(problem, uniform(problem))
        m, time = np.asarray(problem.strengths), problem.length
        outcomes.append(np.abs(velocity.values - m / time).max() < CLOSE and not np.any(velocity.attention))
    return check("Remark 1", outcomes)


def section_e(rng: np.random.Generator, instances: int = 4) -> Check:
    """d2V/dt2 = G 1/T^2, d2s/dt2 = Pi(s) G 1/T. Corrected: - H G 1/T^2, and Pi(s)^2 (G 1)^T G / T.

    The second is (I - 1 1^T/T) sum_j m_j^2 e_j / T^3; half of it times t^2, added to 1/T, is s(t). Its print multiplies
    a T x T matrix by a d x d one; read by its entries in order of features it is off by the factor m_j T and more.
    `worst` is the printed d2V/dt2 divided by the true one.
    """
    printed, corrected, ratio = [], [], 0.0
    for problem in problems(rng, instances):
        start = uniform(problem)
        m, time = np.asarray(problem.strengths), problem.length

        def velocity(state: State, problem: Problem = problem) -> State:
            return full(problem, state)

        _, second = jax.jvp(velocity, (start,), (velocity(start),))
        ratio = float((m / time**2)[0] / second.values[0, 0])
        squares = np.concatenate([m**2, np.zeros(time - problem.count)])
        wanted = (squares - squares.mean()) / time**3
        read = np.concatenate([m, np.zeros(time - problem.count)])
        printed_second = (read - read.mean()) / time**2
        printed.append(abs(ratio - 1) < CLOSE and np.abs(second.attention - printed_second).max() < CLOSE)
        right_values = np.abs(second.values + problem.heads * m / time**2).max() < CLOSE
        corrected.append(right_values and np.abs(second.attention - wanted).max() < CLOSE)
    return check("section E", printed, corrected, ratio)


def strengths(rng: np.random.Generator, count: int) -> np.ndarray:
    """Random strengths, each 1.2 to 2 times the next: the closer two are, the longer it takes to separate them."""
    return np.cumprod(np.concatenate([rng.uniform(0.5, 1, 1), rng.uniform(1.2, 2, count - 1)]))[::-1].copy()


def problems(rng: np.random.Generator, instances: int, projections: Literal[1, 2] = 2) -> list[Problem]:
    """Random strengths; three features, three heads, five positions."""
    return [reduced_problem(strengths(rng, 3), length=5, heads=3, projections=projections) for _ in range(instances)]


def uniform(problem: Problem) -> State:
    """V = 0, s = 1/T in every head."""
    attention = np.full((problem.heads, problem.length), 1 / problem.length)
    return State(np.zeros((problem.heads, problem.size)), attention)
