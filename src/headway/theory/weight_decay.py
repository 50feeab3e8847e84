"""dV_k/dt = (G - P) s_k - lambda V_k, dq_k/dt = Pi(s_k)^(n-1) V_k^T (G - P) - lambda q_k: the flow with weight decay.

What descends on 1/2 ||G - P||^2 with weight decay lambda on values and logits follows it (n = 2). Adding a constant to
all logits of a head changes no attention, and decays on its own.
"""

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from headway.theory.flow import logits
from headway.theory.problem import Problem, State
from headway.theory.solve import Field


@dataclass(frozen=True)
class Decayed:
    """The flow in logits with this decay; two of the same decay are one to what is compiled for them."""

    decay: float

    def __call__(self, problem: Problem, state: State) -> State:
        moved = logits(problem, state)
        return State(moved.values - self.decay * state.values, moved.attention - self.decay * state.attention)


def logits_with(decay: float) -> Field:
    """`flow.logits`, unless something decays."""
    return Decayed(decay) if decay else logits


def settled_loss(strength: float, decay: float, length: int) -> float:
    """1/2 (m - v s)^2 + 1/2 v^2 r^2, r^2 = (1 - s)^2 / (T - 1): what is left where one head has settled on one feature.

    The head minimises that and lambda/2 (v^2 + |q|^2), |q|^2 = D^2 (T - 1) / T with D the gap of its logits, so
    v = m s / (s^2 + r^2 + lambda). For small lambda the gap obeys D e^{2 D} = m^2 T / lambda, and the loss is
    lambda D / 2 (T - 1) / T. What heads leave at each other's positions is neglected. Gradient flow ends there: Pi
    twice.
    """
    others = length - 1

    def parts(gap: float) -> tuple[float, float]:
        s = 1 / (1 + others * np.exp(-gap))
        spread = (1 - s) ** 2 / others
        v = strength * s / (s * s + spread + decay)
        loss = 0.5 * (strength - v * s) ** 2 + 0.5 * v * v * spread
        return loss, loss + 0.5 * decay * (v * v + gap * gap * others / length)

    # There may be two minima, a sharp one and one near even attention.
    gaps = np.linspace(0.0, 40.0, 401)
    lowest = gaps[int(np.argmin([parts(gap)[1] for gap in gaps]))]
    found = optimize.minimize_scalar(lambda gap: parts(gap)[1], bounds=(max(lowest - 0.1, 0), lowest + 0.1))
    return float(parts(float(found.x))[0])
