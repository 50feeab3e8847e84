"""Text as tokens 0 .. vocab - 1: its most frequent characters, its bytes, or byte pairs learnt from its own."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from headway.corpora.texts import Parts
from headway.settings.checks import SettingsError, require
from headway.settings.extras import to_install

Array = np.ndarray
OTHER = "\ufffd"
"""How a character that is not in the vocabulary is written."""
SPELT = 12
"""Characters of a token that are shown."""
LEARNT_FROM = 20_000_000
"""Bytes of the training part from which byte pairs are learnt, at most."""


@dataclass(frozen=True, repr=False)
class Tokens:
    """The documents of every part as tokens, and how each token is written."""

    vocab: int
    training: list[Array]
    tuning: list[Array]
    held_out: list[Array]
    written: tuple[str, ...]

    def __repr__(self) -> str:
        sizes = (sum(map(len, part)) for part in (self.training, self.tuning, self.held_out))
        return "Tokens({} of training, {} of tuning, {} held out)".format(*sizes)


def tokens_of(parts: Parts, kind: str, vocab: int) -> Tokens:
    """The parts of a text as tokens of a kind: "characters", "bytes" or "bpe"."""
    encode, written = {"characters": _characters, "bytes": _bytes, "bpe": _byte_pairs}[kind](parts.training, vocab)
    bits = smallest(vocab)
    training, tuning, held_out = ([encode(each).astype(bits) for each in part] for part in parts)
    return Tokens(vocab, training, tuning, held_out, written)


def smallest(vocab: int) -> type[np.integer]:
    """The type with the fewest bits that holds every token."""
    return np.uint8 if vocab <= 2**8 else np.uint16 if vocab <= 2**16 else np.int32


Encoder = tuple[Callable[[bytes], Array], tuple[str, ...]]


def _codes(document: bytes) -> Array:
    """The characters of a document as numbers."""
    return np.frombuffer(document.decode("utf-8", "replace").encode("utf-32-le"), np.uint32)


def _characters(documents: Sequence[bytes], vocab: int) -> Encoder:
    """The vocab - 1 most frequent characters in the order of their codes, and one token for all others."""
    counts = np.zeros(0x110000, np.int64)
    for document in documents:
        counts += np.bincount(_codes(document), minlength=len(counts))
    # Among equally frequent ones the first: a stable sort by falling counts.
    frequent = np.argsort(-counts, kind="stable")[: vocab - 1]
    known = np.sort(frequent[counts[frequent] > 0])
    number = np.full(len(counts), vocab - 1, np.int32)
    number[known] = np.arange(len(known))
    written = [chr(code) for code in known] + [OTHER] * (vocab - len(known))
    return lambda document: number[_codes(document)], tuple(written)


def _bytes(_documents: Sequence[bytes], vocab: int) -> Encoder:
    written = tuple(chr(code) if 32 <= code < 127 or code == 10 else f"\\x{code:02x}" for code in range(vocab))
    return lambda document: np.frombuffer(document, np.uint8), written


def lacks_byte_pairs() -> str:
    """Why byte pairs cannot be made here, and what to do; nothing if they can."""
    if importlib.util.find_spec("tokenizers"):
        return ""
    return (
        f"byte pairs are made by the package tokenizers, which is not installed. {to_install('text')} "
        "Or use --task.tokeniser characters."
    )


def _byte_pairs(documents: Sequence[bytes], vocab: int) -> Encoder:
    """Byte-level pairs, learnt by the library `tokenizers`: every text can be written in them."""
    require(not lacks_byte_pairs(), lacks_byte_pairs())
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=vocab, initial_alphabet=alphabet, special_tokens=[], show_progress=False)
    texts, room = [], LEARNT_FROM
    for document in documents:
        texts.append(document[: max(0, room)].decode("utf-8", "replace"))
        room -= len(document)
    tokenizer.train_from_iterator(texts, trainer)
    got = tokenizer.get_vocab_size()
    if got > vocab:
        raise SettingsError(f"byte pairs need {got} tokens for the bytes alone, but task.vocab is {vocab}. Use more.")
    written = [tokenizer.decode([token]) for token in range(got)] + [OTHER] * (vocab - got)

    def encode(document: bytes) -> Array:
        """Line by line: the library is slow on long texts."""
        lines = document.decode("utf-8", "replace").splitlines(keepends=True)
        found = [each.ids for each in tokenizer.encode_batch(lines)]
        return np.fromiter((token for ids in found for token in ids), np.int32)

    return encode, tuple(written)


def code_points(words: Sequence[str]) -> Array:
    """Words as numbers, then zeros, (word, SPELT): an array of a program holds no letters."""
    found = np.zeros((len(words), SPELT), np.int32)
    for row, word in zip(found, words, strict=True):
        row[: len(word[:SPELT])] = [ord(letter) for letter in word[:SPELT]]
    return found


def shuffled(documents: Sequence[Array], window: int, seed: int) -> list[Array]:
    """Every document with the tokens of each window of this size in random order; the last window may be smaller."""
    if window == 1:
        return list(documents)
    found = []
    for number, document in enumerate(documents):
        rank = np.random.default_rng((seed, number)).random(len(document))
        found.append(document[np.lexsort((rank, np.arange(len(document)) // window))])
    return found
