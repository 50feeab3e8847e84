"""y* = W* x_T, x_t ~ N(0, I/d): T tokens of which B are x_T, and x_T is one fixed unit vector with probability p.

    d = 2, T = 5, B = 2:     x_1  x_2  x_3  x_T  x_T        y = W sum_t softmax(a)_t x_t

From W = 0, a = 0 the copies stay alike, and so do the other tokens: one gap Da between their logits is left.
"""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from headway.theory.problem import Numbers

Scalar = Float[Numbers, ""] | float
"""NumPy makes plain numbers of sums of arrays without axes."""


class Toy(eqx.Module):
    """d, T, B and p, as numbers: many toys make one program."""

    dimension: Scalar
    length: Scalar
    copies: Scalar
    repeated: Scalar
    shared: bool = eqx.field(static=True, default=False)
    """Whether the gap is itself the parameter (the slides' reduced flow) or each of the T logits is (a model)."""

    @property
    def others(self) -> Scalar:
        """T - B."""
        return self.length - self.copies

    @property
    def pull(self) -> Scalar:
        """How much faster the gap moves than one copy's share of the force: B if it is the parameter, else T/(T - B).

        The force on a copy's logit is alpha (1 - B alpha) F, and that on another token's -B/(T - B) of it, because
        forces on a softmax sum to zero. The gap of T logits moves by their difference, 1 + B/(T - B); a gap that all
        B copies share gets the forces on all of them.
        """
        return self.copies if self.shared else self.length / self.others

    @property
    def variances(self) -> tuple[Scalar, Scalar]:
        """s~ = p + (1-p)/d along the repeated vector, s = (1-p)/d along each of the d - 1 other directions."""
        other = (1 - self.repeated) / self.dimension
        return self.repeated + other, other

    @property
    def signal(self) -> Scalar:
        """r = sqrt(s~^2 + (d-1) s^2): how strongly x_T and y* are correlated; 1/sqrt(d) without repetition."""
        repeated, other = self.variances
        return jnp.sqrt(repeated**2 + (self.dimension - 1) * other**2)


def toy(dimension: int, length: int, copies: int = 1, repeated: float = 0.0, *, shared: bool = False) -> Toy:
    """A toy of these numbers, in double precision."""
    if not 1 <= copies < length:
        raise ValueError(f"{copies} copies among {length} tokens leave no other. Use between 1 and {length - 1}.")
    numbers = (np.float64(number) for number in (dimension, length, copies, repeated))
    return Toy(*map(np.asarray, numbers), shared=shared)


def toys(cases: Sequence[tuple[int, int, int, float]], *, shared: bool) -> list[Toy]:
    """One for each (d, T, B, p)."""
    return [toy(*case, shared=shared) for case in cases]


def focus(toy: Toy, gap: Scalar) -> Scalar:
    """B alpha = B / (B + (T - B) e^{-Da}): the attention on all copies together."""
    return toy.copies / (toy.copies + toy.others * jnp.exp(-gap))
