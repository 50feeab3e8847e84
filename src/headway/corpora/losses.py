"""python -m headway.corpora.losses TEXT: -mean log p(next token) of every rung over held-out text, in nats.

As in a run, a rung sees no more than the stretch: at its first positions it falls back on shorter contexts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from headway.analysis.ngrams import Ngrams
from headway.corpora import rungs
from headway.corpora.arrays import TUNING_ROWS, counted, read, spread
from headway.corpora.texts import TEXTS, digest_of
from headway.settings.checks import require

Array = np.ndarray
AT_A_TIME = 32
"""Stretches whose distributions are in memory together."""


def surprise(said: Array, rows: Array) -> Array:
    """-mean log p of every token of rows (row, time) but the first, by predictors (predictor, row, time, vocab)."""
    came = np.take_along_axis(said[:, :, 1:], rows[None, :, 1:, None], axis=-1)
    return -came.mean(axis=(1, 2, 3), dtype=np.float64)


def rung_losses(model: Ngrams, strengths: Sequence[float], rows: Array) -> Array:
    """Of the rungs of `rungs.ladder`: (rung,)."""
    parts = [rows[first : first + AT_A_TIME] for first in range(0, len(rows), AT_A_TIME)]
    losses = [surprise(rungs.ladder(model, strengths, own), own) for own in parts]
    return np.average(losses, axis=0, weights=[len(own) for own in parts])


def skip_losses(documents: Sequence[Array], model: Ngrams, lags: int, rows: Array) -> dict[str, float]:
    """Of skip-grams: each lag alone, and each together with the previous token."""
    alone = surprise(rungs.skips(documents, model.vocab, lags, rows), rows)
    both = surprise(rungs.pairs(documents, model, lags, rows), rows)
    names = [f"lag {lag}" for lag in range(1, lags + 1)] + [f"1 and {lag}" for lag in range(2, lags + 1)]
    return dict(zip(names, map(float, [*alone, *both]), strict=True))


def held_out_losses(
    text: str, tokeniser: str, vocab: int, orders: int, length: int, shuffled: int, stretches: int, lags: int = 0
) -> dict[str, float]:
    """Rung -> loss, over so many stretches of `length` + 1 tokens, evenly spread over the held-out part.

    Skip-grams up to lag `lags` follow.
    """
    key = text, "" if text in TEXTS else digest_of(text), tokeniser, vocab, shuffled
    tokens, model = read(*key), counted(*key, orders)
    require(
        any(len(each) > length for each in tokens.held_out),
        f"--length is {length}, but no held-out document of {text} is as long. Use less.",
    )
    strengths = rungs.cache_strengths(model, spread(tokens.tuning or tokens.held_out, length + 1, TUNING_ROWS))
    rows = spread(tokens.held_out, length + 1, stretches)
    losses = rung_losses(model, strengths, rows)
    names = "uniform", *(f"{order}" for order in range(1, model.orders + 1)), "and cache"
    found = dict(zip(names, map(float, losses), strict=True))
    return found | (skip_losses(tokens.training, model, lags, rows) if lags else {})


def main(arguments: list[str] | None = None) -> None:
    asked = argparse.ArgumentParser(prog="python -m headway.corpora.losses", description=__doc__)
    asked.add_argument("text", help=f"{', '.join(TEXTS)}, or a file")
    asked.add_argument("--tokeniser", choices=("characters", "bytes", "bpe"), default="characters")
    asked.add_argument("--vocab", type=int, default=96, help="vocabulary size")
    asked.add_argument("--orders", type=int, default=7, help="highest order of the n-grams")
    asked.add_argument("--length", type=int, default=64, help="tokens that a rung sees at most")
    asked.add_argument("--shuffled", type=int, default=1, help="shuffle tokens within windows of this size")
    asked.add_argument("--lags", type=int, default=0, help="also skip-grams up to this lag")
    asked.add_argument("--stretches", type=int, default=1024, help="number of held-out stretches")
    try:
        losses = held_out_losses(**vars(asked.parse_args(arguments)))
    except ValueError as error:
        sys.exit(str(error))
    sys.stdout.write(" ".join(f"{name:>9}" for name in losses) + "\n")
    sys.stdout.write(" ".join(f"{loss:9.3f}" for loss in losses.values()) + "\n")


if __name__ == "__main__":
    main()
