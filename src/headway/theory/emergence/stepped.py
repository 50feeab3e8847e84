"""dy/dt = f - (eta/2) f' f: what gradient descent in steps of eta follows, to the order after the flow's.

A step y + eta f(y) is where this flow is after the time eta, up to eta^3. On a plateau that is left by growing, descent
therefore lags behind f by some steps: in one dimension by 1/2 int f' dt = 1/2 log(f(t) / f(0)), whatever eta is.
"""

import equinox as eqx
import jax
import numpy as np

from headway.theory.emergence import escape, sample
from headway.theory.emergence.sample import Triple
from headway.theory.emergence.toy import Scalar, Toy
from headway.theory.solve import crossings


class Stepped(eqx.Module):
    """A toy, and eta."""

    toy: Toy
    rate: Scalar


def flow(stepped: Stepped, state: Triple) -> Triple:
    """f - (eta/2) f' f."""
    speed, turn = jax.jvp(lambda state: sample.flow(stepped.toy, state), (state,), (sample.flow(stepped.toy, state),))
    return jax.tree.map(lambda first, second: first - stepped.rate / 2 * second, speed, turn)


def steps(toy: Toy, rate: float, *, threshold: float, longest: float) -> float:
    """How many steps, not rounded, until the loss without repetition is at the threshold; infinite if too many."""
    start = Triple(*(np.zeros(1) for _ in Triple._fields))
    stepped = Stepped(toy, np.float64(rate))
    time = crossings(_in_plateaus, _tested, stepped, start, np.array([threshold]), end=longest)[0, 0]
    with jax.enable_x64(True):
        return float(time * escape.plateau(toy) / rate)


def _in_plateaus(stepped: Stepped, state: Triple) -> Triple:
    """In units of the plateau's closed form, so that a solver has the same work with every toy."""
    return jax.tree.map(lambda speed: escape.plateau(stepped.toy) * speed, flow(stepped, state))


def _tested(stepped: Stepped, state: Triple) -> Scalar:
    return sample.tested(stepped.toy, state)
