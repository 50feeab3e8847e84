"""Training and test sets are drawn at once, and each is the one that its own key gives alone."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from headway.tasks.chain import Chain
from headway.tasks.in_context_chain import InContextChain
from headway.tasks.recall import Recall
from headway.tasks.task import functions_of, sets_of

TASKS = {
    "rows of the features": Chain(horizon=6),
    "products, of three lags": Chain(vocab=11, blocks=((1, 2, 3), (4, 5)), horizon=6),
    "products, not powers of two": Chain(
        vocab=9, blocks=((1, 2), (3,)), weighting="given", weights=((0.3, 0.5), (1.0,)), horizon=6
    ),
    "a world for each sequence": InContextChain(),
    "examples that are trees": Recall(),
}
COUNTS = 700, 60


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_sets_that_are_drawn_at_once_are_those_that_are_drawn_alone(task):
    functions = functions_of(task)
    keys = [jax.random.key(number) for number in (1, 2)]

    def alone(key, count):
        return jax.jit(lambda key: functions.samples(functions.world(jax.random.key(0)), key, count))(key)

    together = jax.jit(lambda keys: sets_of(task, functions.world(jax.random.key(0)), keys, COUNTS))(keys)
    for found, key, count in zip(together, keys, COUNTS, strict=True):
        jax.tree.map(np.testing.assert_array_equal, found, alone(key, count))


def test_a_task_that_draws_many_at_once_goes_on_to_do_so():
    class Counted(Chain):
        def samples(self, world, key, count):
            return jax.random.randint(key, (count, 3), 0, 9)

    keys = [jax.random.key(number) for number in (1, 2)]
    found = sets_of(Counted(), (), keys, COUNTS)
    for each, key, count in zip(found, keys, COUNTS, strict=True):
        np.testing.assert_array_equal(each, jax.random.randint(key, (count, 3), 0, 9))
