"""Skip-grams, pairs and the cache against their definitions written out, on a small text; every rung a distribution."""

from collections import Counter

import numpy as np
import pytest
from tests.analysis.test_ngrams import Slow, text

from headway.analysis import ngrams
from headway.corpora import rungs
from headway.corpora.arrays import spread, stretch_starts, weave
from headway.corpora.cache import fit_strengths, with_cache

VOCAB = 5
RNG = np.random.default_rng(3)
DOCUMENTS = [text(RNG, size, VOCAB) for size in (90, 60, 1, 33)]
ROWS = np.stack([text(RNG, 12, VOCAB) for _ in range(3)])
MODEL = ngrams(DOCUMENTS, 4, VOCAB)


def probs(said):
    found = np.exp(said.astype(np.float64))
    np.testing.assert_allclose(found.sum(axis=-1), 1, atol=1e-6)
    assert found.min() > 0
    return found


def test_a_skip_gram_knows_one_lag_and_no_other():
    said = probs(rungs.skips(DOCUMENTS, VOCAB, 3, ROWS))
    for lag in (1, 2, 3):
        # Pairs of tokens that far apart; who preceded a token, preceded it by that lag.
        tracks = [each[first::lag].tolist() for each in DOCUMENTS for first in range(lag) if len(each) > first]
        slow = Slow(tracks, 2, VOCAB)
        for row, time in np.ndindex(ROWS.shape):
            seen = [ROWS[row, time - lag]] if time >= lag else []
            order = 2 if seen else 1
            wanted = [slow.prob(order, seen, token) for token in range(VOCAB)]
            np.testing.assert_allclose(said[lag - 1, row, time], wanted, rtol=1e-5)


def test_a_pair_knows_the_token_before_and_one_more():
    said = probs(rungs.pairs(DOCUMENTS, MODEL, 3, ROWS))
    near = probs(rungs.orders(MODEL, ROWS))[1]
    for lag in (2, 3):
        triples = [[each[i - lag], each[i - 1], each[i]] for each in DOCUMENTS for i in range(lag, len(each))]
        slow = Slow(triples, 3, VOCAB)
        for row, time in np.ndindex(ROWS.shape):
            if time < lag:
                np.testing.assert_array_equal(said[lag - 2, row, time], near[row, time])
                continue
            seen = [ROWS[row, time - lag], ROWS[row, time - 1]]
            wanted = [slow.prob(3, seen, token) for token in range(VOCAB)]
            np.testing.assert_allclose(said[lag - 2, row, time], wanted, rtol=1e-5)


def test_the_cache_adds_what_followed_the_last_tokens_in_the_same_context():
    below, strengths = rungs.orders(MODEL, ROWS)[-1], (3.0, 2.0, 0.5)
    said = probs(with_cache(below, ROWS, strengths))
    for row, time in np.ndindex(ROWS.shape):
        before = ROWS[row, :time].tolist()
        wanted = np.exp(below[row, time].astype(np.float64))
        for matched, strength in enumerate(strengths):
            last = before[len(before) - matched :]
            places = [s for s in range(matched, time) if before[s - matched : s] == last and len(last) == matched]
            counts = Counter(before[s] for s in places)
            wanted = np.array([counts[token] + strength * wanted[token] for token in range(VOCAB)])
            wanted /= len(places) + strength
        np.testing.assert_allclose(said[row, time], wanted, rtol=1e-5)


def test_the_cache_counts_where_contexts_repeat_and_hardly_where_they_do_not():
    rng = np.random.default_rng(0)
    blocks = rng.integers(0, 40, (8, 10))
    again, fresh = np.tile(blocks, 4), rng.integers(0, 40, (8, 40))
    uniform = np.full((8, 40, 40), -np.log(40))
    assert min(fit_strengths(uniform, again)[1:]) == 1
    assert min(fit_strengths(uniform, fresh)) >= 64


def test_every_rung_is_a_distribution_and_knows_nothing_of_what_comes():
    said = rungs.ladder(MODEL, (4.0, 2.0), ROWS)
    probs(said)
    assert said.shape == (6, 3, 12, VOCAB)
    other = ROWS.copy()
    other[:, 7:] = (other[:, 7:] + 1) % VOCAB
    np.testing.assert_array_equal(said[:, :, :8], rungs.ladder(MODEL, (4.0, 2.0), other)[:, :, :8])


def test_woven_streams_are_predicted_each_by_itself():
    streams = np.stack([text(RNG, 6, VOCAB) for _ in range(4)])
    rows = weave(streams, 2)
    assert rows[0].tolist() == [token for pair in zip(*streams[:2], strict=True) for token in pair]
    said = rungs.woven(lambda own: rungs.orders(MODEL, own), rows, 2)
    np.testing.assert_array_equal(said[:, 0, 1::2], rungs.orders(MODEL, streams[1:2])[:, 0])


def test_the_information_of_lags_adds_up_to_what_the_highest_order_gains():
    losses = -MODEL.log_prob_next(np.concatenate([each[:30] for each in DOCUMENTS if len(each) > 30]).reshape(-1, 30))
    losses = losses[:, :, 3:].mean(axis=(1, 2))
    found = rungs.information(MODEL, [each[:30] for each in DOCUMENTS], 30)
    np.testing.assert_allclose(found, losses[:-1] - losses[1:])
    assert found.sum() == pytest.approx(losses[0] - losses[-1])


def test_the_probe_lies_within_documents_and_is_spread_over_all_of_them():
    documents = [np.arange(100 * number, 100 * number + size) for number, size in enumerate((30, 3, 80))]
    rows = spread(documents, 10, 9)
    assert (np.diff(rows, axis=1) == 1).all(), "no stretch crosses the end of a document"
    assert {int(row[0]) // 100 for row in rows} == {0, 2}
    assert stretch_starts(documents, 10)[1].tolist() == [0, 21, 21, 92]


def test_rows_of_three_tokens_are_counted_as_a_table_and_as_a_list():
    table = np.stack([text(RNG, 3, VOCAB) for _ in range(40)])
    np.testing.assert_array_equal(
        ngrams(table, 3, VOCAB).log_probs(ROWS), ngrams(list(table), 3, VOCAB).log_probs(ROWS)
    )
