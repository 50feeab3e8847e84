"""t_1 = T/m_1 F_2(H/m_1), or sqrt(T)/m_1 F_1(..) with Pi once; then heads differ when T sigma Lambda(t) reaches 1.

Derived in docs/theory.md, "How long a stage takes". Nothing here is fitted.
"""

from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy import integrate, optimize

FAR = 30.0
"""Logit at which a fall counts as over: what is left of it is known in closed form."""
HALF_WAY = 1 - 1 / np.sqrt(2)
"""x - x^2/2 = 1/4: with the share x of the first feature the loss is half-way to the first plateau."""


def fall(damping: float, projections: Literal[1, 2], end: float) -> tuple[float, float, float]:
    """(t, c, q) at time `end`, or where q is FAR if that is before, of dc = e^q - damping c, dq = c e^{(n-1) q}."""

    def velocity(_: float, state: np.ndarray) -> list[float]:
        c, q = state
        return [np.exp(q) - damping * c, c * np.exp((projections - 1) * q)]

    def far(_: float, state: np.ndarray) -> float:
        return state[1] - FAR

    far.terminal = True  # ty: ignore[missing-attribute]
    path = integrate.solve_ivp(velocity, (0.0, end), np.zeros(2), method="DOP853", rtol=1e-11, atol=1e-13, events=far)
    return float(path.t[-1]), float(path.y[0, -1]), float(path.y[1, -1])


def fall_time(damping: float, projections: Literal[1, 2]) -> float:
    """F_n(damping): when q becomes infinite, from c = q = 0, dc = e^q - damping c, dq = c e^{(n-1) q}.

    For n = 2 and y = e^{-q} this is y'' + damping y' + 1/y = 0 from y = 1 at rest: how long y takes to fall to 0.

        F_1(0) = pi / sqrt 2      F_2(0) = sqrt(pi / 2)      F_2(k) ~ k / 2 for large k
    """
    time, c, _ = fall(damping, projections, end=10 * (1 + damping) ** 2)
    return time + (2 / c if projections == 1 else 0.0)


def last_part(damping: float) -> float:
    """D(k) = int_0^c* (1 / (s (1 - k s c)) - 2/c^2) dc - 2/c*, s = 1 - e^{-c^2/2}, k s(c*) c* = 1 - 1/sqrt 2.

    With Pi once: from where attention at position 1 is no longer small to where the loss is half-way, in units of
    1/m_1, over what the fall to infinity counts for it.
    """

    def attention(c: float) -> float:
        return -np.expm1(-0.5 * c * c)

    end = optimize.brentq(lambda c: damping * attention(c) * c - HALF_WAY, 1e-9, 10 + 1 / damping)
    # Near 0 the two terms cancel: 1/s = 2/c^2 + 1/2 + O(c^2) there.
    near = min(1e-3, end / 2)
    whole, _ = integrate.quad(
        lambda c: 1 / (attention(c) * (1 - damping * attention(c) * c)) - 2 / c**2, near, end, epsabs=1e-9
    )
    return float(whole + near / 2 - 2 / end)


def first_stage(strength: float, *, length: int, heads: int, projections: Literal[1, 2]) -> float:
    """When the loss is half-way to the first plateau, from V = 0 and even attention, for large T.

    Pi twice   T/m F_2(H/m)                                 but for O(log T / T) of it
    Pi once    sqrt(T)/m F_1(H/(m sqrt T)) + D(H/m)/m        but for O(1 / T) of it
    """
    damping = heads / strength
    if projections == 2:
        return length / strength * fall_time(damping, 2)
    root = np.sqrt(length)
    return float(root * fall_time(damping / root, 1) + last_part(damping)) / strength


def growth_rate(
    strengths: Float[np.ndarray, " feature"], *, length: int, heads: int, projections: Literal[1, 2]
) -> float:
    """g in log Lambda(t) ~ g sqrt(t), for large t: so noise sigma is waited for like (log(1 / (T sigma)) / g)^2.

    Pi once     2 m_2 sqrt(H / (m_1^2 - m_2^2))
    Pi twice    2 m_2 r sqrt(H / T) / m_1        for large T; r = e^{q_2} when the fall of q_1 ends
    """
    first, second = (float(strength) for strength in strengths[:2])
    if projections == 1:
        return 2 * second * float(np.sqrt(heads / (first**2 - second**2)))
    _, _, q = fall(heads / second, 2, end=fall_time(heads / first, 2) * second / first)
    return 2 * second * float(np.exp(q) * np.sqrt(heads / length)) / first


def log_growth(
    strengths: Float[np.ndarray, " feature"],
    times: Float[np.ndarray, " time"],
    *,
    length: int,
    heads: int,
    projections: Literal[1, 2],
    begins: int = 1,
) -> Float[np.ndarray, " time"]:
    """log Lambda(t): how much a difference ds_2 / s_2 between heads at the second position grows, from even attention.

    d(dV)/dt = R ds, d(dq)/dt = d[Pi(s)^(n-1) V^T R] at fixed R = G - H V (x) s, along the coupled V and s, from dV = 0
    and dq = e_2, or another feature's position, which `begins` counts from 0. Exact to first order: differences that
    sum to 0 over the heads leave P, and so R, as they are, and each head's then obey this one equation. `times` begin
    at 0; positions without a feature stay alike and are one.
    """
    strengths = np.asarray(strengths, float)
    count = len(strengths)
    copies = np.append(np.ones(count), length - count)[: count + (length > count)]
    target = np.eye(count, len(copies)) * strengths[:, None]
    cuts = np.cumsum([count, len(copies), count, len(copies)])

    def moved(s: np.ndarray, force: np.ndarray) -> np.ndarray:
        return s * (force - np.sum(copies * s * force))

    def velocity(_: float, state: np.ndarray) -> np.ndarray:
        V, q, dV, dq, _size = np.split(state, cuts)
        s = even(q)
        ds = moved(s, dq)
        R = target - heads * np.outer(V, s)
        force, pull = V @ R, dV @ R
        if projections == 2:
            # The change of Pi(s) force is that of s in front, that of the mean, and that of the force.
            pull = ds * (force - np.sum(copies * s * force)) - s * np.sum(copies * ds * force) + moved(s, pull)
            force = moved(s, force)
        speed = R @ (copies * ds)
        # (dV, dq) is kept at length 1 and the logarithm of its length is counted: it grows beyond what a float holds.
        rate = dV @ speed + dq @ pull
        return np.concatenate([R @ (copies * s), force, speed - rate * dV, pull - rate * dq, [rate]])

    def even(q: np.ndarray) -> np.ndarray:
        weights = np.exp(q - q.max())
        return weights / np.sum(copies * weights)

    start = np.zeros(cuts[-1] + 1)
    start[cuts[2] + begins] = 1.0
    path = integrate.solve_ivp(velocity, (0.0, times[-1]), start, t_eval=times, method="LSODA", rtol=1e-8, atol=1e-10)
    if not path.success:
        raise RuntimeError(f"the growth of differences was not found up to time {times[-1]:g}: {path.message}")
    _, q, _, dq, size = np.split(path.y, cuts)
    own = [dq[1, at] - np.sum(copies * even(q[:, at]) * dq[:, at]) for at in range(len(times))]
    return size[0] + np.log(np.abs(own))
