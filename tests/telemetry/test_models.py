"""Attention is seen in every kind of model as it is, and the model stays as it was."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.telemetry.models import LENGTH, Nano, attention_of, made, rows  # noqa: E402

from headway.telemetry import TelemetryError  # noqa: E402
from headway.telemetry.reading import Reader  # noqa: E402

LAGS = 10
HERE = "tests.telemetry.models"


def read(model, **more):
    return Reader(rows(), LAGS, (2, LENGTH - 1), **more).read(model)


def by_lag(attention):
    """(layer, head, lag), entry by entry."""
    layers, _, heads, length, _ = attention.shape
    found = np.zeros((layers, heads, LAGS))
    for lag in range(LAGS):
        for query in range(1, length):
            if query - lag >= 1:
                found[:, :, lag] += attention[:, :, :, query, query - lag].mean(1)
    return found / (length - 1)


WAYS = {
    "sdpa": {},
    "multihead": {},
    "softmax": {"attention": torch.softmax},
    "module": {"attention": "layers.*.weights"},
    "own": {"attention": f"{HERE}:attend_in_c"},
}


@pytest.mark.parametrize("way", WAYS)
def test_attention_by_lag_is_that_of_the_model_written_out(way):
    model = made("softmax" if way == "module" else way)
    found = read(model, **WAYS[way])
    assert found.found.startswith("2 layers x 2 heads, by ")
    attention = attention_of(model, rows())
    np.testing.assert_allclose(found.by_lag, by_lag(attention), atol=1e-6)
    first = attention[:, :, :, 1:, 0].mean((1, 3))
    np.testing.assert_allclose(found.scores["first_token"], first, atol=1e-6)
    np.testing.assert_allclose(found.scores["beyond"], 1 - first - found.by_lag.sum(-1), atol=1e-6)
    weights_alone = way in ("softmax", "module")  # without values there is no copying
    assert np.isnan(found.scores["copying"]).all() == weights_alone


def test_a_layer_of_pytorchs_own_is_seen_through_its_fast_path():
    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            layer = torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
            self.tokens, self.encoder = torch.nn.Embedding(17, 16), torch.nn.TransformerEncoder(layer, 3)
            self.head = torch.nn.Linear(16, 17)

        def forward(self, tokens):
            mask = torch.nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
            return self.head(self.encoder(self.tokens(tokens), mask=mask, is_causal=True))

    found = read(Encoder())
    assert found.by_lag.shape == (3, 4, LAGS) and np.isfinite(found.scores["copying"]).all()
    assert torch.backends.mha.get_fastpath_enabled()


def test_compiled_and_wrapped_models_are_read_as_they_are_inside():
    from headway.telemetry.undisturbed import bare

    model = made()
    compiled = torch.compile(model, backend="aot_eager")
    assert bare(compiled) is model and bare(torch.nn.DataParallel(compiled)) is model


@pytest.mark.parametrize("way", ["softmax", "own"])
def test_nothing_found_is_an_error_that_says_what_to_do(way):
    with pytest.raises(TelemetryError, match=r"no attention was found by scaled_dot_product_attention.*name it"):
        read(made(way))


@pytest.mark.parametrize(
    ("attention", "words"), [("nowhere.*", "no module of the model"), ("no.such:thing", "cannot be found")]
)
def test_a_name_that_is_not_there_is_an_error(attention, words):
    with pytest.raises(TelemetryError, match=words):
        read(made(), attention=attention)


def test_logits_of_the_last_position_alone_are_refused_with_the_remedy():
    class Last(Nano):
        def forward(self, tokens, targets=None):
            return super().forward(tokens)[:, -1:]

    with pytest.raises(TelemetryError, match=r"model\(tokens, tokens\)\[0\]"):
        read(Last())
    found = read(Last(), forward=lambda model, tokens: Nano.forward(model, tokens))
    assert np.isfinite(found.loss)


def test_the_loss_is_that_of_the_model_and_losses_at_two_tokens_are_compared():
    model, tokens = made(), torch.from_numpy(rows())
    with torch.no_grad():
        logits = model.eval()(tokens)[:, :-1]
        losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")
    found = read(model)
    assert found.loss == pytest.approx(float(losses.mean()), rel=1e-5)
    wanted = float(losses[:, LENGTH - 2].mean() - losses[:, 1].mean())
    assert found.in_context_score == pytest.approx(wanted, rel=1e-4)


def test_the_probe_is_read_in_parts_with_the_same_result(monkeypatch):
    model = made()
    whole = read(model)
    monkeypatch.setattr("headway.telemetry.reading.TOKENS_AT_ONCE", LENGTH)
    monkeypatch.setattr("headway.telemetry.reading.LOGITS_AT_ONCE", 100)
    parts = read(model)
    np.testing.assert_allclose(parts.by_lag, whole.by_lag, atol=1e-6)
    assert parts.loss == pytest.approx(whole.loss, rel=1e-5)
