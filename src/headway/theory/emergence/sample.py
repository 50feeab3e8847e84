"""The three-variable flow: x_T is one fixed unit vector with probability p, and W learns it faster than the rest.

w~ and w are the parts of W along W* on the repeated vector and on the other d - 1 directions. W* is orthogonal, so
that they aim at 1 and sqrt(d - 1). With p = 0 both obey one equation, and (w~^2 + w^2)^(1/2) is the w of `context`.
"""

from typing import NamedTuple

from headway.theory.emergence.toy import Scalar, Toy, focus


class Triple(NamedTuple):
    """w~, w and Da."""

    repeated: Scalar
    other: Scalar
    gap: Scalar


def loss(toy: Toy, state: Triple) -> Scalar:
    """1/2 [ (1 - B alpha)^2 (w^2 + w~^2)/(d (T-B)) + s~ (B alpha w~ - 1)^2 + s (B alpha w - sqrt(d-1))^2 ]."""
    return _loss(toy, state, *toy.variances)


def tested(toy: Toy, state: Triple) -> Scalar:
    """The same loss on samples without repetition: s~ = s = 1/d."""
    return _loss(toy, state, 1 / toy.dimension, 1 / toy.dimension)


def _loss(toy: Toy, state: Triple, along: Scalar, across: Scalar) -> Scalar:
    seen = focus(toy, state.gap)
    noise = (1 - seen) ** 2 * (state.repeated**2 + state.other**2) / (toy.dimension * toy.others)
    aim = (toy.dimension - 1) ** 0.5
    return 0.5 * (noise + along * (seen * state.repeated - 1) ** 2 + across * (seen * state.other - aim) ** 2)


def flow(toy: Toy, state: Triple) -> Triple:
    """dw~/dt = B alpha s~ (1 - B alpha w~) - (1 - B alpha)^2 w~ / (d (T-B)), dw/dt alike with s and sqrt(d-1),
    dDa/dt = k alpha (1 - B alpha) [ s~ w~ (1 - B alpha w~) + s w (sqrt(d-1) - B alpha w)
                                     + (1 - B alpha)(w^2 + w~^2)/(d (T-B)) ].
    """
    seen = focus(toy, state.gap)
    along, across = toy.variances
    on_repeated = along * (1 - seen * state.repeated)
    on_other = across * ((toy.dimension - 1) ** 0.5 - seen * state.other)
    leak = (1 - seen) / (toy.dimension * toy.others)
    force = state.repeated * on_repeated + state.other * on_other + leak * (state.repeated**2 + state.other**2)
    return Triple(
        repeated=seen * on_repeated - (1 - seen) * leak * state.repeated,
        other=seen * on_other - (1 - seen) * leak * state.other,
        gap=toy.pull * seen / toy.copies * (1 - seen) * force,
    )
