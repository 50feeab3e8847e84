"""In-context regression by linear attention: its levels, and closed forms of how they are reached.

x ~ N(0, L) in R^D with eigenvalues l_1 >= .. >= l_D, y = w.x, w ~ N(0, I), N pairs and a query; beta = sum y_n x_n / N.
Linear heads answer beta^T M x_q, M = sum_i v_i U_i (merged) or sum_i v_i k_i q_i^T (separate), and

    loss(M) = tr L - 2 tr(M L^2) + tr(E2 M L M^T),    E2 = L^2 + (L + tr L I) L / N

With dW/dt = -(1/2 tau) dloss/dW the heads stay in the eigenvectors that they find. tau = 1 / (2 rate) for descent. With
the sum instead of the mean, beta is N times as large: rates grow by N, and M is reached at M / N (`gain` N).

Plain NumPy, for claims, figures and forecasts; the flows themselves are in theory/linear_attention.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import elliprf

HALF = (1 - math.sqrt(0.5)) ** (1 / 3)
"""y at which half of a drop is done: 1 - (1 - y^3)^2 = 1/2."""
Numbers = Sequence[float] | np.ndarray


def spectrum(ratios: Numbers, trace: float = 1.0) -> np.ndarray:
    """Eigenvalues in these ratios, the largest first, that add up to the trace."""
    values = np.sort(np.asarray(ratios, float))[::-1]
    return trace * values / values.sum()


def noise(eigenvalues: np.ndarray, pairs: int) -> np.ndarray:
    """c_d = 1 + (1 + tr L / l_d) / N: how much larger E[(beta_d x_d)^2] is than without the noise of N pairs."""
    return 1 + (1 + eigenvalues.sum() / eigenvalues) / pairs


def levels(eigenvalues: np.ndarray, pairs: int) -> np.ndarray:
    """L_m = tr L - sum_{d <= m} l_d / c_d: in-context regression on m principal components, m = 0 .. D."""
    gains = eigenvalues / noise(eigenvalues, pairs)
    return eigenvalues.sum() - np.concatenate([[0.0], np.cumsum(gains)])


def best(eigenvalues: np.ndarray, pairs: int, components: int) -> np.ndarray:
    """The matrix of the m-th level: 1 / (l_d c_d) for d <= m."""
    own = 1 / (eigenvalues * noise(eigenvalues, pairs))
    return np.diag(np.where(np.arange(len(own)) < components, own, 0.0))


def second_moment(eigenvalues: np.ndarray, pairs: int) -> np.ndarray:
    """E[beta beta^T] = E2, a diagonal."""
    return eigenvalues**2 + (eigenvalues + eigenvalues.sum()) * eigenvalues / pairs


def loss(matrix: np.ndarray, eigenvalues: np.ndarray, pairs: int) -> float:
    """tr L - 2 tr(M L^2) + tr(E2 M L M^T)."""
    quadratic = np.sum(second_moment(eigenvalues, pairs)[:, None] * matrix**2 * eigenvalues)
    return float(eigenvalues.sum() - 2 * np.sum(np.diag(matrix) * eigenvalues**2) + quadratic)


def merged_sigma(
    times: Numbers, eigenvalue: float, dimension: int, pairs: int, start: float, tau: float = 1.0
) -> np.ndarray:
    """Merged heads of a white spectrum, L = l I, answer sigma(t) beta.x_q from w^2 = `start` on, a logistic curve:

    sigma = (1 / l c) / (1 + (sqrt(D) / (l c w^2) - 1) exp(-2 l^2 sqrt(D) t / tau)),    c = 1 + (1 + D) / N
    """
    most = 1 / (eigenvalue * (1 + (1 + dimension) / pairs))
    growth = np.exp(-2 * eigenvalue**2 * math.sqrt(dimension) * np.asarray(times, float) / tau)
    return most / (1 + (math.sqrt(dimension) * most / start - 1) * growth)


def white_loss(sigma: np.ndarray, eigenvalue: float, dimension: int, pairs: int) -> np.ndarray:
    """D l - 2 sigma D l^2 + sigma^2 D l^3 c."""
    noisy = 1 + (1 + dimension) / pairs
    return dimension * eigenvalue * (1 - 2 * sigma * eigenvalue + sigma**2 * eigenvalue**2 * noisy)


def merged_start(values: np.ndarray, matrices: np.ndarray, eigenvalues: np.ndarray) -> float:
    """w^2 = |u + v|^2 / 4, u_i = <U_i, L^2> / |L^2|: what of a random start (head, D, D) grows."""
    squares = eigenvalues**2
    along = np.einsum("hdd,d->h", matrices, squares) / np.linalg.norm(squares)
    return float(np.sum((along + values) ** 2) / 4)


def merged_half(start: float, eigenvalues: np.ndarray, pairs: int, tau: float = 1.0, gain: float = 1.0) -> float:
    """When half of the one drop is done: growth along L^2 at the rate 2 |L^2| / tau, up to where it meets the loss.

    Exact for a white spectrum. For another, M turns on its way from L^2 to its end while the loss falls, and the loss
    of s L^2 / |L^2| stands for it: s(t) is logistic, and half of the whole drop of the loss is met on the way.
    """
    squares = eigenvalues**2
    size = float(np.linalg.norm(squares))
    along = squares / size
    bend = float(np.sum(second_moment(eigenvalues, pairs) * eigenvalues * along**2))
    most = size / bend
    wanted = 0.5 * (eigenvalues.sum() - levels(eigenvalues, pairs)[-1])
    # 2 s |L^2| - s^2 bend = wanted, the smaller root; half of its own largest drop where it does not get so far.
    inside = max(size**2 - bend * wanted, 0.0)
    meets = (size - math.sqrt(inside)) / bend if inside else most * (1 - math.sqrt(0.5))
    odds = (most / (gain * start) - 1) / (most / meets - 1)
    return tau / gain * math.log(odds) / (2 * size)


def shape(y: np.ndarray | float) -> np.ndarray | float:
    """F(y) = -1/y - 1/3 ln(1 - y) + 1/6 ln(1 + y + y^2) - arctan((2y + 1)/sqrt 3)/sqrt 3.

    dF/dy = 1 / (y^2 (1 - y^3)).
    """
    root = math.sqrt(3)
    return -1 / y - np.log1p(-y) / 3 + np.log1p(y + y**2) / 6 - np.arctan((2 * y + 1) / root) / root


def balanced_time(
    value: np.ndarray | float, start: float, eigenvalue: float, noisy: float, tau: float = 1.0
) -> np.ndarray | float:
    """t(v) of tau dv/dt = l^2 v^2 - l^3 c v^5, one head with |v| = |k| = |q|: (tau/l^2) (l c)^(1/3) (F(y) - F(y_0)).

    y = v (l c)^(1/3), 1 at the end.
    """
    scale = (eigenvalue * noisy) ** (1 / 3)
    return tau / eigenvalue**2 * scale * (shape(scale * np.asarray(value)) - shape(scale * start))


def escape_time(value: np.ndarray, key: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Until dv/dt = k q, dk/dt = v q, dq/dt = v k blows up: R_F(v^2, k^2, q^2), Carlson's elliptic integral.

    v^2 - k^2 and v^2 - q^2 never change, so that dt = dv / sqrt((v^2 - a)(v^2 - b)). With v k q < 0 the smallest of the
    three goes through zero first: 2 R_F of what the others are then, less R_F of the start.
    """
    squares = np.square(np.stack(np.broadcast_arrays(value, key, query)))
    direct, round_trip = elliprf(*squares), 2 * elliprf(*(squares - squares.min(axis=0)))
    # Two that are zero stay zero.
    with np.errstate(invalid="ignore"):
        later = np.where(np.isinf(direct), np.inf, round_trip - direct)
    return np.where(value * key * query > 0, direct, later)


