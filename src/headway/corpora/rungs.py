"""What simple predictors say at fixed stretches of text: (.., row, time, vocab), position t from the tokens before it.

The first position of a row has nothing before it: every predictor says the unigrams there. Rows woven from several
streams are taken apart, because only tokens of the same stream say something about each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from headway.analysis.ngrams import Ngrams, ngrams
from headway.corpora.cache import fit_strengths, with_cache

Array = np.ndarray
MOST = 20_000_000
"""Tokens that skip-grams are counted in, at most: one of every lag is counted, and pairs take three times the room."""


def orders(model: Ngrams, rows: Array) -> Array:
    """Every order of the n-grams: (order, row, time, vocab)."""
    first = np.log(model.unigrams).astype(np.float32)
    start = np.broadcast_to(first, (model.orders, len(rows), min(1, rows.shape[1]), model.vocab))
    if rows.shape[1] < 2:
        return np.array(start)
    return np.concatenate([start, model.log_probs(rows[:, :-1])], axis=2)


def woven(predict: Callable[[Array], Array], rows: Array, streams: int) -> Array:
    """A predictor of each of the streams that rows are woven from, token by token."""
    if streams == 1:
        return predict(rows)
    of_stream = [predict(rows[:, first::streams]) for first in range(streams)]
    *outer, _, vocab = of_stream[0].shape
    found = np.empty((*outer, rows.shape[1], vocab), np.float32)
    for first, said in enumerate(of_stream):
        found[..., first::streams, :] = said
    return found


def ladder(model: Ngrams, strengths: Sequence[float], rows: Array) -> Array:
    """Uniform, unigrams up to the highest order, and that with the cache: (rung, row, time, vocab)."""
    known = orders(model, rows)
    uniform = np.full((1, *known.shape[1:]), -np.log(model.vocab), np.float32)
    return np.concatenate([uniform, known, with_cache(known[-1], rows, strengths)[None]])


def cache_strengths(model: Ngrams, rows: Array) -> tuple[float, ...]:
    """Chosen on rows for tuning."""
    return fit_strengths(orders(model, rows)[-1], rows)


def skips(documents: Sequence[Array], vocab: int, lags: int, rows: Array) -> Array:
    """p(w | the token `lag` before it alone), lag 1 .. lags: (lag, row, time, vocab)."""
    documents = at_most(documents, MOST)
    found = []
    for lag in range(1, lags + 1):
        # Every lag-th token: neighbours among these are `lag` apart.
        model = ngrams([each[first::lag] for each in documents for first in range(min(lag, len(each)))], 2, vocab)
        found.append(woven(lambda own, model=model: orders(model, own)[-1], rows, lag))
    return np.stack(found)


def pairs(documents: Sequence[Array], model: Ngrams, lags: int, rows: Array) -> Array:
    """p(w | the token before it and the one `lag` before it), lag 2 .. lags: (lag - 1, row, time, vocab).

    Interpolated Kneser-Ney of rows of three tokens, the farthest first; where there is no farther one, bigrams.
    """
    documents = at_most(documents, MOST)
    near = orders(model, rows)[min(2, model.orders) - 1]
    found = []
    for lag in range(2, lags + 1):
        triples = [np.stack([each[:-lag], each[lag - 1 : -1], each[lag:]], axis=1) for each in documents]
        counted = ngrams(np.concatenate([each for each in triples if len(each)]), 3, model.vocab)
        said = near.copy()
        contexts = np.stack([rows[:, :-lag], rows[:, lag - 1 : -1]], axis=-1)
        said[:, lag:] = counted.log_probs(contexts.reshape(-1, 2))[-1, :, 1].reshape(said[:, lag:].shape)
        found.append(said)
    return np.stack(found)


def information(model: Ngrams, documents: Sequence[Array], length: int, most: int = 1_000_000) -> Array:
    """I(w; lag i | the nearer lags) as held-out loss of order i minus that of order i + 1, in nats: (orders - 1,).

    Over pieces of `length` tokens of at most so many tokens.
    """
    documents = at_most(documents, most)
    pieces = [each[: len(each) // length * length].reshape(-1, length) for each in documents]
    losses = -model.log_prob_next(np.concatenate(pieces))[:, :, model.orders - 1 :].mean(axis=(1, 2))
    return losses[:-1] - losses[1:]


def at_most(documents: Sequence[Array], tokens: int) -> list[Array]:
    """The first documents, the last of them cut, that have so many tokens."""
    found, room = [], tokens
    for document in documents:
        if room <= 0:
            break
        found.append(document[:room])
        room -= len(document)
    return found
