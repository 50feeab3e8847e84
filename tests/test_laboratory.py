"""Cells of one shape in one program: every member is what it would be alone."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from headway.tasks.markov import markov_chain
from headway.training.train import Program
from tests.training.tiny import EVALUATIONS, TINY, changed, trained

from headway.kernels import form_of
from headway.laboratory import Group, precision, problem, shape_of
from headway.records import Cell
from headway.training.randomness import FEATURES, TEST_SET, key_of

SEEDS = (0, 1, 2)

NUMBERS = {
    "learning-rate": changed(TINY, training={"learning_rate": 0.2}),
    "weight-decay": changed(TINY, training={"weight_decay": 0.7}),
    "clip": changed(TINY, training={"clip": 0.05}),
    "u": changed(TINY, model={"scale": 0.01}),
    "m": changed(TINY, task={"ratio": 1.1}),
    "samples": changed(TINY, training={"samples": 11}),
}
"""What may differ between the members of a program."""


pytestmark = pytest.mark.usefixtures("compilations")


@pytest.fixture(scope="module")
def group():
    return Group([Cell(TINY, SEEDS)])


def close(a, b, seed, tolerance=2e-6):
    """Whether two outcomes of a seed differ by rounding only."""
    rows = [outcome.trajectory.seeds.index(seed) for outcome in (a, b)]
    return all(
        np.allclose(a.trajectory[name][rows[0]], b.trajectory[name][rows[1]], rtol=tolerance, atol=tolerance)
        for name in a.trajectory.arrays
    )


def test_a_seed_does_not_depend_on_its_neighbours(whole):
    [others] = trained([Cell(TINY, (0, 5, 7))])
    assert others.bits(0) == whole.bits(0)
    assert others.bits(5)["train_loss"] != whole.bits(1)["train_loss"]


def test_a_seed_does_not_depend_on_its_place(whole):
    [turned] = trained([Cell(TINY, (2, 0, 1))])
    assert all(turned.bits(seed) == whole.bits(seed) for seed in SEEDS)


def test_a_seed_alone_is_the_same_to_rounding(whole):
    """To a compiler a loop over one member is no loop, so it may add up in another order."""
    [alone] = trained([Cell(TINY, (0,))])
    assert close(alone, whole, 0)


def test_side_by_side_is_the_same_as_in_turn_to_rounding(group, whole):
    beside = Program(group.program.problem, group.program.members, together=3)
    with precision(TINY):
        segments = list(beside.train(*group.program.begin(), 0, EVALUATIONS))
    found = group.part(segments, 0)
    for name, values in found.arrays.items():
        np.testing.assert_allclose(values, whole.trajectory[name], rtol=2e-5, atol=2e-6)
    assert found["train_loss"].std(axis=0).min() > 1e-3, "the seeds differ"


@pytest.fixture(scope="module")
def mixture():
    """Members that differ in every number that may differ; programs of three."""
    cells = [Cell(settings, (0,)) for settings in NUMBERS.values()]
    found = [*trained(cells[:3], capacity=20), *trained(cells[3:], capacity=20)]
    return dict(zip(NUMBERS, found, strict=True))


@pytest.mark.parametrize("name", NUMBERS)
def test_members_that_differ_in_a_number_are_bit_for_bit_what_they_are_among_their_like(mixture, whole, name):
    """For the size of the training set this means: whatever room the others need."""
    [alike] = trained([Cell(NUMBERS[name], SEEDS)])
    assert mixture[name].bits(0) == alike.bits(0)
    assert alike.bits(0)["train_loss"] != whole.bits(0)["train_loss"], "the number matters"


def test_a_set_smaller_than_the_batch_is_the_same_to_rounding_beside_a_larger_one():
    """Among its like its batches have its own size, beside a larger one they are padded."""
    small = Cell(changed(TINY, training={"samples": 5}), SEEDS)
    [alike], [padded] = trained([small]), trained([small], capacity=20)
    assert all(close(alike, padded, seed) for seed in SEEDS)


def test_a_group_has_room_for_its_largest_set_and_refuses_less():
    cells = [Cell(TINY, (0,)), Cell(changed(TINY, training={"samples": 33}), (0,))]
    assert Group(cells).capacity == 33
    with pytest.raises(ValueError, match=r"32 rows cannot hold a training set of 33. Use capacity >= 33"):
        Group(cells, capacity=32)


SHAPES = {
    "tokens": changed(TINY, task={"vocab": 6}),
    "batch": changed(TINY, training={"batch": 4}),
    "steps": changed(TINY, training={"steps": 13}),
    "optimiser": changed(TINY, training={"optimiser": "sgd"}),
    "evaluation": changed(TINY, evaluation={"points": 5}),
    "context": replace(TINY, context=1),
    "base": changed(TINY, task={"base": 3.0}),
}


def test_cells_share_a_program_exactly_if_only_their_numbers_differ():
    assert {shape_of(settings) for settings in NUMBERS.values()} == {shape_of(TINY)}
    assert len({shape_of(settings) for settings in SHAPES.values()} | {shape_of(TINY)}) == len(SHAPES) + 1


def test_a_set_smaller_than_the_batch_has_a_program_of_its_own_and_all_others_share_one():
    """It is seen whole at every step, which shall not cost as much as a batch of the others: batches of 8."""
    shapes = {samples: shape_of(changed(TINY, training={"samples": samples})) for samples in (5, 7, 8, 9, 20, 9000)}
    assert len({shapes[samples] for samples in (8, 9, 20, 9000)}) == 1
    assert len({shapes[samples] for samples in (5, 7, 8)}) == 3


@pytest.mark.parametrize(("samples", "rows"), [(5, 5), (8, 8), (20, 8)])
def test_a_batch_has_no_more_rows_than_the_set(samples, rows):
    group = Group([Cell(changed(TINY, training={"samples": samples}), (0,))])
    problem, member = group.program.problem, jax.tree.map(lambda leaf: leaf[0], group.program.members)
    sequences, real = jax.eval_shape(lambda m: problem.draw(m, problem.begin(m)[1], 0), member)
    assert (sequences.shape, real.shape) == ((rows, TINY.task.length + 1), (rows,))


def test_the_combinations_of_blocks_are_measured_where_the_settings_ask_for_them():
    for wanted in (False, True):
        group = Group([Cell(changed(TINY, evaluation={"subsets": wanted}), (0,))])
        problem, member = group.program.problem, jax.tree.map(lambda leaf: leaf[0], group.program.members)
        found = jax.eval_shape(lambda m, problem=problem: problem.probe(*problem.begin(m)), member)
        assert found["kl_rungs"].shape == (3,)
        assert ("kl_subsets" in found) == wanted
        assert not wanted or found["kl_subsets"].shape == (4,)


def test_where_dropout_follows_the_epochs_sets_of_different_sizes_have_different_shapes():
    dropping = changed(TINY, model={"dropout": 0.1})
    larger = {"samples": 33}
    for when, alike in (("always", True), ("first-of-epoch", False)):
        settings = changed(dropping, training={"dropout": when})
        assert (shape_of(settings) == shape_of(changed(settings, training=larger))) == alike


def test_a_group_of_two_shapes_is_refused():
    with pytest.raises(ValueError, match="these cells have 2 shapes; a program has one"):
        Group([Cell(TINY, (0,)), Cell(SHAPES["tokens"], (0,))])


@pytest.mark.parametrize(
    ("dropout", "when", "samples", "every"),
    [(0.0, "always", 20, 0), (0.1, "always", 20, 1), (0.1, "first-of-epoch", 20, 3), (0.1, "first-of-epoch", 8, 1)],
)
def test_dropout_acts_always_never_or_on_the_first_step_of_an_epoch(dropout, when, samples, every):
    settings = changed(TINY, model={"dropout": dropout}, training={"dropout": when, "samples": samples})
    assert problem(settings, samples, form_of(settings, 1, 1)).noisy_every == every


def test_a_step_with_noise_is_a_step_with_dropout():
    settings = changed(TINY, model={"dropout": 0.3})
    group = Group([Cell(settings, SEEDS)])
    states, data = group.program.begin()
    model, sequence = (jax.tree.map(lambda leaf: leaf[0], part) for part in (states.model, data.training[:, 0]))
    loss = lambda key: float(group.form.gradient(model, sequence[None], jnp.ones(1), key)[0])  # noqa: E731
    losses = [loss(jax.random.key(number)) for number in (1, 1, 2, 3)]
    silent = loss(None)
    assert losses[0] == losses[1]
    assert len({silent, *losses}) == 4
    shown = -jnp.mean(jax.nn.log_softmax(model(sequence[:-1], 4))[jnp.arange(4), sequence[2:]])
    assert silent == pytest.approx(float(shown), rel=1e-6)


def test_a_trajectory_has_the_arrays_and_clocks_that_were_agreed_on(whole):
    found = whole.trajectory
    assert list(found.clocks["step"]) == list(range(1, 13))
    assert list(found.clocks["evaluation"]) == EVALUATIONS
    assert list(found.clocks["snapshot"]) == [0, 2, 7, 12]
    shapes = {name: values.shape for name, values in found.arrays.items()}
    assert shapes == {
        "train_loss": (3, 12),
        "learning_rate": (3, 6),
        "excess_loss": (3, 6),
        "excess_halves": (3, 6, 2),
        "kl_rungs": (3, 6, 3),
        "attention_by_lag": (3, 6, 1, 2, 5),
        "attention": (3, 4, 1, 2, 4, 5),
    }
    assert {values.dtype for values in found.arrays.values()} == {np.dtype(np.float32)}
    assert {name: values.shape for name, values in found.facts.items()} == {
        "entropy": (3,),
        "rung_excess": (3, 3),
        "kl_stageless": (3, 3),
        "diverged_at": (3,),
    }


def test_a_seed_draws_its_training_set_its_test_set_and_its_features_apart(group, whole):
    """Else a model would be measured on what it was trained on."""
    data = group.data
    assert (np.asarray(data.training[:, :16]) != np.asarray(data.test)).any(axis=2).mean() > 0.5
    assert len(np.unique(np.asarray(data.chain.features).reshape(6, 25), axis=0)) == 6, "a seed has its own chain"


def test_chain_and_test_sequences_are_functions_of_the_seed_that_others_can_call(group, whole):
    """The hand-made solution is measured on the same ones."""
    for row, seed in enumerate(SEEDS):
        chain = markov_chain(TINY.task, key_of(seed, FEATURES))
        np.testing.assert_allclose(group.data.chain.features[row], chain.features, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(group.data.test[row], chain.sample_set(key_of(seed, TEST_SET), 16))


def test_training_from_every_checkpoint_ends_with_the_same_bits(group, whole):
    segments = list(group.segments(0, None))
    for number, segment in enumerate(segments[:-1]):
        if segment.step == 0:
            continue
        later = list(group.segments(segment.step, [group.checkpoints(segment)[0]]))
        joined = group.part([*segments[: number + 1], *later], 0)
        assert {name: values.tobytes() for name, values in joined.arrays.items()} == {
            name: values.tobytes() for name, values in whole.trajectory.arrays.items()
        }
        assert {name: values.tobytes() for name, values in group.weights(later[-1])[0].items()} == {
            name: values.tobytes() for name, values in whole.weights.items()
        }


def test_a_seed_that_diverges_says_when_and_leaves_the_others_alone(whole):
    absurd = changed(TINY, training={"learning_rate": 1e30})
    sick, sound = trained([Cell(absurd, (0,)), Cell(TINY, (1, 2))])
    assert list(sick.trajectory.facts["diverged_at"]) == [2]
    assert all(np.isfinite(values).all() for values in sick.weights.values())
    after = sick.trajectory["kl_rungs"][0, EVALUATIONS.index(2) :]
    assert (after == after[0]).all(), "it stands still"
    assert list(sound.trajectory.facts["diverged_at"]) == [-1, -1]
    assert all(sound.bits(seed) == whole.bits(seed) for seed in (1, 2))
