"""All that a program trained on text is given, the same for every member: tokens, probe, and its ladder."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from headway.analysis.ngrams import Ngrams, ngrams
from headway.corpora import rungs
from headway.corpora.texts import parts_of, size_of
from headway.corpora.tokens import SPELT, Tokens, code_points, shuffled, smallest, tokens_of
from headway.settings.checks import require

Array = np.ndarray
TUNING_ROWS = 32
"""Stretches of text on which the cache's strengths are chosen."""


class TextArrays(NamedTuple):
    """One text, tokenised, with its ladder at the probe's positions."""

    tokens: Array
    """Training documents one after the other, (token,)."""
    first: Array
    """Where each document begins, (document,)."""
    before: Array
    """How many stretches begin in the documents before each, and at last in all, (document + 1,)."""
    probe: Array
    """Fixed stretches of held-out text, (stretch, length + 1)."""
    said: Array
    """Log-probabilities of every rung, (stretch, rung, length, vocab)."""
    compared: dict[str, Array]
    """The same of skip-grams: "skips" and "pairs" -> (stretch, lag, length, vocab); none where no lag is asked for."""
    information: Array
    """I(next token; lag i | the nearer lags), in nats, (orders - 1,)."""
    written: Array
    """How each token is written: code points, then zeros, (vocab, SPELT)."""


@functools.lru_cache(4)
def read(text: str, digest: str, kind: str, vocab: int, window: int) -> Tokens:
    """A text as tokens, shuffled in windows of this size."""
    found = tokens_of(parts_of(text, digest), kind, vocab)
    parts = (shuffled(part, window, seed) for seed, part in enumerate((found.training, found.tuning, found.held_out)))
    return Tokens(vocab, *parts, found.written)


@functools.lru_cache(2)
def counted(text: str, digest: str, kind: str, vocab: int, window: int, orders: int) -> Ngrams:
    """The n-grams of its training part."""
    return ngrams(read(text, digest, kind, vocab, window).training, orders, vocab)


@functools.lru_cache(2)
def text_arrays(task: Any) -> TextArrays:
    """The arrays of a task with the settings of `headway.tasks.text`."""
    key = task.text, task.digest, task.tokeniser, task.vocab, task.shuffled
    tokens, model = read(*key), counted(*key, task.orders)
    long = -(-(task.length + 1) // task.interleaved)
    documents = [each for each in tokens.training if len(each) >= long]
    require(
        bool(documents) and bool(stretch_starts(tokens.held_out, long)[1][-1]),
        f"task.length is {task.length}, but no document of {task.text} has {long} tokens. Use less, or a longer text.",
    )
    first, before = stretch_starts(documents, long)
    probe = weave(spread(tokens.held_out, long, task.probes * task.interleaved), task.interleaved)[:, : task.length + 1]
    strengths = rungs.cache_strengths(model, spread(tokens.tuning or tokens.held_out, long, TUNING_ROWS))

    def about(predict: Any) -> Array:
        """(stretch, predictor, length, vocab), of every position but the first."""
        said = rungs.woven(predict, probe, task.interleaved)[:, :, 1:]
        return np.ascontiguousarray(np.swapaxes(said, 0, 1))

    compared = {}
    if task.lags:
        own = lambda rows: rungs.skips(tokens.training, task.vocab, task.lags, rows)  # noqa: E731
        compared["skips"] = about(own)
        compared["pairs"] = about(lambda rows: rungs.pairs(tokens.training, model, task.lags, rows))
    return TextArrays(
        np.concatenate(documents),
        first,
        before,
        probe.astype(np.int32),
        about(lambda rows: rungs.ladder(model, strengths, rows)),
        compared,
        rungs.information(model, [each for each in tokens.held_out if len(each) >= long], long).astype(np.float32),
        code_points(tokens.written),
    )


def text_shapes(task: Any) -> TextArrays:
    """Arrays of the same types, as large as they can be: zeros that take no room. Only the size of a file is read."""

    def empty(bits: type[np.generic], *shape: int) -> Array:
        return np.broadcast_to(bits(0), shape)

    size, documents = size_of(task.text)
    lags = {"skips": task.lags, "pairs": task.lags - 1} if task.lags else {}
    return TextArrays(
        empty(smallest(task.vocab), size),
        empty(np.int32, documents),
        empty(np.int32, documents + 1),
        empty(np.int32, task.probes, task.length + 1),
        empty(np.float32, task.probes, task.orders + 2, task.length, task.vocab),
        {name: empty(np.float32, task.probes, count, task.length, task.vocab) for name, count in lags.items()},
        empty(np.float32, task.orders - 1),
        empty(np.int32, task.vocab, SPELT),
    )


def stretch_starts(documents: list[Array], long: int) -> tuple[Array, Array]:
    """Where each document begins among all, and how many stretches of this length begin in those before each."""
    sizes = np.array([len(each) for each in documents], np.int64)
    fitting = np.maximum(sizes - long + 1, 0)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    return ends[:-1].astype(np.int32), np.concatenate([[0], np.cumsum(fitting)]).astype(np.int32)


def spread(documents: list[Array], long: int, count: int) -> Array:
    """So many stretches, evenly spread over all that begin somewhere: (stretch, long)."""
    first, before = stretch_starts(documents, long)
    chosen = ((np.arange(count) + 0.5) * before[-1] / count).astype(np.int64)
    document = np.searchsorted(before, chosen, "right") - 1
    stream = np.concatenate(documents)
    begin = first[document] + chosen - before[document]
    return stream[begin[:, None] + np.arange(long)].astype(np.int64)


def weave(rows: Array, streams: int) -> Array:
    """(row * stream, time) -> (row, time * stream), a token of each in turn."""
    return rows.reshape(-1, streams, rows.shape[1]).swapaxes(1, 2).reshape(len(rows) // streams, -1)
