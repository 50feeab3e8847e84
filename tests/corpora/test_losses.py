"""Held-out losses of the rungs: the mean over every token that came, by the definition; and the command for it."""

from pathlib import Path

import numpy as np
import pytest
from tests.analysis.test_ngrams import Slow, text

from headway.analysis import ngrams
from headway.corpora import rungs
from headway.corpora.losses import held_out_losses, main, rung_losses

FILE = str(Path(__file__).parents[1] / "data" / "speeches.txt")
VOCAB = 4


def test_the_loss_of_an_order_is_the_mean_surprise_of_the_slow_model():
    rng = np.random.default_rng(8)
    documents = [text(rng, size, VOCAB) for size in (80, 50)]
    rows = np.stack([text(rng, 11, VOCAB) for _ in range(37)])  # more than are in memory together
    found = rung_losses(ngrams(documents, 7, VOCAB), (2.0, 1.0), rows)
    slow = Slow([each.tolist() for each in documents], 7, VOCAB)
    for order in range(1, 8):
        # Of so many tokens before it, or of all that there are.
        told = [slow.prob(order, row[:t].tolist(), row[t]) for row in rows for t in range(1, 11)]
        assert found[order] == pytest.approx(-np.log(told).mean(), rel=1e-5)
    assert found[0] == pytest.approx(np.log(VOCAB))
    said = rungs.ladder(ngrams(documents, 7, VOCAB), (2.0, 1.0), rows)[-1]
    assert found[-1] == pytest.approx(-np.mean([said[row, t, rows[row, t]] for row in range(37) for t in range(1, 11)]))


def test_the_command_prints_what_the_function_finds(capsys):
    losses = held_out_losses(FILE, "characters", 40, 7, 24, 1, 20)
    assert list(losses) == ["uniform", "1", "2", "3", "4", "5", "6", "7", "and cache"]
    assert list(losses.values())[:3] == sorted(list(losses.values())[:3], reverse=True)
    main([FILE, "--vocab", "40", "--length", "24", "--stretches", "20"])
    names, numbers = capsys.readouterr().out.splitlines()
    assert names.split() == [*list(losses)[:-1], "and", "cache"]
    assert numbers.split() == [f"{loss:.3f}" for loss in losses.values()]


def test_skip_grams_have_losses_too_and_that_of_the_nearest_lag_is_the_bigrams():
    losses = held_out_losses(FILE, "characters", 40, 3, 24, 1, 20, lags=3)
    assert list(losses)[-5:] == ["lag 1", "lag 2", "lag 3", "1 and 2", "1 and 3"]
    assert losses["lag 1"] == pytest.approx(losses["2"]), "both know the previous token"
    assert losses["lag 1"] < losses["lag 2"] < losses["1"] and losses["1 and 2"] < losses["lag 2"]


def test_what_cannot_work_is_refused_in_words():
    with pytest.raises(SystemExit, match="nor a file that can be read"):
        main(["no-such-text"])
    with pytest.raises(SystemExit, match="no held-out document"):
        main([FILE, "--vocab", "40", "--length", "100000"])
