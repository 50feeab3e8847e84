"""Heads made by hand, whose scores are known."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from headway.telemetry import reduction  # noqa: E402
from headway.telemetry.capture import Call  # noqa: E402
from headway.telemetry.probe import repeats  # noqa: E402

LENGTH, LAGS = 40, 8
ROWS = repeats(vocab=60, longest=101, start=0)
NAMES = ("duplicate_token", "prefix_matching", "prefix_matching_as_printed")
PAIRS = torch.from_numpy(np.stack([ROWS.pairs[name] for name in NAMES]))


def looking(key_of, length=LENGTH, rows=1):
    """Attention that puts everything on key_of(row, query), or on the query where that is nothing."""
    weights = torch.zeros(rows, 1, length, length)
    for row in range(rows):
        for query in range(length):
            key = key_of(row, query)
            weights[row, 0, query, query if key is None or key < 0 else key] = 1
    return Call(weights=weights)


def of_text(call):
    return {name: value[0].numpy() for name, value in reduction.of_text(call, LAGS).items()}


def test_a_previous_token_head_scores_one():
    found = of_text(looking(lambda _, query: query - 1))
    assert found["previous_token"] == pytest.approx(1) and found["entropy"] == 0
    # Query 1 looks at the first token, which is a score of its own.
    np.testing.assert_allclose(found["by_lag"], np.eye(LAGS)[1] * (LENGTH - 2) / (LENGTH - 1), rtol=1e-6)
    assert found["first_token"] == pytest.approx(1 / (LENGTH - 1))


def test_a_sink_is_seen_as_attention_to_the_first_token_and_nowhere_else():
    found = of_text(looking(lambda *_: 0))
    assert found["first_token"] == 1 and found["by_lag"].sum() == 0


def test_uniform_attention_has_the_entropy_of_its_choices():
    past = torch.ones(LENGTH, LENGTH).tril()
    found = of_text(Call(weights=(past / past.sum(-1, keepdim=True))[None, None]))
    queries = np.arange(2, LENGTH + 1)
    assert found["entropy"] == pytest.approx(np.log(queries).mean(), rel=1e-6)
    assert found["first_token"] == pytest.approx((1 / queries).mean(), rel=1e-6)
    assert found["previous_token"] == pytest.approx((1 / queries).mean(), rel=1e-6)


def repeated(offset):
    """A head that looks `offset` tokens after the last earlier occurrence, where there is one."""

    def key(row, query):
        earlier = query - ROWS.periods[row]
        return earlier + offset if earlier >= 1 else 0

    call = looking(key, ROWS.tokens.shape[1], len(ROWS.tokens))
    return dict(zip(NAMES, reduction.of_repeats(call, PAIRS)[0][:, 0].tolist(), strict=True))


@pytest.mark.parametrize(("offset", "name"), [(0, NAMES[0]), (1, NAMES[1]), (-1, NAMES[2])])
def test_heads_that_look_up_repeats_score_one_in_their_own_score_and_nothing_in_the_others(offset, name):
    found = repeated(offset)
    # As printed, the token before the first occurrence of a row's first token is the start token, which does not count.
    assert found[name] == pytest.approx(1, abs=0.02)
    assert all(value < 0.02 for other, value in found.items() if other != name)


def test_a_head_that_looks_a_fixed_way_back_is_no_induction_head():
    """24 back finds the token after the last occurrence where the period is 25, and nowhere else."""
    call = looking(lambda _, query: query - 24, ROWS.tokens.shape[1], len(ROWS.tokens))
    found = reduction.of_repeats(call, PAIRS)[0][1, 0]
    share = np.mean(ROWS.periods == 25)
    assert float(found) < 0.15 and share < 0.2


def test_tokens_repeat_with_the_period_of_their_row():
    assert len(set(ROWS.periods)) > 5 and ROWS.periods.min() >= 12 and ROWS.periods.max() <= 37
    for tokens, period in zip(ROWS.tokens, ROWS.periods, strict=True):
        assert tokens[0] == 0 and np.array_equal(tokens[1 : 1 + period], tokens[1 + period : 1 + 2 * period])
        assert len(set(tokens[1 : 1 + period])) == period


@pytest.mark.parametrize(("sign", "wanted"), [(1, 1.0), (-1, -1.0)])
def test_a_head_that_raises_the_attended_token_copies_and_one_that_lowers_it_does_the_opposite(sign, wanted):
    """Values are one-hot vectors of the token, the output matrix is the identity, and so is the unembedding."""
    tokens = torch.from_numpy(ROWS.tokens)
    value = torch.nn.functional.one_hot(tokens, 60).float()[:, None]
    weights = torch.ones(len(tokens), 1, 101, 101).tril()
    call = Call(weights=weights / weights.sum(-1, keepdim=True), value=value, output=sign * torch.eye(60))
    _, gets = reduction.of_repeats(call, PAIRS)
    blocks, own = torch.from_numpy(ROWS.blocks), torch.from_numpy(ROWS.own)
    assert float(reduction.copying(call, gets, torch.eye(60), blocks, own)) == pytest.approx(wanted)


def test_half_of_what_is_raised_counts_as_copying_and_a_quarter_as_nothing():
    """A source raises itself and n - 1 others alike: the share is 1 / n, and the score 4 / n - 1."""
    blocks, own = torch.arange(8)[None], torch.arange(8)[None]
    for count, wanted in ((2, 1.0), (4, 0.0), (1, 1.0)):
        value = torch.zeros(1, 1, 8, 8)
        for source in range(8):
            value[0, 0, source, [(source + k) % 8 for k in range(count)]] = 1
        gets = torch.ones(1, 1, 8)
        call = Call(weights=torch.ones(1, 1, 8, 8) / 8, value=value, output=torch.eye(8))
        assert float(reduction.copying(call, gets, torch.eye(8), blocks, own)) == pytest.approx(wanted, abs=1e-6)


def test_copying_is_unknown_without_an_output_matrix():
    call = Call(weights=torch.ones(1, 1, 8, 8) / 8)
    nothing = torch.zeros(1, 8, dtype=torch.long)
    assert np.isnan(float(reduction.copying(call, torch.ones(1, 1, 8), torch.eye(8), nothing, nothing)))


def call_of(length, mask=None, causal=True, heads=4, key_heads=2):
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(2, heads, length, 6, generator=generator)
    key = torch.randn(2, key_heads, length, 6, generator=generator)
    return Call(query, key, key, mask, causal, scale=0.3)


@pytest.mark.parametrize("way", ["causal", "bool mask", "float mask"])
def test_a_few_rows_at_a_time_give_what_the_whole_matrix_gives(way, monkeypatch):
    window = (torch.ones(30, 30).tril() - torch.ones(30, 30).tril(-12)).bool()
    masks = {"causal": None, "bool mask": window, "float mask": torch.zeros(30, 30).masked_fill(~window, -torch.inf)}
    call = call_of(30, masks[way], causal=way == "causal")
    scores = torch.einsum("bhqd,bhkd->bhqk", call.query, call.key.repeat_interleave(2, 1)) * 0.3
    visible = torch.ones(30, 30).tril().bool() if way == "causal" else window
    whole = Call(weights=scores.masked_fill(~visible, -torch.inf).softmax(-1))
    wanted = reduction.of_text(whole, LAGS)
    monkeypatch.setattr(reduction, "MOST_ENTRIES", 2 * 4 * 37 * 7)
    for given in (call, whole):
        found = reduction.of_text(given, LAGS)
        for name, values in wanted.items():
            torch.testing.assert_close(found[name], values)


def test_what_is_held_at_once_does_not_grow_with_the_square_of_the_length(monkeypatch):
    monkeypatch.setattr(reduction, "MOST_ENTRIES", 20_000)
    for length in (100, 400, 1600):
        sizes = [weights.numel() for _, weights in reduction.rows_of_attention(call_of(length, heads=2), margin=7)]
        assert max(sizes) <= 20_000
