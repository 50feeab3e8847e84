"""python -m headway.corpora.losses TEXT: -mean log p(next token) of every rung over held-out text, in nats.

As in a run, a rung sees no more than the stretch: at its first positions it falls back on shorter contexts.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from headway.analysis.ngrams import Ngrams
from headway.corpora import rungs
from headway.corpora.arrays import TUNING_ROWS, counted, read, spread
from headway.corpora.texts import TEXTS, digest_of
from headway.settings.checks import SettingsError, require

Array = np.ndarray
AT_A_TIME = 32
"""Stretches whose distributions are in memory together."""


def rung_losses(model: Ngrams, strengths: tuple[float, ...], rows: Array) -> Array:
    """Of the rungs of `rungs.ladder`, over every token of rows (row, time) but the first of each: (rung,)."""
    total = np.zeros(model.orders + 2)
    for first in range(0, len(rows), AT_A_TIME):
        own = rows[first : first + AT_A_TIME]
        said = rungs.ladder(model, strengths, own)[:, :, 1:]
        came = np.take_along_axis(said, own[None, :, 1:, None], axis=-1)
        total -= came.sum(axis=(1, 2, 3), dtype=np.float64)
    return total / (rows.shape[0] * (rows.shape[1] - 1))


def held_out_losses(
    text: str, tokeniser: str, vocab: int, orders: int, length: int, shuffled: int, stretches: int
) -> dict[str, float]:
    """Rung -> loss, over so many stretches of `length` + 1 tokens, evenly spread over the held-out part."""
    key = text, "" if text in TEXTS else digest_of(text), tokeniser, vocab, shuffled
    tokens, model = read(*key), counted(*key, orders)
    require(
        any(len(each) > length for each in tokens.held_out),
        f"--length is {length}, but no held-out document of {text} is as long. Use less.",
    )
    strengths = rungs.cache_strengths(model, spread(tokens.tuning or tokens.held_out, length + 1, TUNING_ROWS))
    losses = rung_losses(model, strengths, spread(tokens.held_out, length + 1, stretches))
    names = "uniform", *(f"{order}" for order in range(1, model.orders + 1)), "and cache"
    return dict(zip(names, map(float, losses), strict=True))


def main(arguments: list[str] | None = None) -> None:
    asked = argparse.ArgumentParser(prog="python -m headway.corpora.losses", description=__doc__)
    asked.add_argument("text", help=f"{', '.join(TEXTS)}, or a file")
    asked.add_argument("--tokeniser", choices=("characters", "bytes", "bpe"), default="characters")
    asked.add_argument("--vocab", type=int, default=96, help="vocabulary size")
    asked.add_argument("--orders", type=int, default=7, help="highest order of the n-grams")
    asked.add_argument("--length", type=int, default=64, help="tokens that a rung sees at most")
    asked.add_argument("--shuffled", type=int, default=1, help="shuffle tokens within windows of this size")
    asked.add_argument("--stretches", type=int, default=1024, help="number of held-out stretches")
    try:
        losses = held_out_losses(**vars(asked.parse_args(arguments)))
    except SettingsError as error:
        sys.exit(str(error))
    sys.stdout.write(" ".join(f"{name:>9}" for name in losses) + "\n")
    sys.stdout.write(" ".join(f"{loss:9.3f}" for loss in losses.values()) + "\n")


if __name__ == "__main__":
    main()
