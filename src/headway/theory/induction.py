"""How the minimal model of statistical induction starts: exact first pushes on W and on v, from moments of the chain.

    y_i = sum_{j <= i} softmax(v_{i-j}) e_{x_j},    logits_t = sum_{i <= t} (e_{x_t}^T W y_i) e_{x_i}

With v = 0 and nearly uniform predictions, long sequences push W_ab by (T/2) E[pi_a pi_b (<P_a, pi> - 1/k)]: more where
a = b, since P_a and pi are alike. Once W = w I, they push v_d by w H E[sum_a pi_a^2 (<P_a, (P^d)_a> - 1/k)] up to a
constant that all d share, which softmax does not see: most at d = 1, and more at odd d than at their even neighbours.
Where the model predicts frequencies already, they take the place of 1/k, and d = 0 is pushed least.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from jaxtyping import Float

DRAWN = 200_000
"""Matrices over which the moments are averaged."""


def matrices(states: int, drawn: int = DRAWN, seed: int = 0) -> Float[np.ndarray, "drawn states states"]:
    """P with rows ~ Dir(1, .., 1)."""
    return np.random.default_rng(seed).dirichlet(np.ones(states), (drawn, states))


def stationary(P: Float[np.ndarray, "drawn states states"]) -> Float[np.ndarray, "drawn states"]:
    """pi = pi P."""
    states = P.shape[-1]
    system = np.eye(states) - np.swapaxes(P, 1, 2) + 1
    return np.linalg.solve(system, np.ones((len(P), states, 1)))[..., 0]


def first_push_on_gains(P: Float[np.ndarray, "drawn states states"]) -> Float[np.ndarray, "states states"]:
    """E[pi_a pi_b (<P_a, pi> - 1/k)], to which the first step of W_ab is proportional; 0 if P is doubly stochastic."""
    pi, states = stationary(P), P.shape[-1]
    agreement = np.einsum("nas,ns->na", P, pi) - 1 / states
    return np.einsum("na,nb,na->ab", pi, pi, agreement) / len(P)


def shape_of_codes(
    P: Float[np.ndarray, "drawn states states"], distances: int, predicted: Literal["uniform", "unigram"] = "uniform"
) -> Float[np.ndarray, " {distances}"]:
    """E[sum_a pi_a^2 (<P_a, (P^d)_a> - 1/k)] for d = 0 .. distances - 1; with <pi, (P^d)_a> for 1/k where the model
    predicts the unigram already, as on the plateau.
    """
    pi, states = stationary(P), P.shape[-1]
    power, found = np.broadcast_to(np.eye(states), P.shape), []
    for _ in range(distances):
        guessed = 1 / states if predicted == "uniform" else np.einsum("ns,nas->na", pi, power)
        agreement = np.einsum("nas,nas->na", P, power) - guessed
        found.append(float(np.mean(np.sum(pi**2 * agreement, axis=1))))
        power = power @ P
    return np.array(found)


def gains_at_first(
    steps: Float[np.ndarray, " step"], push: Float[np.ndarray, "states states"], start: float, rate: float, length: int
) -> Float[np.ndarray, "step states states"]:
    """W_ab = start + rate (T/2) push_ab step: as long as predictions are nearly uniform."""
    return start + rate * length / 2 * steps[:, None, None] * push


def codes_at_first(
    shape: Float[np.ndarray, " distance"], gain: float, rate: float, length: int
) -> Float[np.ndarray, " distance"]:
    """One step of v_d with W = gain I, less the mean over the distances shown: rate gain H shape_d.

    H = mean over t of sum_{i <= t} 1/i: a code shares the attention with i others.
    """
    weight = sum(math.fsum(1 / i for i in range(1, t + 1)) for t in range(1, length + 1)) / length
    step = rate * gain * weight * shape
    return step - step.mean()
