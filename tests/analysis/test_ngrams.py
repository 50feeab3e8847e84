"""Kneser-Ney n-grams against the definition written out with dictionaries, and against what must hold of any."""

from collections import defaultdict

import numpy as np
import pytest

from headway.analysis import ngrams
from headway.analysis.ngrams import _distinct, _distinct_by_table


class Slow:
    """The same models, word for word as in the definition: every count by looking through the whole text."""

    def __init__(self, rows, orders, vocab):
        self.vocab, self.tables = vocab, {}
        seen = {n: defaultdict(int) for n in range(1, orders + 2)}
        for n, table in seen.items():
            for row in rows:
                for i in range(len(row) - n + 1):
                    table[tuple(row[i : i + n])] += 1
        before = {n: defaultdict(set) for n in range(1, orders + 1)}
        for n in before:
            for gram in seen[n + 1]:
                before[n][gram[1:]].add(gram[0])
        for n in before:
            self.tables[n, "raw"] = dict(seen[n])
            self.tables[n, "continuation"] = {gram: len(tokens) for gram, tokens in before[n].items()}

    def prob(self, n, history, token, how="raw"):
        if n == 0:
            return 1 / self.vocab
        table = self.tables[n, how]
        context = tuple(history[len(history) - (n - 1) :]) if n > 1 else ()
        lower = self.prob(n - 1, history, token, "continuation")
        followers = {gram: count for gram, count in table.items() if gram[:-1] == context}
        total = sum(followers.values())
        if len(context) < n - 1 or total == 0:
            return lower
        once = sum(count == 1 for count in table.values())
        twice = sum(count == 2 for count in table.values())
        discount = once / (once + 2 * twice) if once else 0.5
        own = max(table.get((*context, token), 0) - discount, 0) if (*context, token) in table else 0
        return own / total + discount * len(followers) / total * lower


def text(rng, length, vocab):
    """Tokens with some structure, so that counts differ."""
    tokens = [int(rng.integers(vocab))]
    for _ in range(length - 1):
        tokens.append((tokens[-1] * 2 + 1) % vocab if rng.random() < 0.6 else int(rng.integers(vocab)))
    return np.array(tokens)


@pytest.mark.parametrize(
    ("rows", "length", "vocab", "orders"), [(1, 150, 5, 4), (2, 90, 4, 7), (6, 20, 7, 3), (3, 2, 4, 5), (1, 40, 3, 1)]
)
def test_every_order_is_the_definition(rows, length, vocab, orders):
    rng = np.random.default_rng(rows)
    training = [text(rng, length, vocab) for _ in range(rows)]
    asked = np.stack([text(rng, 9, vocab) for _ in range(4)])
    slow, fast = Slow([row.tolist() for row in training], orders, vocab), ngrams(training, orders, vocab)
    got = np.exp(fast.log_probs(asked).astype(np.float64))
    for n in range(1, fast.orders + 1):
        for row, time in np.ndindex(asked.shape):
            history = asked[row, : time + 1].tolist()
            wanted = [slow.prob(n, history, token) for token in range(vocab)]
            np.testing.assert_allclose(got[n - 1, row, time], wanted, rtol=1e-5, err_msg=f"order {n}, {history}")


def test_every_order_is_a_proper_distribution_without_zeros_seen_or_not():
    rng = np.random.default_rng(3)
    model = ngrams(text(rng, 400, 12)[:-1], orders=4, vocab=15)  # tokens 12 to 14 never occur
    log_probs = model.log_probs(rng.integers(0, 15, (8, 10))).astype(np.float64)
    assert np.isfinite(log_probs).all()
    np.testing.assert_allclose(np.exp(log_probs).sum(axis=-1), 1, rtol=1e-5)


def test_the_token_that_came_is_looked_up_in_the_same_distribution():
    rng = np.random.default_rng(4)
    model, rows = ngrams(text(rng, 500, 9), orders=4), rng.integers(0, 9, (5, 12))
    dense = np.take_along_axis(model.log_probs(rows)[:, :, :-1], rows[None, :, 1:, None], axis=-1)[..., 0]
    np.testing.assert_allclose(model.log_prob_next(rows), dense, rtol=1e-5)


def test_counting_in_a_table_and_by_sorting_find_the_same():
    keys = np.random.default_rng(7).integers(0, 500, 300)
    by_table = _distinct_by_table(keys, 500)
    sorting = _distinct(keys, 10**8)
    for a, b in zip(by_table[:2], sorting[:2], strict=True):
        np.testing.assert_array_equal(a, b)
    for _, _, where in (by_table, sorting):
        np.testing.assert_array_equal(keys[where], np.unique(keys))


def test_the_support_says_the_whole_distribution():
    rng = np.random.default_rng(5)
    model, rows = ngrams(text(rng, 300, 9), orders=3, vocab=20), rng.integers(0, 9, (3, 7))
    support, dense = model.support(rows), np.exp(model.log_probs(rows)).reshape(3, -1, 20)
    for position in range(21):
        listed = support.tokens[support.first[position] : support.first[position + 1]]
        others = np.setdiff1d(np.arange(20), listed)
        for order in (1, 2):
            rest = support.rest[order, position] * support.base[order, others]
            np.testing.assert_allclose(dense[order, position, others], rest, rtol=1e-5)


def test_no_ngram_reaches_across_the_end_of_a_row():
    """Of the rows 0 1 and 2 3, nothing says that 2 follows 1."""
    rows = [np.array([0, 1]), np.array([2, 3])] * 3
    apart, together = ngrams(rows, 2), ngrams(np.concatenate(rows), 2)
    after_one = [np.exp(model.log_probs(np.array([[1]])))[1, 0, 0] for model in (apart, together)]
    np.testing.assert_allclose(after_one[0], apart.continuation, rtol=1e-6)
    assert after_one[1][2] > after_one[0][2]


def test_a_chain_is_told_by_the_order_that_it_has():
    """Each token is fixed by the two before it: trigrams predict it, bigrams cannot."""
    rng = np.random.default_rng(6)
    stream = [0, 1]
    for _ in range(3000):
        stream.append((stream[-1] + stream[-2]) % 7 if rng.random() < 0.98 else int(rng.integers(7)))
    model = ngrams(np.array(stream), orders=4)
    losses = -model.log_prob_next(np.array(stream)[None]).mean(axis=(1, 2))
    assert losses[0] > 1.8 and losses[1] > 1.7 and losses[2] < 0.3 and losses[3] < 0.3


@pytest.mark.parametrize(
    ("tokens", "options", "words"),
    [
        (np.array([0.5]), {}, "got float64 of shape"),
        (np.array([], int), {}, "got no token at all"),
        (np.array([0, -100]), {}, "Leave out what is no token"),
        (np.array([0, 9]), {"vocab": 5}, "raise vocab"),
        (np.array([0, 1]), {"orders": 0}, "wanted 1 or more"),
    ],
)
def test_what_is_no_text_is_refused_in_words(tokens, options, words):
    with pytest.raises(ValueError, match=words):
        ngrams(tokens, **options)


def test_tokens_that_were_not_fitted_are_refused():
    with pytest.raises(ValueError, match="Fit them with vocab="):
        ngrams(np.array([0, 1, 0, 1])).log_probs(np.array([[0, 7]]))
