"""Tokens are the text again; shuffling moves them within their windows and nowhere else."""

import numpy as np
import pytest

from headway.corpora.texts import Parts
from headway.corpora.tokens import OTHER, shuffled, tokens_of
from headway.settings import SettingsError

PARTS = Parts([b"the people of the states\n", "caf\u00e9 \u2014 the end".encode()], [b"the tuning"], [b"the test: %"])


def written(tokens, document):
    return "".join(tokens.written[token] for token in document)


def test_characters_are_the_most_frequent_and_one_for_all_others():
    whole = tokens_of(PARTS, "characters", 40)
    assert [written(whole, each) for each in whole.training] == [each.decode() for each in PARTS.training]
    assert written(whole, whole.held_out[0]) == f"the test{OTHER} {OTHER}", "what training lacks is one token"
    few = tokens_of(PARTS, "characters", 4)
    kept = {" ", "e", "t"}  # the most frequent
    assert set(few.written) == {*kept, OTHER}
    assert written(few, few.tuning[0]) == "".join(each if each in kept else OTHER for each in "the tuning")


def test_bytes_are_bytes():
    tokens = tokens_of(PARTS, "bytes", 256)
    assert [each.tobytes() for each in tokens.training] == PARTS.training


def test_byte_pairs_spell_any_text_and_are_learnt_from_the_training_part_alone():
    pytest.importorskip("tokenizers")
    parts = Parts([b"the people and the states of the people " * 30], [], ["the caf\u00e9 people".encode()])
    tokens = tokens_of(parts, "bpe", 270)
    again = tokens_of(parts._replace(held_out=[b"else"]), "bpe", 270)
    np.testing.assert_array_equal(tokens.training[0], again.training[0])
    assert written(tokens, tokens.training[0]) == parts.training[0].decode()
    assert len(tokens.training[0]) < len(parts.training[0]) / 2 and tokens.training[0].max() < 270
    assert len(tokens.held_out[0]) < len(parts.held_out[0])


def test_without_the_library_byte_pairs_say_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    with pytest.raises(SettingsError, match="pip install"):
        tokens_of(PARTS, "bpe", 300)


@pytest.mark.parametrize("window", [1, 3, 8, 1000])
def test_shuffling_stays_within_windows(window):
    document = np.arange(50)
    [moved] = shuffled([document], window, 0)
    for first in range(0, 50, window):
        assert sorted(moved[first : first + window]) == list(document[first : first + window])
    assert (moved != document).any() == (window > 1)
    np.testing.assert_array_equal(moved, shuffled([document], window, 0)[0])
