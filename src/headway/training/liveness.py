"""Bytes alive = the largest sum, over the equations of a traced function, of results that are made and still needed.

Equations are taken in their order and one by one. A compiler joins some and reorders others: what XLA takes for drawing
samples was measured to be 0.7 to 1.2 times as much.
"""

import math
from collections.abc import Iterator
from typing import Any


def bytes_alive(jaxpr: Any) -> int:
    """Of everything that a jaxpr computes, its results included and its arguments not."""
    last = {each: place for place, equation in enumerate(jaxpr.eqns) for each in _variables(equation.invars)}
    last |= dict.fromkeys(_variables(jaxpr.outvars), len(jaxpr.eqns))
    held: dict[Any, int] = {}
    most = 0
    for place, equation in enumerate(jaxpr.eqns):
        inside = max(map(bytes_alive, inner(equation)), default=0)
        made = {each: _bytes(each) for each in equation.outvars}
        most = max(most, sum(held.values()) + max(inside, sum(made.values())))
        held = {each: size for each, size in (held | made).items() if last.get(each, -1) > place}
    return most


def _variables(found: Any) -> list[Any]:
    """Without literals, which are part of the code."""
    return [each for each in found if not hasattr(each, "val")]


def inner(equation: Any) -> Iterator[Any]:
    """What it calls: the body of a loop, a function of its own."""
    for value in equation.params.values():
        for each in value if isinstance(value, (tuple, list)) else (value,):
            inner = getattr(each, "jaxpr", each)
            if hasattr(inner, "eqns"):
                yield inner


def _bytes(variable: Any) -> int:
    """Keys of random numbers have a type of their own; what has no shape takes nothing."""
    shape, kind = getattr(variable.aval, "shape", None), getattr(variable.aval, "dtype", None)
    return 0 if shape is None else math.prod(shape) * getattr(kind, "itemsize", 8)
