"""t_3 = t* + K / (m_3 sqrt x): when heads that stayed behind differ at position 3, and how long one then falls.

Of the gradient flow; derived in docs/theory.md, "The third stage", and not fitted. Without JAX, for claims, too.
"""

from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from scipy import integrate

K = 1.0706294926953777
"""int_1^inf dq / sqrt(2 (e^q - e + 1/2)): from a difference of 1, which still grows by itself, to the fall's end."""


class ThirdStage(NamedTuple):
    """What is predicted of the third boundary."""

    differ: float
    """t*: T sigma Lambda_3 = 1; infinite if not by the last time."""
    end: float
    """t_3: the head that leaves has come to position 3."""


@cache
def third_stage(
    strengths: tuple[float, ...], *, length: int, heads: int, projections: Literal[1, 2], noise: float, last: float
) -> ThirdStage:
    """H - 1 heads that are alike, one that is ahead by T sigma at position 2, and differences among the former.

        A: V, q of H - 1 heads       B: V', q' of the one that leaves for position 2
        R = G - (H - 1) V (x) s - V' (x) s'
        d(dV)/dt = R ds,  d(dq)/dt = d[Pi(s)^(n-1) V^T R] at fixed R,  ds = Pi(s) dq       from dV = 0, dq = e_3

    Differences among A that sum to 0 leave R as it is. Lambda_3 is the growth of ds_3 / s_3. With Pi twice the fall is
    short beside the wait and left out. `noise` is the standard deviation sigma.
    """
    if len(strengths) < 3 or heads < 3:
        return ThirdStage(np.inf, np.inf)
    flow = _TwoGroups(np.asarray(strengths), length, heads, projections)

    def grown(_: float, state: np.ndarray) -> float:
        return flow.log_difference(state) + np.log(length * noise)

    grown.terminal, grown.direction = True, 1  # ty: ignore[missing-attribute]
    path = integrate.solve_ivp(
        flow.velocity, (0.0, last), flow.start(length * noise), method="LSODA", rtol=1e-7, atol=1e-9, events=grown
    )
    if not path.success:
        raise RuntimeError(f"the third stage was not found up to time {last:g}: {path.message}")
    if not len(path.t_events[0]):
        return ThirdStage(np.inf, np.inf)
    time, left = float(path.t_events[0][0]), flow.left(path.y_events[0][0])
    fall = K / (strengths[2] * np.sqrt(left)) if projections == 1 else 0.0
    return ThirdStage(time, float(time + fall))


class _TwoGroups:
    """The velocity of (V, q, V', q', dV, dq, log size), positions without a feature merged into one."""

    def __init__(self, strengths: np.ndarray, length: int, heads: int, projections: int) -> None:
        count = len(strengths)
        self.copies = np.append(np.ones(count), length - count)[: count + (length > count)]
        self.target = np.eye(count, len(self.copies)) * strengths[:, None]
        self.heads, self.projections = heads, projections
        self.cuts = np.cumsum([count, len(self.copies)] * 3)
        edges = [0, *self.cuts, None]
        self.slices = [slice(*pair) for pair in pairwise(edges)]

    def start(self, ahead: float) -> np.ndarray:
        """V = 0 and even attention, but for one head's lead at position 2; and a difference at position 3."""
        state = np.zeros(self.cuts[-1] + 1)
        state[self.cuts[0] + 1], state[self.cuts[2] + 1] = -ahead / self.heads, ahead * (1 - 1 / self.heads)
        state[self.cuts[4] + 2] = 1.0
        return state

    def parts(self, state: np.ndarray) -> list[np.ndarray]:
        """V, q, W, p, dV, dq, log of the difference's size: views, which `np.split` makes at ten times the price."""
        return [state[each] for each in self.slices]

    def attention(self, q: np.ndarray) -> np.ndarray:
        weights = np.exp(q - q.max())
        return weights / (self.copies * weights).sum()

    def moved(self, s: np.ndarray, force: np.ndarray) -> np.ndarray:
        return s * (force - (self.copies * s * force).sum())

    def velocity(self, _: float, state: np.ndarray) -> np.ndarray:
        V, q, W, p, dV, dq, _size = self.parts(state)
        s, r, copies = self.attention(q), self.attention(p), self.copies
        R = self.target - (self.heads - 1) * (V[:, None] * s) - W[:, None] * r
        force, other, ds, pull = V @ R, W @ R, self.moved(s, dq), dV @ R
        if self.projections == 2:
            mean = (copies * s * force).sum()
            pull = ds * (force - mean) - s * (copies * ds * force).sum() + self.moved(s, pull)
            force, other = self.moved(s, force), self.moved(r, other)
        speed = R @ (copies * ds)
        # (dV, dq) is kept at length 1 and the logarithm of its length is counted.
        rate = dV @ speed + dq @ pull
        moves = (R @ (copies * s), force, R @ (copies * r), other, speed - rate * dV, pull - rate * dq, [rate])
        return np.concatenate(moves)

    def log_difference(self, state: np.ndarray) -> float:
        """log |ds_3 / s_3| of a head of the first group."""
        _, q, _, _, _, dq, size = self.parts(state)
        return float(size[0] + np.log(abs(dq[2] - np.sum(self.copies * self.attention(q) * dq)) + 1e-300))

    def left(self, state: np.ndarray) -> float:
        """x: the attention that the first group has left at position 3."""
        return float(self.attention(self.parts(state)[1])[2])
