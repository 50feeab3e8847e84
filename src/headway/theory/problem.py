"""y* = sum_k m_k V_k* X s_k*: what is to be learned, as the tensor G = sum_k m_k V_k* (x) s_k*."""

from typing import Literal, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from headway.tasks.feature_draws import random_features as random_features

Numbers = jax.Array | np.ndarray


class State(NamedTuple):
    """V_k and s_k, one row a head; without the leading axis, one head (or heads that are all alike)."""

    values: Float[Numbers, "*head size"]
    attention: Float[Numbers, "*head position"]


class Problem(eqx.Module):
    """G = sum_k strengths[k] features[k] (x) e_{k}: feature k sits at position k, the other positions at the end.

        position:   0    1    2    3  4  5 ..
        holds:     m_1  m_2  m_3   nothing        (three features)

    A V is a vector of `size` numbers: a d x d matrix written out, or its coordinates in the span of the features.
    The flow sees the features only through inner products, so both are the same mathematics. Where features sit
    does not matter either: renaming the positions renames the entries of every s and changes nothing else.
    """

    strengths: Float[Numbers, " feature"]
    """m_1 > m_2 > .. > 0."""
    features: Float[Numbers, "feature size"]
    """V_k*, orthonormal: <V_i*, V_j*> = tr(V_i*^T V_j*) = 1 if i = j, else 0."""
    copies: Float[Numbers, " position"]
    """How many positions an entry of s stands for: 1, unless positions that are alike were merged."""
    heads: int = eqx.field(static=True)
    """H. The paper writes h for it and for the number of features."""
    projections: Literal[1, 2] = eqx.field(static=True, default=2)
    """How often Pi(s) is applied in ds/dt: 2 in the paper's equation (6), 1 in the simulation of its figure 10."""

    def __check_init__(self) -> None:
        strengths, features, copies = (np.asarray(part) for part in (self.strengths, self.features, self.copies))
        if any(part.dtype != np.float64 for part in (strengths, features, copies)):
            kinds = ", ".join(str(part.dtype) for part in (strengths, features, copies))
            raise TypeError(f"the flow needs float64 and got {kinds}. Make the arrays with NumPy, or under enable_x64.")
        if not np.all(np.diff(strengths) < 0) or not strengths[-1] > 0:
            raise ValueError(
                f"the strengths are {strengths.tolist()}, but the flow's stages are named by strength: give positive "
                "strengths, the largest first, no two alike."
            )
        if len(strengths) > len(copies):
            raise ValueError(
                f"{len(strengths)} features do not fit on {len(copies)} positions. Use a length of at least "
                f"{len(strengths)}, or fewer strengths."
            )
        if not np.all(copies[: len(strengths)] == 1):
            raise ValueError(
                f"a position that holds a feature stands for {copies[: len(strengths)].tolist()} positions. "
                "Merge only positions that hold none."
            )
        error = np.abs(features @ features.T - np.eye(len(features))).max()
        if not error < 1e-10:
            raise ValueError(
                f"the features' inner products differ from the identity by {error:.1e}. Orthonormal features are "
                "assumed (paper A, Assumption 2): make them with `random_features`."
            )
        if self.heads < 1:
            raise ValueError(f"there are {self.heads} heads. Give at least one.")

    @property
    def count(self) -> int:
        """h: how many features there are."""
        return self.features.shape[0]

    @property
    def size(self) -> int:
        """Numbers in one V."""
        return self.features.shape[1]

    @property
    def length(self) -> int:
        """Entries of one s: T, or fewer if positions were merged."""
        return self.copies.shape[0]


def geometric(count: int, ratio: float, base: float = 1.0) -> Float[np.ndarray, " feature"]:
    """m_k = ratio^(count - k) base, k = 1 .. count."""
    return base * float(ratio) ** np.arange(count - 1, -1, -1, dtype=np.float64)


def full_problem(
    strengths: Float[np.ndarray, " feature"],
    *,
    length: int,
    dimension: int,
    heads: int | None = None,
    projections: Literal[1, 2] = 2,
    seed: int = 0,
) -> Problem:
    """The problem on V_k in R^{d x d} with random orthonormal features; as many heads as features unless given."""
    return Problem(
        strengths=strengths,
        features=random_features(seed, len(strengths), dimension),
        copies=np.ones(length),
        heads=heads or len(strengths),
        projections=projections,
    )


def reduced_problem(
    strengths: Float[np.ndarray, " feature"],
    *,
    length: int,
    heads: int | None = None,
    projections: Literal[1, 2] = 2,
) -> Problem:
    """The same in coordinates V_k = sum_j c_kj V_j*: the features become the unit vectors, and d is gone."""
    return Problem(
        strengths=strengths,
        features=np.eye(len(strengths)),
        copies=np.ones(length),
        heads=heads or len(strengths),
        projections=projections,
    )
