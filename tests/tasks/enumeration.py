"""The tiny chain in full: every sequence and its probability, from the formula alone, in NumPy."""

from collections.abc import Iterable
from itertools import product

import numpy as np

from headway.tasks.chain import Chain, Features

TINY = {
    "singletons": Chain(vocab=3, blocks=((1,), (2,)), horizon=2, base=1.2, ratio=1.5),
    "unequal, mean": Chain(vocab=3, blocks=((1, 2), (3,)), horizon=2, base=1.2, ratio=1.5),
    "reversed, sum": Chain(vocab=3, blocks=((3,), (1, 2)), weighting="sum", horizon=2, base=0.8, ratio=1.5),
    "overlapping": Chain(vocab=3, blocks=((2, 3), (1, 2)), horizon=2, base=1.2, ratio=0.9),
    "overlapping, sum": Chain(
        vocab=3, blocks=((1, 2, 3), (2, 3), (3,)), weighting="sum", horizon=2, base=0.5, ratio=1.2
    ),
    "given": Chain(
        vocab=3,
        blocks=((2, 1), (3,)),
        weighting="given",
        weights=((0.7, 0.3), (-0.5,)),
        horizon=2,
        base=1.2,
    ),
    "an unused lag": Chain(vocab=3, blocks=((2,),), order=3, horizon=2, base=2.0),
    "orthogonal": Chain(vocab=3, blocks=((1,), (2,)), orthogonal=True, horizon=2, base=1.2),
}


def alpha(task: Chain, block: int, lag: int) -> float:
    """The weight of a lag within its block, as section 1 of the science says it."""
    if task.weighting == "given":
        return task.weights[block][task.blocks[block].index(lag)]
    return 1.0 if task.weighting == "sum" else 1 / len(task.blocks[block])


def softmax(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - logits.max())
    return raised / raised.sum()


def partial(task: Chain, world: Features, blocks: Iterable[int], past: tuple[int, ...]) -> np.ndarray:
    """f_S(past) = softmax( sum_{k in S} A_k sum_{i in I(k)} alpha_i x_{t-i} ), blocks from 0 on, the newest last."""
    logits = np.zeros(task.vocab)
    for k in blocks:
        for lag in task.blocks[k]:
            logits += alpha(task, k, lag) * np.asarray(world.matrices, np.float64)[k][:, past[-lag]]
    return softmax(logits)


def combinations(task: Chain) -> list[tuple[int, ...]]:
    """Every set of blocks, the binary number of its members counting up: (), (0,), (1,), (0, 1), (2,), .."""
    found: list[tuple[int, ...]] = [()]
    for block in range(len(task.blocks)):
        found += [(*smaller, block) for smaller in found]
    return found


def rung(task: Chain, world: Features, known: int, past: tuple[int, ...]) -> np.ndarray:
    """f_{1:known}(past)."""
    return partial(task, world, range(known), past)


def truth(task: Chain, world: Features, past: tuple[int, ...]) -> np.ndarray:
    return rung(task, world, len(task.blocks), past)


def all_sequences(task: Chain) -> list[tuple[int, ...]]:
    return list(product(range(task.vocab), repeat=task.start + task.horizon))


def probability(task: Chain, world: Features, sequence: tuple[int, ...]) -> float:
    """d^-w times the product of the conditionals."""
    result = task.vocab**-task.start
    for time in range(task.start, len(sequence)):
        result *= truth(task, world, sequence[:time])[sequence[time]]
    return result


def joint(task: Chain, world: Features) -> np.ndarray:
    """The probability of every sequence, in the order of `all_sequences`."""
    return np.array([probability(task, world, sequence) for sequence in all_sequences(task)])


def exact_entropy(task: Chain, world: Features) -> float:
    """Mean over the horizon of E[-log p(x_t | past)]; the starting tokens have log d each."""
    probabilities = joint(task, world)
    whole = -np.sum(probabilities * np.log(probabilities))
    return (whole - task.start * np.log(task.vocab)) / task.horizon
