"""The tiny chain in full: every sequence and its probability, from the formula alone, in NumPy."""

from collections.abc import Iterable
from itertools import product

import numpy as np
from headway.tasks.markov import MarkovChain

from headway.tasks.chain import Chain

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


def alpha(settings: Chain, block: int, lag: int) -> float:
    """The weight of a lag within its block, as section 1 of the science says it."""
    if settings.weighting == "given":
        return settings.weights[block][settings.blocks[block].index(lag)]
    return 1.0 if settings.weighting == "sum" else 1 / len(settings.blocks[block])


def softmax(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - logits.max())
    return raised / raised.sum()


def partial(settings: Chain, chain: MarkovChain, blocks: Iterable[int], past: tuple[int, ...]) -> np.ndarray:
    """f_S(past) = softmax( sum_{k in S} A_k sum_{i in I(k)} alpha_i x_{t-i} ), blocks from 0 on, the newest last."""
    logits = np.zeros(settings.tokens)
    for k in blocks:
        for lag in settings.blocks[k]:
            logits += alpha(settings, k, lag) * np.asarray(chain.features, np.float64)[k][:, past[-lag]]
    return softmax(logits)


def combinations(settings: Chain) -> list[tuple[int, ...]]:
    """Every set of blocks, the binary number of its members counting up: (), (0,), (1,), (0, 1), (2,), .."""
    found: list[tuple[int, ...]] = [()]
    for block in range(len(settings.blocks)):
        found += [(*smaller, block) for smaller in found]
    return found


def rung(settings: Chain, chain: MarkovChain, known: int, past: tuple[int, ...]) -> np.ndarray:
    """f_{1:known}(past)."""
    return partial(settings, chain, range(known), past)


def truth(settings: Chain, chain: MarkovChain, past: tuple[int, ...]) -> np.ndarray:
    return rung(settings, chain, len(settings.blocks), past)


def all_sequences(settings: Chain) -> list[tuple[int, ...]]:
    return list(product(range(settings.tokens), repeat=settings.start + settings.horizon))


def probability(settings: Chain, chain: MarkovChain, sequence: tuple[int, ...]) -> float:
    """d^-w times the product of the conditionals."""
    result = settings.tokens**-settings.start
    for time in range(settings.start, len(sequence)):
        result *= truth(settings, chain, sequence[:time])[sequence[time]]
    return result


def joint(settings: Chain, chain: MarkovChain) -> np.ndarray:
    """The probability of every sequence, in the order of `all_sequences`."""
    return np.array([probability(settings, chain, sequence) for sequence in all_sequences(settings)])


def exact_entropy(settings: Chain, chain: MarkovChain) -> float:
    """Mean over the horizon of E[-log p(x_t | past)]; the starting tokens have log d each."""
    probabilities = joint(settings, chain)
    whole = -np.sum(probabilities * np.log(probabilities))
    return (whole - settings.start * np.log(settings.tokens)) / settings.horizon
