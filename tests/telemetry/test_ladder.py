"""KL to n-grams: the sums that leave most of the vocabulary out are the whole sums."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.telemetry.models import VOCAB, made, rows  # noqa: E402

import headway  # noqa: E402
from headway.telemetry.ladder import ladder_on  # noqa: E402
from headway.telemetry.reading import Reader  # noqa: E402


def text(count=600):
    random = np.random.default_rng(1)
    tokens = [0]
    for _ in range(count):
        tokens.append((tokens[-1] * 3 + 1) % VOCAB if random.random() < 0.7 else int(random.integers(VOCAB - 2)))
    return np.array(tokens)


@pytest.mark.parametrize("orders", [1, 2, 4])
@pytest.mark.parametrize("at_once", [10**9, 24])
def test_kl_is_summed_over_the_whole_vocabulary(orders, at_once, monkeypatch):
    monkeypatch.setattr("headway.telemetry.reading.TOKENS_AT_ONCE", at_once)
    model, tokens = made(), rows()
    grams = headway.ngrams(text(), orders, vocab=VOCAB)
    found = Reader(tokens, 8, (2, 20), ladder_on(grams, tokens)).read(model).kl_rungs
    with torch.no_grad():
        log_q = model.eval()(torch.from_numpy(tokens)).double().log_softmax(-1).numpy()
    uniform = np.full((1, *tokens.shape, VOCAB), -np.log(VOCAB))
    log_p = np.concatenate([uniform, grams.log_probs(tokens).astype(np.float64)])
    wanted = (np.exp(log_p) * (log_p - log_q)).sum(-1).mean((1, 2))
    np.testing.assert_allclose(found, wanted, atol=2e-6)
    np.testing.assert_allclose(ladder_on(grams, tokens).losses[1:], -grams.log_prob_next(tokens).mean((1, 2)))


def test_of_very_many_listed_tokens_evenly_spaced_positions_are_kept(monkeypatch):
    grams, tokens = headway.ngrams(text(), 3, vocab=VOCAB), rows()
    whole = ladder_on(grams, tokens)
    monkeypatch.setattr("headway.telemetry.ladder.MOST_LISTED", len(whole.listed) // 3)
    some = ladder_on(grams, tokens)
    assert 0 < len(some.positions) < len(whole.positions) and len(some.listed) < len(whole.listed)
    np.testing.assert_array_equal(np.diff(some.positions), some.positions[1])


def test_a_model_with_fewer_tokens_than_the_ladder_is_refused():
    grams = headway.ngrams(text(), 2, vocab=VOCAB + 5)
    with pytest.raises(ValueError, match="Fit the n-grams to the model's own tokens"):
        Reader(rows(), 8, (2, 20), ladder_on(grams, rows())).read(made())
