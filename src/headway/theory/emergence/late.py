"""After the plateau: w is at its best for the attention that there is, and attention alone has a way to go (p = 0).

    w*(S) = S sqrt d / (S^2 + (1-S)^2/(T-B)),   S = B alpha
    dDa/dt = (k/B) S^2 (1-S)^2 / ((T-B) (S^2 + (1-S)^2/(T-B))^2)

Towards the end S -> 1 this is dDa/dt = (k/B) (1-S)^2/(T-B), so that (1-S)^2 = B (T-B) / (2 k t) and the loss falls as
B / (4 k t): a power of time, whatever d and T are.
"""

from headway.theory.emergence.context import Pair
from headway.theory.emergence.toy import Scalar, Toy, focus


def best_value(toy: Toy, gap: Scalar) -> Scalar:
    """w*(S), where dw/dt = 0."""
    seen = focus(toy, gap)
    return seen * toy.dimension**0.5 / _spread(toy, seen)


def settled(toy: Toy, gap: Scalar) -> Pair:
    """w* and Da."""
    return Pair(best_value(toy, gap), gap)


def loss(toy: Toy, gap: Scalar) -> Scalar:
    """1/2 ((1-S)^2/(T-B)) / (S^2 + (1-S)^2/(T-B)): it does not depend on d."""
    seen = focus(toy, gap)
    return 0.5 * (1 - seen) ** 2 / (toy.others * _spread(toy, seen))


def flow(toy: Toy, gap: Scalar) -> Scalar:
    """dDa/dt of `context.flow` at w = w*."""
    seen = focus(toy, gap)
    return toy.pull / toy.copies * seen**2 * (1 - seen) ** 2 / (toy.others * _spread(toy, seen) ** 2)


def tail(toy: Toy, time: Scalar) -> Scalar:
    """B / (4 k t): the loss in the end."""
    return toy.copies / (4 * toy.pull * time)


def _spread(toy: Toy, seen: Scalar) -> Scalar:
    return seen**2 + (1 - seen) ** 2 / toy.others
