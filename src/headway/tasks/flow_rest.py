"""Where one head of the gradient flow comes to rest on one feature with weight decay: without JAX, for claims, too."""

import numpy as np
from scipy import optimize


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
