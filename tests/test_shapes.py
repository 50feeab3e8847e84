"""Shapes and types are checked while tests run: a wrong one is an error, wherever it is promised."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from jaxtyping import Float
from tests.shapes import checked, jaxtyped_where_annotated

from headway.training.chunks import chunk_size

Row = Float[np.ndarray, " token"]


def _checked(function):
    """As the import hook writes it."""
    return jaxtyped_where_annotated(typechecker=checked)(function)


@_checked
def _sum(first: Row, second: Row) -> Row:
    return first + second


@_checked
def _first(of: Float[np.ndarray, "row token"]) -> Float[np.ndarray, " row"]:
    return of[0]


@_checked
def _of_size(size: int) -> Float[np.ndarray, "{size}"]:
    return np.zeros(3)


@_checked
def _texts(count: int) -> Iterator[str]:
    yield from ["a"] * count


@_checked
def _mean(*, weight: "Weight", share: float = 0.5) -> float:
    return float(weight * share)


Weight = int  # Named before it is there, as a name for the type checker alone never is.


@_checked
@dataclass(frozen=True)
class _Pair:
    first: Row
    second: Row


class _Methods:
    @_checked
    @classmethod
    def made(cls, size: int) -> "_Methods":
        return cls()

    @_checked
    @staticmethod
    def doubled(size: int) -> int:
        return 2 * size

    @property
    def wrong(self) -> int:
        return "no number"  # ty: ignore[invalid-return-type]

    wrong = _checked(wrong)


TWO, THREE = np.zeros(2), np.zeros(3)
WRONG = {
    "axes of one name that differ": lambda: _sum(TWO, THREE),
    "another number of axes": lambda: _sum(np.zeros((2, 2)), TWO),
    "another type of number": lambda: _sum(TWO.astype(int), TWO),
    "what is returned, of another size": lambda: _first(np.zeros((2, 3))),
    "what is returned, against a size that was given": lambda: _of_size(4),
    "an argument of a generator": lambda: next(_texts("2")),  # ty: ignore[invalid-argument-type]
    "an argument by its name": lambda: _mean(weight=0.5),  # ty: ignore[invalid-argument-type]
    "fields that differ": lambda: _Pair(TWO, THREE),
    "a field of another type": lambda: _Pair(TWO, 3),  # ty: ignore[invalid-argument-type]
    "a class's method": lambda: _Methods.made("2"),
    "a method of nobody": lambda: _Methods.doubled("2"),
    "a property": lambda: _Methods().wrong,
    "a function of Headway": lambda: chunk_size("3", 4, 5),  # ty: ignore[invalid-argument-type]
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_what_breaks_a_promise_is_an_error(call):
    with pytest.raises(Exception, match=r"(?i)type") as failed:
        call()
    assert type(failed.value).__module__.split(".")[0] in ("beartype", "jaxtyping")


def test_what_keeps_all_promises_passes():
    assert _sum(TWO, TWO).shape == (2,)
    assert _sum(THREE, THREE).shape == (3,), "the sizes of one call do not bind the next"
    assert _first(np.zeros((2, 2))).shape == (2,)
    assert _of_size(3).shape == (3,)
    assert list(_texts(2)) == ["a", "a"]
    assert _mean(weight=2, share=1) == 2.0, "a whole number is a float, too"
    assert (_Pair(TWO, TWO).first == 0).all()
    assert isinstance(_Methods.made(2), _Methods)
    assert _Methods.doubled(2) == 4


def test_a_function_that_promises_nothing_is_left_as_it_is():
    def anything(at_all):
        return at_all

    assert _checked(anything) is anything
