"""Which order of the blocks a model's distances fit best, where none is known beforehand."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from headway.analysis.arrays import of_any_arrays

Array = np.ndarray


@of_any_arrays
def arrival_order(kl_subsets: Array) -> tuple[int, ...]:
    """The order of blocks whose partial predictors the model came nearest to: blocks are counted from 1.

    kl_subsets is (time, 2^h): KL(f_S || model) for every combination S of blocks, block k + 1 in S if bit k is set.
    For an order p the sum over i < h of min_t KL(f_{p(1) .. p(i)} || model) is formed; the smallest wins. All blocks
    and none are common to all orders and do not count. With a value missing the order is ().
    """
    count = int(np.shape(kl_subsets)[1]).bit_length() - 1
    if np.shape(kl_subsets)[1] != 2**count:
        raise ValueError(f"got {np.shape(kl_subsets)[1]} combinations of blocks, but h blocks have 2^h. Pass them all.")
    nearest = np.min(kl_subsets, axis=0)
    if not np.isfinite(nearest).all():
        return ()

    def distance(order: tuple[int, ...]) -> float:
        known = np.cumsum([2**block for block in order[:-1]]) if count > 1 else []
        return float(sum(nearest[subset] for subset in known))

    best = min(permutations(range(count)), key=distance)
    return tuple(block + 1 for block in best)
