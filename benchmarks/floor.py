"""Least time that a step of a small transformer can take here: its products at the rate of one large product.

    PYTHONPATH=src python -m benchmarks.floor

Counted are the multiplications and additions in matrix products of the loss and its gradient, for one seed and one
step, as Headway writes the model. The rate is that of a float32 product of 1024 x 1024 matrices: by NumPy on one core,
times the number of cores, or by JAX on all of them, whichever is larger. Everything else of a step (softmax, norms, the
optimiser, drawing batches) takes no time here, so that no program that computes these products can be quicker.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.bench.machine import cores, describe
from headway.experiments import find
from headway.tasks.task import has_tokens, shape_of
from headway.training.problem import new_model

SIZE, ON_GPU = 1024, 8192
"""Of the product; a GPU needs a larger one to reach its rate."""
ROUNDS = 150


def operations(function: Callable[..., Any], *arguments: Any) -> int:
    """2 x multiplications of all matrix products that the function computes."""
    return sum(map(_of_product, _products(jax.make_jaxpr(function)(*arguments).jaxpr)))


def _products(jaxpr: Any) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            yield equation
        if equation.primitive.name in ("scan", "while"):
            raise NotImplementedError("a loop repeats its products a number of times that is not counted here.")
        for inner in jax.tree.leaves(list(equation.params.values()), is_leaf=lambda each: hasattr(each, "eqns")):
            if hasattr(inner, "eqns"):
                yield from _products(inner)
            elif hasattr(inner, "jaxpr"):
                yield from _products(inner.jaxpr)


def _of_product(equation: Any) -> int:
    (contracted, _), _ = equation.params["dimension_numbers"]
    depth = int(np.prod([equation.invars[0].aval.shape[axis] for axis in contracted]))
    return 2 * depth * int(np.prod(equation.outvars[0].aval.shape))


def of_step(settings: Any) -> int:
    """Of the mean cross-entropy of a batch, and its gradient; an n-gram model has a window for each prediction."""
    shape = shape_of(settings.task)
    windows = getattr(settings.task, "context", None) is not None
    count, predicted = (shape.predicted, 1) if windows else (1, shape.predicted)
    weights, static = eqx.partition(new_model(settings, jnp.asarray(0), settings.model.scale), eqx.is_inexact_array)
    rows = jnp.zeros((count * settings.training.batch, shape.reads), jnp.int32)
    if not has_tokens(settings.task):
        rows = jnp.zeros((*rows.shape, shape.inputs))

    def loss(weights: Any) -> Any:
        model = eqx.combine(weights, static)
        logits = jax.vmap(lambda row: model(row, predicted))(rows)
        return -jnp.mean(jax.nn.log_softmax(logits)[..., 0])

    return operations(jax.value_and_grad(loss), weights)


ONE_CORE = f"""
import sys, time, numpy
one = numpy.random.default_rng(0).standard_normal(({SIZE}, {SIZE})).astype("float32")
seconds = []
for _ in range(int(sys.argv[1])):
    start = time.perf_counter()
    one @ one
    seconds.append(time.perf_counter() - start)
print({2 * SIZE**3} / min(seconds))
"""


def rate_of_a_core(rounds: int) -> float:
    """Operations per second of a large product by NumPy with one thread, the best of several: others may be working."""
    alone = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    said = subprocess.run(
        [sys.executable, "-c", ONE_CORE, str(rounds)],
        env=os.environ | alone,
        check=True,
        capture_output=True,
        text=True,
    )
    return float(said.stdout)


def rate_of_jax(rounds: int) -> float:
    """The same by JAX on the whole device, in the arithmetic that is set."""
    size = SIZE if jax.devices()[0].platform == "cpu" else ON_GPU
    one = jnp.asarray(np.random.default_rng(0).standard_normal((size, size)), jnp.float32)
    product, seconds = jax.jit(jnp.matmul), []
    product(one, one).block_until_ready()
    for _ in range(rounds):
        start = time.perf_counter()
        product(one, one).block_until_ready()
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / min(seconds)


def rates(rounds: int = ROUNDS) -> dict[str, float]:
    """Operations per second of a large product on this device, by who computes it."""
    found = {"JAX": rate_of_jax(rounds)}
    if jax.devices()[0].platform == "cpu":
        found["NumPy, a core, times cores"] = cores() * rate_of_a_core(rounds)
    return found


def main() -> None:
    found_rates = rates()
    text, found = find("text").grids["paper"], {}
    for name in ("speeches, characters", "speeches, characters, MLP", "speeches, characters, 4 layers"):
        count = of_step(text[name])
        found[name] = {"operations": count, "milliseconds": 1000 * count / max(found_rates.values())}
    print(json.dumps({"machine": describe("cpu"), "operations_per_second": found_rates, "floor": found}, indent=1))


if __name__ == "__main__":
    main()
