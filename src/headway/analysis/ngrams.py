"""p_n(w | h) = max(c(hw) - D, 0) / c(h) + D N(h) / c(h) p_{n-1}(w | h'): interpolated Kneser-Ney n-grams.

c counts occurrences at the highest order and distinct preceding tokens below it; N(h) is the number of tokens that were
seen to follow h, h' is h without its oldest token, and below the unigrams lies the uniform distribution. There is one
discount D = n1 / (n1 + 2 n2) for each order and each way of counting (Ney, Essen and Kneser 1994), n1 and n2 being how
many n-grams were counted once and twice; one half where none was counted once. So every order is a proper
distribution without zeros, and the orders are a ladder of reference predictors.

    model = ngrams(tokens, orders=5)
    model.log_probs(rows)          # (order, row, time, vocab): of every next token, at every position
    model.log_prob_next(rows)      # (order, row, time - 1): of the token that came
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray
FEW = 2**22
"""Possible n-grams that a table always has room for."""


class Counts(NamedTuple):
    """One way of counting the n-grams of an order: occurrences, or distinct preceding tokens."""

    of_gram: Array
    """(n-gram,)"""
    of_context: Array
    """Sum over the n-grams with that context, (context,)."""
    followers: Array
    """N(h): n-grams of the context that were counted at all, (context,)."""
    discount: float


@dataclass(frozen=True)
class Order:
    """All different n-grams of one length, sorted by context, then by last token."""

    keys: Array
    """number of the context * vocab + last token, (n-gram,)."""
    tokens: Array
    """The last token, (n-gram,)."""
    first: Array
    """Where the n-grams of each context begin, (context + 1,)."""
    occurrences: Counts
    preceding: Counts | None
    """None at the highest order, which no other one falls back on."""


class Support(NamedTuple):
    """All orders at some positions: p_n(w) = rest_n base_n(w) but for the listed tokens, where it is `probs`.

    The tokens of position i are tokens[first[i]:first[i + 1]]: those that were seen to follow its last token. Longer
    contexts are followed by some of these and no others.
    """

    first: Array
    """(position + 1,)"""
    tokens: Array
    """(listed,)"""
    probs: Array
    """(order, listed)"""
    rest: Array
    """(order, position)"""
    base: Array
    """(order, vocab)"""


@dataclass(frozen=True, repr=False)
class Ngrams:
    """Interpolated Kneser-Ney models of the orders 1 .. n, each the highest of its own."""

    vocab: int
    unigrams: Array
    """p_1, (vocab,)."""
    continuation: Array
    """The unigrams that higher orders fall back on: by how many different tokens each is preceded, (vocab,)."""
    longer: tuple[Order, ...]
    """The orders from 2 on."""

    def __repr__(self) -> str:
        return f"Ngrams({', '.join(self.names)} over {self.vocab} tokens)"

    @property
    def orders(self) -> int:
        return 1 + len(self.longer)

    @property
    def names(self) -> tuple[str, ...]:
        """("unigram", "bigram", "3-gram", ...)"""
        return tuple({1: "unigram", 2: "bigram"}.get(order, f"{order}-gram") for order in range(1, self.orders + 1))

    def log_probs(self, rows: Any) -> Array:
        """log p_n(w | what came before) at every position of rows (row, time): (order, row, time, vocab), float32.

        Position t has seen the tokens 0 .. t and predicts the next. Where a row has fewer tokens than an order wants,
        or where they were never seen together, it falls back on the order below, as everywhere.
        """
        support, shape = self.support(rows), np.shape(rows)
        probs = support.rest[:, :, None] * support.base[:, None, :]
        position = np.repeat(np.arange(len(support.first) - 1), np.diff(support.first))
        probs[1:, position, support.tokens] = support.probs[1:]
        return np.log(probs).astype(np.float32).reshape(self.orders, *shape, self.vocab)

    def log_prob_next(self, rows: Any) -> Array:
        """log p_n(the token that came) of rows (row, time): (order, row, time - 1), float64."""
        rows = _rows(rows, self.vocab)
        known = self._contexts(rows)[:, :, :-1].reshape(self.orders, -1)
        target = rows[:, 1:].reshape(-1)
        low = self.continuation[target]
        found = [self.unigrams[target]]
        for number, order in enumerate(self.longer, start=1):
            gram = _find(order.keys, known[number], target, self.vocab)
            found.append(_step(order.occurrences, known[number], gram, low))
            if order.preceding is not None:
                low = _step(order.preceding, known[number], gram, low)
        return np.log(np.stack(found)).reshape(self.orders, len(rows), -1)

    def support(self, rows: Any) -> Support:
        """The distributions at every position of rows (row, time), flattened, without writing out the vocabulary."""
        rows = _rows(rows, self.vocab)
        known = self._contexts(rows).reshape(self.orders, -1)
        base = np.stack([self.unigrams] + [self.continuation] * (self.orders - 1))
        positions = known.shape[1]
        if not self.longer:
            none = np.zeros(0, np.int64)
            return Support(np.zeros(positions + 1, np.int64), none, np.zeros((1, 0)), np.ones((1, positions)), base)
        first, grams = _expand(self.longer[0].first, known[1])
        tokens = self.longer[0].tokens[grams]
        position = np.repeat(np.arange(positions), np.diff(first))
        low, rest = self.continuation[tokens], np.ones(positions)
        probs, rests = [self.unigrams[tokens]], [np.ones(positions)]
        for number, order in enumerate(self.longer, start=1):
            context = known[number]
            gram = _find(order.keys, context[position], tokens, self.vocab)
            probs.append(_step(order.occurrences, context[position], gram, low))
            rests.append(rest * _share_below(order.occurrences, context))
            if order.preceding is not None:
                low = _step(order.preceding, context[position], gram, low)
                rest = rest * _share_below(order.preceding, context)
        return Support(first, tokens, np.stack(probs), np.stack(rests), base)

    def _contexts(self, rows: Array) -> Array:
        """The number of the last n - 1 tokens at every position, -1 where they are unknown: (order, row, time)."""
        known = np.full((self.orders, *rows.shape), -1, np.int64)
        known[0] = 0
        if self.longer:
            known[1] = rows
        for number, order in enumerate(self.longer[:-1], start=1):
            known[number + 1, :, 1:] = _find(order.keys, known[number, :, :-1], rows[:, 1:], self.vocab)
        return known


def ngrams(tokens: Any, orders: int = 5, vocab: int | None = None) -> Ngrams:
    """Count the n-grams of tokens (time,), or of several rows; no n-gram crosses the end of a row.

    `vocab` is the vocabulary size, if the tokens do not use all of it.
    """
    table = isinstance(tokens, np.ndarray) and tokens.ndim == 2
    if table:
        rows = [tokens.reshape(-1)]
    else:
        rows = [np.asarray(row) for row in tokens] if _is_several(tokens) else [np.asarray(tokens)]
    _require(rows, orders, vocab)
    stream = np.concatenate(rows).astype(np.int64, copy=False)
    size = int(stream.max()) + 1 if vocab is None else vocab
    # How many tokens of its row begin at each position.
    if table:
        left = np.tile(np.arange(tokens.shape[1], 0, -1, dtype=np.int64), len(tokens))
    else:
        left = np.concatenate([np.arange(len(row), 0, -1, dtype=np.int64) for row in rows])

    counts = np.bincount(stream, minlength=size)
    unigrams = _unigrams(counts)
    if orders == 1:
        return Ngrams(size, unigrams, unigrams, ())
    found: list[Order] = []
    number, contexts = stream, size  # which n-gram begins at each position, of those that fit into the row
    before = stream
    for order in range(2, orders + 1):
        place = np.flatnonzero(left >= order)
        if not len(place):
            break
        keys, inverse, where = _distinct(number[place] * size + stream[place + order - 1], contexts * size)
        occurrences = np.bincount(inverse, minlength=len(keys))
        # The suffix of each different n-gram: each is one more token that was seen before it.
        preceding = np.bincount(before[place[where] + 1], minlength=contexts)
        if order == 2:
            continuation = _unigrams(preceding)
        else:
            last = found[-1]
            found[-1] = Order(last.keys, last.tokens, last.first, last.occurrences, _counts(last.first, preceding))
        first = np.searchsorted(keys, np.arange(contexts + 1, dtype=np.int64) * size)
        found.append(Order(keys, keys % size, first, _counts(first, occurrences), None))
        number = np.full(len(stream), -1, np.int64)
        number[place] = inverse
        before, contexts = number, len(keys)
    return Ngrams(size, unigrams, continuation if found else unigrams, tuple(found))


def _distinct(keys: Array, most: int) -> tuple[Array, Array, Array]:
    """The different keys below `most`, sorted; for each key which of them it is; and a place where each occurs."""
    if most <= max(4 * len(keys), FEW):
        return _distinct_by_table(keys, most)
    order = np.argsort(keys)
    ordered = keys[order]
    new = np.empty(len(keys), bool)
    new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    inverse = np.empty(len(keys), np.int64)
    inverse[order] = np.cumsum(new) - 1
    return ordered[new], inverse, order[new]


def _distinct_by_table(keys: Array, most: int) -> tuple[Array, Array, Array]:
    """The same with a table of all possible keys: no sorting where the vocabulary is small, as with bytes."""
    there = np.zeros(most, bool)
    there[keys] = True
    rank = np.cumsum(there, dtype=np.int32 if most < 2**31 else np.int64)
    inverse = rank[keys].astype(np.int64) - 1
    different = np.flatnonzero(there)
    where = np.empty(len(different), np.int64)
    where[inverse] = np.arange(len(keys))
    return different, inverse, where


def _counts(first: Array, of_gram: Array) -> Counts:
    total = np.concatenate([[0], np.cumsum(of_gram)])
    some = np.concatenate([[0], np.cumsum(of_gram > 0)])
    return Counts(of_gram, np.diff(total[first]), np.diff(some[first]), _discount(of_gram))


def _discount(counts: Array) -> float:
    once, twice = (int(np.count_nonzero(counts == value)) for value in (1, 2))
    return once / (once + 2 * twice) if once else 0.5


def _unigrams(counts: Array) -> Array:
    """max(c(w) - D, 0) / c + D N / c / vocab."""
    total, discount = counts.sum(), _discount(counts)
    if not total:  # no token has one before it
        return np.full(len(counts), 1 / len(counts))
    below = discount * np.count_nonzero(counts) / total
    return np.maximum(counts - discount, 0) / total + below / len(counts)


def _find(keys: Array, context: Array, token: Array, vocab: int) -> Array:
    """The number of the n-gram (context, token), -1 where there is none or the context is unknown."""
    wanted = context * vocab + token
    place = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
    return np.where((context >= 0) & (keys[place] == wanted), place, -1)


def _step(counts: Counts, context: Array, gram: Array, low: Array) -> Array:
    """One line of the recursion: the discounted share of the n-gram and the rest from the order below."""
    total = np.where(context >= 0, counts.of_context[context], 0)
    own = np.where(gram >= 0, np.maximum(counts.of_gram[gram] - counts.discount, 0), 0)
    return own / np.maximum(total, 1) + _share_below(counts, context) * low


def _share_below(counts: Counts, context: Array) -> Array:
    """D N(h) / c(h); all of it where the context was never counted."""
    total = np.where(context >= 0, counts.of_context[context], 0)
    return np.where(total > 0, counts.discount * counts.followers[context] / np.maximum(total, 1), 1.0)


def _expand(first: Array, context: Array) -> tuple[Array, Array]:
    """The n-grams of each of these contexts, one after the other, and where each one's begin; none of an unknown."""
    begin = np.where(context >= 0, first[context], 0)
    count = np.where(context >= 0, first[context + 1] - first[context], 0)
    starts = np.concatenate([[0], np.cumsum(count)])
    return starts, np.arange(starts[-1]) + np.repeat(begin - starts[:-1], count)


