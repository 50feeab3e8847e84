"""The two-variable flow: w = <W, W*> / ||W*|| and the gap Da, with B copies in the context (section 6, p = 0)."""

from typing import NamedTuple

from headway.theory.emergence.toy import Scalar, Toy, focus


class Pair(NamedTuple):
    """w and Da."""

    value: Scalar
    gap: Scalar


def loss(toy: Toy, state: Pair) -> Scalar:
    """1/2 [ (1 - B alpha)^2 w^2 / (d (T-B)) + (B alpha w - sqrt d)^2 / d ]."""
    d, w, seen = toy.dimension, state.value, focus(toy, state.gap)
    return 0.5 * ((1 - seen) ** 2 * w**2 / (d * toy.others) + (seen * w - d**0.5) ** 2 / d)


def flow(toy: Toy, state: Pair) -> Pair:
    """dw/dt  = B alpha (sqrt d - B alpha w)/d - (1 - B alpha)^2 w / (d (T-B)),
    dDa/dt = k alpha (1 - B alpha) [ w (sqrt d - B alpha w)/d + (1 - B alpha) w^2 / (d (T-B)) ],  k = `toy.pull`.

    k = B is the flow of the slides, gradient descent on Da; k = T/(T-B) is gradient descent on the T logits.
    """
    d, w, seen = toy.dimension, state.value, focus(toy, state.gap)
    missing = (d**0.5 - seen * w) / d
    noise = (1 - seen) * w / (d * toy.others)
    return Pair(
        value=seen * missing - (1 - seen) * noise,
        gap=toy.pull * seen / toy.copies * (1 - seen) * w * (missing + noise),
    )
