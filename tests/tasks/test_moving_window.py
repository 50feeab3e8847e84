"""Moving-window sums: the exact numbers of the task, its ladder, and its measures on models that are known."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.models.transformer import Reading
from headway.tasks.moving_window import MovingWindow
from headway.tasks.sound import require_sound
from headway.tasks.task import as_example, functions_of
from headway.training.generation import Generated, generate

SUMS, REPEAT = MovingWindow(), MovingWindow(rule="repeat")
KEYS = jax.random.split(jax.random.key(0), 4000)


def rows(task, count=4000):
    return np.asarray(jax.vmap(task.sample)(KEYS[:count]))


def test_a_row_is_numbers_a_mark_and_the_sums_of_neighbours():
    row = rows(SUMS, 1)[0]
    numbers, outputs = row[:16], row[17:]
    assert row[16] == 17 and numbers.min() >= 1 and numbers.max() <= 16
    assert outputs[0] == numbers[0]
    assert np.array_equal(outputs[1:], (numbers[:-1] + numbers[1:]) % 17)
    assert np.array_equal(rows(REPEAT, 1)[0][17:], np.repeat(rows(REPEAT, 1)[0][0], 16))


def test_the_ladder_has_the_exact_losses():
    """(16 ln 16 + 15 H_y) / 32, 15 (ln 16 + H_y) / 32 and 15 ln 16 / 32, H_y = (1/16) ln 16 + (15/16) ln (256/15)."""
    entropy = math.log(16) / 16 + 15 / 16 * math.log(256 / 15)
    assert entropy == pytest.approx(2.8331, abs=5e-5)
    assert SUMS.rung_losses[1:] == pytest.approx((2.7143, 2.6277, 1.2997), abs=5e-5)
    assert SUMS.rung_losses[2] == pytest.approx(15 * (math.log(16) + entropy) / 32)


@pytest.mark.parametrize("task", [SUMS, REPEAT])
def test_the_rungs_lose_what_they_should_on_rows_that_were_drawn(task):
    require_sound(task)
    functions = functions_of(task)

    def losses(row):
        return jnp.stack([functions.loss((), rung, as_example(task, row)) for rung in task.ladder(row)])

    means = np.asarray(jax.vmap(losses)(jnp.asarray(rows(task)))).mean(axis=0)
    np.testing.assert_allclose(means, task.rung_losses, rtol=2e-4)


def test_on_the_plateau_31_of_256_outputs_are_right_and_data_repeat_rarely():
    """y_1, and 0 for all others: (1 + 15/16) / 16; y_i = y_(i+1) if x_(i-1) = x_(i+1), and never for i = 1."""
    assert SUMS.plateau_accuracy == 31 / 256
    outputs = rows(SUMS)[:, 17:]
    constant = np.concatenate([outputs[:, :1], np.zeros((4000, 15), int)], axis=1)
    assert np.mean(constant == outputs) == pytest.approx(31 / 256, abs=0.003)
    assert SUMS.repetition == pytest.approx(0.0583, abs=5e-5)
    assert np.mean(outputs[:, 1:] == outputs[:, :-1]) == pytest.approx(SUMS.repetition, abs=0.003)


class Oracle:
    """Knows the answers, and reads of a row only what came before: (row so far, position) -> the next token."""

    def __init__(self, rule):
        self.rule = rule

    def read(self, tokens, predicted):
        next_tokens = jnp.stack([self.rule(tokens, place) for place in range(tokens.shape[0])])
        logits = 20.0 * jax.nn.one_hot(next_tokens, 18)
        return Reading(logits[-predicted:], (_heads(),), logits[-predicted:])


def _heads():
    pattern = jnp.zeros((1, 32, 32))
    for query, key in ((16, 0), *((16 + i, j) for i in range(1, 16) for j in (i - 1, i))):
        pattern = pattern.at[0, query, key].set(-1.0)
    return type("Heads", (), {"pattern": pattern})


def summing(tokens, place):
    if place < 16:
        return jnp.asarray(17)
    return tokens[0] if place == 16 else (tokens[place - 17] + tokens[place - 16]) % 17


def measured(rule, row):
    model = Oracle(rule)
    reading = model.read(row[:-1], 32)
    return SUMS.measures(row, reading._replace(generated=generate(model, row, 16, 32)))


def test_a_model_that_adds_up_generates_all_outputs_and_looks_where_it_should():
    row = jnp.asarray(rows(SUMS, 1)[0])
    found = measured(summing, row)
    assert found["accuracy_generated"] == 1 and found["accuracy_first"] == 1
    assert found["attention_relevant"] == pytest.approx(1)
    assert found["repetition"] == pytest.approx(np.mean(np.asarray(row[18:]) == np.asarray(row[17:-1])))


def test_a_model_that_copies_what_stands_before_it_repeats_itself_to_the_end():
    """Its own first word comes again and again: what it generates is not what it would say of the true outputs."""
    row = jnp.asarray(rows(SUMS, 1)[0])
    copying = lambda tokens, place: tokens[0] if place == 16 else tokens[place]  # noqa: E731
    said = generate(Oracle(copying), row, 16, 32)
    assert isinstance(said, Generated)
    assert np.array_equal(said.tokens, np.repeat(row[0], 16))
    found = measured(copying, row)
    assert found["repetition"] == 1 and found["cosine"] == pytest.approx(1, abs=1e-6)
    assert found["accuracy_first"] == 1


def test_attention_is_emphasised_for_every_output_but_the_first():
    assert len(SUMS.relevant) == 30 and (16, 0) not in SUMS.relevant and (17, 0) in SUMS.relevant
    assert REPEAT.relevant == tuple((16 + i, 0) for i in range(1, 16))
