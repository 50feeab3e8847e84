"""In which order blocks arrived, from how near a model came to every combination of them."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.analysis import arrival_order


def passing(order: tuple[int, ...], far: float = 1.0, near: float = 0.1) -> np.ndarray:
    """KL over 2^h combinations at h + 1 times, for a model that has taken in one more block at each: near to what it
    knows then, far from the rest."""
    kl = np.full((len(order) + 1, 2 ** len(order)), far)
    known = 0
    for time, block in enumerate((None, *order)):
        known += 0 if block is None else 2 ** (block - 1)
        kl[time, known] = near
    return kl


@pytest.mark.parametrize("order", [order for count in (1, 2, 3, 4) for order in permutations(range(1, count + 1))])
def test_the_order_is_the_one_on_whose_way_the_model_passed(order):
    assert arrival_order(passing(order)) == order


@given(st.permutations((1, 2, 3)), st.integers(0, 2**32 - 1))
def test_when_it_passed_does_not_matter(order, seed):
    """The nearest approach over all times counts: the rows may come in any order and any number."""
    rows = np.random.default_rng(seed).integers(0, 4, 12)
    kl = passing(tuple(order))
    assert arrival_order(np.concatenate([kl, kl[rows]])[::-1]) == tuple(order)


def test_all_blocks_and_none_say_nothing_about_the_order():
    kl = passing((2, 3, 1))
    kl[:, [0, 7]] = 50.0
    assert arrival_order(kl) == (2, 3, 1)


def test_the_whole_way_counts_and_not_its_first_step():
    """Nearest of the single blocks is 1, by a hair; but only from 3 the way goes on."""
    kl = np.full((1, 8), 1.0)
    kl[0, [0b001, 0b100]] = 0.10, 0.11
    kl[0, 0b110] = 0.1
    assert arrival_order(kl) == (3, 2, 1)


def test_with_a_value_missing_the_order_is_unknown():
    kl = passing((1, 2, 3))
    kl[2, 5] = np.nan
    assert arrival_order(kl) == ()
    assert arrival_order(np.full((4, 8), np.inf)) == ()


@pytest.mark.parametrize("combinations", [3, 6, 7])
def test_combinations_that_are_not_all_there_are_refused_with_a_remedy(combinations):
    with pytest.raises(ValueError, match=rf"got {combinations} combinations of blocks, but h blocks have 2\^h"):
        arrival_order(np.ones((5, combinations)))
