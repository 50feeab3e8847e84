"""Real text as a task: what is drawn, what is held out, and what is measured, each against its words."""

from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.corpora.arrays import read
from headway.settings import SettingsError
from headway.tasks.sound import require_sound
from headway.tasks.task import functions_of
from headway.tasks.text import CONFIDENCE, NEAR, Text, _by_confidence, _near, _prefix_matching

FILE = str(Path(__file__).parents[1] / "data" / "speeches.txt")
TASK = Text(FILE, vocab=40, length=24, orders=3, lags=3, probes=6)


@pytest.fixture(scope="module")
def world():
    return functions_of(TASK).world(jax.random.key(0))


def documents(task):
    return read(task.text, task.digest, task.tokeniser, task.vocab, task.shuffled)


def contains(tokens, row):
    return any(row.astype(each.dtype).tobytes() in each.tobytes() for each in tokens)


def test_training_sees_stretches_of_the_training_part_and_the_probe_is_held_out(world):
    parts = documents(TASK)
    rows = np.asarray(jax.vmap(lambda key: TASK.sample(world, key))(jax.random.split(jax.random.key(1), 50)))
    probe = np.stack([TASK.held_out(world, number).inputs for number in range(6)])
    assert rows.shape == (50, 25) and probe.shape == (6, 24)
    assert all(contains(parts.training, row) for row in rows) and all(contains(parts.held_out, row) for row in probe)
    assert sum(contains(parts.held_out, row) for row in rows) < 5, "but for a phrase that speeches repeat"


def test_the_task_is_sound_and_its_ladder_descends_on_the_probe(world):
    require_sound(TASK)
    examples = [TASK.held_out(world, number) for number in range(6)]
    losses = np.mean([[TASK.loss(world, rung, each) for rung in TASK.ladder(world, each)] for each in examples], axis=0)
    assert TASK.rungs == ("uniform", "unigram", "bigram", "trigram", "trigram and cache")
    assert (np.diff(losses[:-1]) < 0).all() and losses[0] == pytest.approx(np.log(40), rel=1e-5)
    information = np.asarray(TASK.facts(world)["information"])
    np.testing.assert_allclose(-np.diff(losses[1:4]), information, atol=0.15)  # of all that is held out
    compared = TASK.comparisons(world, examples[0])
    assert {name: each.shape for name, each in compared.items()} == {"skips": (3, 24, 40), "pairs": (2, 24, 40)}


@pytest.mark.parametrize("changes", [{}, {"lags": 0, "interleaved": 2}], ids=["with skip-grams", "interleaved"])
def test_a_plan_knows_how_large_the_arrays_can_be_without_counting(changes):
    task = replace(TASK, **changes)
    found, bounds = task.shared(), task.shared_shapes()
    assert jax.tree.structure(found) == jax.tree.structure(bounds)
    for array, bound in zip(jax.tree.leaves(found), jax.tree.leaves(bounds), strict=True):
        assert array.dtype == bound.dtype and np.ndim(array) == bound.ndim
        assert all(size <= most for size, most in zip(array.shape, bound.shape, strict=True))
    assert bounds.tokens.nbytes < 2 * Path(FILE).stat().st_size
    assert replace(TASK, text="enwik8", digest="").shared_shapes().tokens.shape == (100_000_000,)


def test_woven_stretches_are_text_at_every_second_token():
    task = Text(FILE, vocab=40, length=24, orders=3, probes=2, interleaved=2)
    world = functions_of(task).world(jax.random.key(0))
    parts = documents(task)
    row = np.asarray(task.sample(world, jax.random.key(3)))
    probe = np.asarray(task.held_out(world, 1).inputs)
    for whole, part in ((row, parts.training), (probe, parts.held_out)):
        assert contains(part, whole[::2]) and contains(part, whole[1::2]) and not contains(part, whole)
    near = task.ladder(world, task.held_out(world, 0))[2]
    other = np.asarray(task.held_out(world, 0).inputs)
    assert len({tuple(np.asarray(near[t])) for t in range(1, 24)}) == len(set(other[:23])), "the bigram skips one token"


def test_a_text_of_another_file_is_another_run_and_a_moved_record_needs_no_file(tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("another text\n" * 50)
    assert Text(str(other)).digest != TASK.digest and len(TASK.digest) == 64
    gone = Text(str(tmp_path / "gone.txt"), digest=TASK.digest)
    assert gone.vocab == 96
    with pytest.raises(SettingsError, match="nor a file that can be read"):
        gone.shared()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"length": 10}, "need at least 12"),
        ({"tokeniser": "bytes"}, "there are 256 bytes"),
        ({"tokeniser": "bpe", "vocab": 100}, "on top of 256 bytes"),
        ({"text": "speeches", "digest": "ab"}, "task.digest is of a file"),
        ({"text": "no-such-text"}, "neither a text with a name"),
    ],
)
def test_what_cannot_work_is_refused_in_words(changes, said):
    with pytest.raises(SettingsError, match=said):
        Text(**{"text": FILE, "length": 24, "orders": 6, **changes})


def test_a_text_too_short_for_the_context_says_so():
    with pytest.raises(SettingsError, match=r"no document of .* has 4001 tokens"):
        Text(FILE, length=4000).shared()


def test_the_probe_is_what_is_tested():
    usual = Text.usual()
    with pytest.raises(SettingsError, match=r"Make --task\.probes and --training\.test_samples equal"):
        usual.changed(task={"probes": 8})
    with pytest.raises(SettingsError, match="fresh sequences"):
        usual.changed(training={"data": "finite"})


def looking(back, length=24):
    """One head that looks `back` tokens behind each, and at the first where there are fewer."""
    return jax.nn.one_hot(np.maximum(np.arange(length) - back, 0), length)[None, None]


@pytest.mark.parametrize("back", [0, 1, 5])
def test_attention_to_a_lag_is_that_of_a_head_which_looks_there(back):
    near = _near(looking(back))
    assert near.shape == (1, 1, NEAR)
    np.testing.assert_array_equal(near[0, 0], np.arange(NEAR) == back)


def test_prefix_matching_is_one_for_a_head_that_looks_behind_the_last_occurrence_and_none_for_others():
    period = jnp.asarray(7)
    assert _prefix_matching(looking(6), period)[0, 0] == 1
    assert _prefix_matching(looking(13), period)[0, 0] == pytest.approx(11 / 17)  # two periods, where there are two
    for back in (0, 1, 5, 7, 8):
        assert _prefix_matching(looking(back), period)[0, 0] == 0 or back == 0
    task = Text(FILE, vocab=40, length=24, orders=3, probes=6, repeated=1.0)
    world = functions_of(task).world(jax.random.key(0))
    for number in range(8):
        example = task.held_out(world, number)
        tokens, again = np.asarray(example.inputs), int(example.extra.period)
        np.testing.assert_array_equal(tokens[again:], tokens[:-again])


def test_confidence_alone_is_measured_by_the_definition():
    rng = np.random.default_rng(0)
    said = np.log(rng.dirichlet(np.ones(5), (3, 4)))
    logits = rng.normal(size=(4, 5))
    found = np.asarray(_by_confidence(jnp.asarray(said), jnp.asarray(logits)))
    for place, s in enumerate(CONFIDENCE):
        model = jax.nn.log_softmax(s * logits)
        wanted = np.mean(np.sum(np.exp(said) * (said - model), axis=-1), axis=-1)
        np.testing.assert_allclose(found[place], wanted, rtol=1e-4, atol=1e-5)