def _is_several(tokens: Any) -> bool:
    if isinstance(tokens, np.ndarray):
        return tokens.ndim > 1
    return isinstance(tokens, Sequence) and len(tokens) > 0 and np.ndim(tokens[0]) > 0


def _rows(rows: Any, vocab: int) -> Array:
    rows = np.asarray(rows)
    if rows.ndim != 2 or rows.dtype.kind not in "iu":
        raise ValueError(f"got {rows.dtype} of shape {rows.shape}, but wanted integers, (row, time).")
    if rows.size and not (rows.min() >= 0 and rows.max() < vocab):
        raise ValueError(
            f"got tokens from {rows.min()} to {rows.max()}, but these n-grams know 0 to {vocab - 1}. "
            "Fit them with vocab=, the vocabulary size."
        )
    return rows.astype(np.int64)


def _require(rows: Sequence[Array], orders: int, vocab: int | None) -> None:
    if orders < 1:
        raise ValueError(f"got orders={orders}, but wanted 1 or more: 1 is unigrams, 2 adds bigrams.")
    for row in rows:
        if row.ndim != 1 or row.dtype.kind not in "iu":
            raise ValueError(
                f"got {row.dtype} of shape {row.shape}, but wanted tokens as integers, (time,), or a list of such rows."
            )
    longest = [row for row in rows if len(row)]
    if not longest:
        raise ValueError("got no token at all, but n-grams are counted in text. Pass the training tokens.")
    low, high = min(int(row.min()) for row in longest), max(int(row.max()) for row in longest)
    if low < 0 or (vocab is not None and high >= vocab):
        raise ValueError(
            f"got tokens from {low} to {high}, but wanted 0 to {'vocab - 1' if vocab is None else vocab - 1}. "
            "Leave out what is no token, such as -100 for padding, or raise vocab."
        )
    if sum(map(len, rows)) * max(high + 1, vocab or 0) >= 2**62:
        raise ValueError("got too many tokens for a vocabulary of this size: their product must stay below 2^62.")