def separate_drops(
    values: np.ndarray,
    keys: np.ndarray,
    queries: np.ndarray,
    eigenvalues: np.ndarray,
    pairs: int,
    tau: float = 1.0,
    gain: float = 1.0,
) -> np.ndarray:
    """When half of each drop is done, for rank one heads from any small start: v (head,), k and q (head, D).

    t_m = (tau / l^2) (R_F(v^2, k_d^2, q_d^2) + (l c)^(1/3) (F(y_half) + pi / (6 sqrt 3))): escape as if the head knew
    one direction only, then the end of the balanced closed form. Heads and directions that escape first are taken
    first, each once; the others wait as they are. (D,) in the order of the drops, NaN where heads run out.
    """
    # v k q grows by gain in all: with each factor's cube root the flow is that of gain 1, in a time that runs faster.
    root = gain ** (1 / 3)
    values, keys, queries, tau = root * values, root * keys, root * queries, tau / root**2
    wait = escape_time(values[:, None], keys, queries)
    ending = (eigenvalues * noise(eigenvalues, pairs)) ** (1 / 3) * (shape(HALF) + math.pi / (6 * math.sqrt(3)))
    times = tau / eigenvalues**2 * (wait + ending)
    found = np.full(len(eigenvalues), np.nan)
    for drop in range(min(times.shape)):
        head, direction = np.unravel_index(np.argmin(times), times.shape)
        found[drop] = times[head, direction]
        times[head], times[:, direction] = np.inf, np.inf
    return found


def descend(
    start: tuple[np.ndarray, np.ndarray, np.ndarray],
    eigenvalues: np.ndarray,
    pairs: int,
    rate: float,
    steps: int,
    gain: float = 1.0,
    drops: int | None = None,
) -> np.ndarray:
    """Steps at which half of each drop is done, of many starts at once, on all sequences there are: (start, drop).

    v (start, head), k and q (start, head, D); NaN where a drop does not come in so many steps. Descent of the
    expectation, where no closed form holds: after the first drop heads and directions have to do with each other. It
    ends with the first so many `drops` of all starts.
    """
    v, k, q = (np.array(each, float) for each in start)
    own, second, goals = eigenvalues, second_moment(eigenvalues, pairs), levels(eigenvalues, pairs)
    halves = ((goals[1:] + goals[:-1]) / 2)[:drops]
    found = np.full((len(v), len(halves)), np.nan)
    for step in range(steps):
        matrix = gain * np.einsum("sh,shd,she->sde", v, k, q, optimize=True)
        diagonal = np.einsum("sdd->sd", matrix)
        loss = own.sum() - 2 * diagonal @ own**2 + np.einsum("d,sde,e->s", second, matrix**2, own)
        there = (loss[:, None] <= halves) & np.isnan(found)
        if there.any():
            found[there] = step
            if not np.isnan(found).any():
                break
        pull = 2 * rate * gain * (np.diag(own**2) - second[:, None] * matrix * own)
        pulled = k @ pull
        v, k, q = (
            v + np.sum(pulled * q, axis=2),
            k + v[..., None] * (q @ np.swapaxes(pull, 1, 2)),
            q + v[..., None] * pulled,
        )
    return found
