"""How long the start lasts: the linearised flow, its escape time, and the closed form of the whole plateau.

While attention is small, B alpha << 1, nothing saturates: with dtau = alpha dt the values grow as W = tau B r, and

    dDa/dtau = k B r^2 tau,    so    Da = k B (r tau)^2 / 2    and    alpha = e^{Da} / T

blows up after the time

    t* = int dtau / alpha = T int_0^inf e^{-k B (r tau)^2 / 2} dtau = sqrt(pi/2) T / (r sqrt(k B))

that is sqrt(pi/2) sqrt(d) T / B for the slides' flow (k = B) and sqrt(pi/2) sqrt(d) T / sqrt(B) for T logits (k ~ 1).
Along the way Z^2 = 2 (B/k) Da, Z the length of the values: W moves first, and attention follows its square.
"""

import jax.numpy as jnp
from jaxtyping import Float

from headway.theory.emergence.sample import Triple
from headway.theory.emergence.toy import Scalar, Toy
from headway.theory.problem import Numbers


def rate(toy: Toy) -> Scalar:
    """l = r sqrt(k B) / T: B / (sqrt d T) for the slides' flow without cross-sample repetition."""
    return toy.signal * jnp.sqrt(toy.pull * toy.copies) / toy.length


def published_rate(toy: Toy) -> Scalar:
    """sqrt(p^2 d + (1-p)^2) / (sqrt d T): without the cross term 2 p (1-p)/d that r^2 has, and for B = 1."""
    p = toy.repeated
    return jnp.sqrt(p**2 * toy.dimension + (1 - p) ** 2) / (jnp.sqrt(toy.dimension) * toy.length)


def plateau(toy: Toy) -> Scalar:
    """t* = sqrt(pi/2) / l: when attention blows up, if nothing saturates before."""
    return jnp.sqrt(jnp.pi / 2) / rate(toy)


def delay(toy: Toy) -> Scalar:
    """(1 - pi/4) T / (k B d r^2): how much later the plateau ends because other tokens take from W, to first order.

    They slow Z by Z/(d T). That is dZ/dDa = (B/k)/Z (1 - Z e^{-Da} / (B d r)) instead of (B/k)/Z, and with
    Z^2 = 2 (B/k) u in the small term t* grows by T/(k B d r^2) times 1/2 int e^{-u} u^{-3/2} gamma(3/2, u) du.
    Without repetition the plateau lasts sqrt(pi/2) sqrt(d) T + (1 - pi/4) T: the power of d is a little below 1/2.
    """
    return (1 - jnp.pi / 4) * toy.length / (toy.pull * toy.copies * toy.dimension * toy.signal**2)


def linearised(toy: Toy, time: Float[Numbers, "..."]) -> Triple:
    """Z = sqrt(B/k) sinh(l t), Da = cosh(l t) - 1, with w~ = s~ Z / r and w = s sqrt(d-1) Z / r."""
    grown = jnp.sqrt(toy.copies / toy.pull) * jnp.sinh(rate(toy) * time) / toy.signal
    along, across = toy.variances
    return Triple(along * grown, across * jnp.sqrt(toy.dimension - 1) * grown, jnp.cosh(rate(toy) * time) - 1)


def linearised_loss(toy: Toy, time: Float[Numbers, "..."]) -> Float[Numbers, "..."]:
    """1/2 - (B r / T) Z (1 + Da) = 1/2 - (B r / 2T) sqrt(B/k) sinh(2 l t), of which the escape time is made."""
    size = toy.copies * toy.signal / toy.length * jnp.sqrt(toy.copies / toy.pull)
    return 0.5 - 0.5 * size * jnp.sinh(2 * rate(toy) * time)


def escape_time(toy: Toy, share: float = 0.8) -> Scalar:
    """T_eps = arcsinh(eps (T / (B r)) sqrt(k/B)) / (2 l): when the linearised loss has fallen by the share eps.

    (sqrt d T / 2B) arcsinh(eps sqrt d T / B) for the slides' flow without cross-sample repetition.
    """
    size = toy.copies * toy.signal / toy.length * jnp.sqrt(toy.copies / toy.pull)
    return jnp.arcsinh(share / size) / (2 * rate(toy))
