"""Cells of one shape in one program: every member is what it would be alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.training.tiny import EVALUATIONS, TINY, bits, changed, trained, with_checkpoints

from headway.records import Cell
from headway.training.group import Group
from headway.training.problem import form, problem, shape
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


@pytest.fixture(scope="module")
def group():
    return Group([Cell(TINY, SEEDS)])


def close(a, b, seed, tolerance=2e-6):
    """Whether two outcomes of a seed differ by rounding only."""
    rows = [outcome.trajectory.seeds.index(seed) for outcome in (a, b)]
    return all(
        np.allclose(
            a.trajectory[name][rows[0]], b.trajectory[name][rows[1]], rtol=tolerance, atol=tolerance, equal_nan=True
        )
        for name in a.trajectory.arrays
    )


@pytest.mark.bits
def test_a_seed_does_not_depend_on_its_neighbours(whole):
    [others] = trained([Cell(TINY, (0, 5, 7))])
    assert others.bits(0) == whole.bits(0)
    assert others.bits(5)["train_loss"] != whole.bits(1)["train_loss"]


@pytest.mark.bits
def test_a_seed_does_not_depend_on_its_place(whole):
    [turned] = trained([Cell(TINY, (2, 0, 1))])
    assert all(turned.bits(seed) == whole.bits(seed) for seed in SEEDS)


@pytest.mark.bits
def test_a_seed_alone_is_bit_for_bit_the_same(whole):
    [alone] = trained([Cell(TINY, (0,))])
    assert alone.bits(0) == whole.bits(0)


def test_side_by_side_is_the_same_as_in_turn_to_rounding(whole):
    [beside] = trained([Cell(TINY, SEEDS)], at_once=3)
    found = beside.trajectory
    for name, values in found.arrays.items():
        np.testing.assert_allclose(values, whole.trajectory[name], rtol=2e-5, atol=2e-6)
    assert found["train_loss"].std(axis=0).min() > 1e-3, "the seeds differ"


@pytest.fixture(scope="module")
def mixture():
    """Members that differ in every number that may differ; programs of three."""
    cells = [Cell(settings, (0,)) for settings in NUMBERS.values()]
    found = [*trained(cells[:3], capacity=20), *trained(cells[3:], capacity=20)]
    return dict(zip(NUMBERS, found, strict=True))


@pytest.mark.bits
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
    "vocab": changed(TINY, task={"vocab": 6}),
    "batch": changed(TINY, training={"batch": 4}),
    "steps": changed(TINY, training={"steps": 13}),
    "optimiser": changed(TINY, training={"optimiser": "sgd"}),
    "evaluation": changed(TINY, evaluation={"points": 5}),
    "context": changed(TINY, task={"context": 1}),
    "base": changed(TINY, task={"base": 3.0}),
}


def test_cells_share_a_program_exactly_if_only_their_numbers_differ():
    assert {shape(settings) for settings in NUMBERS.values()} == {shape(TINY)}
    assert len({shape(settings) for settings in SHAPES.values()} | {shape(TINY)}) == len(SHAPES) + 1


def test_a_set_smaller_than_the_batch_has_a_program_of_its_own_and_all_others_share_one():
    """It is seen whole at every step, which shall not cost as much as a batch of the others: batches of 8."""
    shapes = {samples: shape(changed(TINY, training={"samples": samples})) for samples in (5, 7, 8, 9, 20, 9000)}
    assert len({shapes[samples] for samples in (8, 9, 20, 9000)}) == 1
    assert len({shapes[samples] for samples in (5, 7, 8)}) == 3


@pytest.mark.parametrize(("samples", "rows"), [(5, 5), (8, 8), (20, 8)])
def test_a_batch_has_no_more_rows_than_the_set(samples, rows):
    group = Group([Cell(changed(TINY, training={"samples": samples}), (0,))])
    problem, member = group.program.problem, jax.tree.map(lambda leaf: leaf[0], group.program.members)
    drawn, real = jax.eval_shape(lambda m: problem.draw(m, problem.begin(m)[1], 0), member)
    assert (drawn.examples.shape, real.shape) == ((rows, TINY.task.length + 1), (rows,))


def test_the_combinations_of_blocks_are_measured_where_the_settings_ask_for_them():
    for wanted in (False, True):
        group = Group([Cell(changed(TINY, evaluation={"comparisons": wanted}), (0,))])
        problem, member = group.program.problem, jax.tree.map(lambda leaf: leaf[0], group.program.members)

        def probed(member, problem=problem):
            model, data = problem.begin(member)
            return problem.probe(model, member, data)

        found = jax.eval_shape(probed, member)
        assert found["kl_rungs"].shape == (3,)
        assert ("kl_subsets" in found) == wanted
        assert not wanted or found["kl_subsets"].shape == (4,)


def test_where_dropout_follows_the_epochs_sets_of_different_sizes_have_different_shapes():
    dropping = changed(TINY, model={"dropout": 0.1})
    larger = {"samples": 33}
    for when, alike in (("always", True), ("first-of-epoch", False)):
        settings = changed(dropping, training={"dropout": when})
        assert (shape(settings) == shape(changed(settings, training=larger))) == alike


def test_a_group_of_two_shapes_is_refused():
    with pytest.raises(ValueError, match="these cells have 2 shapes; a program has one"):
        Group([Cell(TINY, (0,)), Cell(SHAPES["vocab"], (0,))])


@pytest.mark.parametrize(
    ("dropout", "when", "samples", "every"),
    [(0.0, "always", 20, 0), (0.1, "always", 20, 1), (0.1, "first-of-epoch", 20, 3), (0.1, "first-of-epoch", 8, 1)],
)
def test_dropout_acts_always_never_or_on_the_first_step_of_an_epoch(dropout, when, samples, every):
    settings = changed(TINY, model={"dropout": dropout}, training={"dropout": when, "samples": samples})
    assert problem(settings, samples, form(settings, samples, 1)).noisy_every == every


def test_a_step_with_noise_is_a_step_with_dropout():
    settings = changed(TINY, model={"dropout": 0.3})
    group = Group([Cell(settings, SEEDS)])
    model, data = group.program.problem.begin(jax.tree.map(lambda leaf: leaf[0], group.program.members))
    sequence = data.training[0]
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
        "gradient_norm": (3, 6),
        "loss": (3, 6),
        "accuracy": (3, 6),
        "excess_loss": (3, 6),
        "excess_halves": (3, 6, 2),
        "kl_rungs": (3, 6, 3),
        "attention_by_lag": (3, 6, 1, 2, 5),
        "value_alignment": (3, 6, 1, 2, 2),
        "attention": (3, 4, 1, 2, 4, 5),
    }
    assert {values.dtype for values in found.arrays.values()} == {np.dtype(np.float32)}
    assert {name: values.shape for name, values in found.facts.items()} == {
        "entropy": (3,),
        "rung_loss": (3, 3),
        "rung_excess": (3, 3),
        "kl_stageless": (3, 3),
        "diverged_at": (3,),
    }


@pytest.fixture(scope="module")
def data(group):
    """What every seed learns from and is measured on."""
    return jax.jit(jax.vmap(lambda member: group.program.problem.begin(member)[1]))(group.program.members)


def test_a_seed_draws_its_training_set_its_test_set_and_its_features_apart(data):
    """Else a model would be measured on what it was trained on."""
    assert (np.asarray(data.training[:, :16]) != np.asarray(data.test)).any(axis=2).mean() > 0.5
    assert len(np.unique(np.asarray(data.world.matrices).reshape(6, 25), axis=0)) == 6, "a seed has its own chain"


@pytest.mark.bits
def test_chain_and_test_sequences_are_functions_of_the_seed_that_others_can_call(data):
    """The hand-made solution is measured on the same ones."""
    for row, seed in enumerate(SEEDS):
        world, key = TINY.task.world(key_of(seed, FEATURES)), key_of(seed, TEST_SET)
        np.testing.assert_allclose(data.world.matrices[row], world.matrices, rtol=1e-5, atol=1e-5)
        wanted = [TINY.task.sample(world, jax.random.fold_in(key, i)) for i in range(3)]
        np.testing.assert_array_equal(data.test[row, :3], wanted)


@pytest.mark.bits
def test_training_from_every_checkpoint_ends_with_the_same_bits(group, whole):
    ticks, saved = with_checkpoints(group)
    for number in range(1, len(ticks) - 1):
        later = list(group.ticks(ticks[number].step, saved[number]))
        joined = group.part([*ticks[: number + 1], *later], 0)
        assert bits(joined.arrays) == bits(whole.trajectory.arrays)
        assert bits(group.weights()[0]) == bits(whole.weights)


@pytest.mark.bits
def test_going_on_from_the_last_checkpoint_gives_the_weights_and_does_nothing(group, whole):
    ticks, saved = with_checkpoints(group)
    [tick] = group.ticks(ticks[-1].step, saved[-1])
    assert (tick.step, tick.losses.shape, tick.measured) == (12, (3, 0), None)
    assert bits(group.weights()[0]) == bits(whole.weights)


def test_ticks_come_at_every_evaluation_and_at_least_every_so_many_steps(group, whole, monkeypatch):
    monkeypatch.setattr("headway.training.group.ROOM", 3)
    ticks = list(group.ticks(0, None))
    assert [tick.step for tick in ticks] == [0, 1, 2, 5, 7, 10, 12]
    assert [tick.measured is not None for tick in ticks] == [True, True, True, True, True, False, True]
    assert [tick.losses.shape[1] for tick in ticks] == [0, 1, 1, 3, 2, 3, 2]
    assert bits(group.part(ticks, 0).arrays) == bits(whole.trajectory.arrays)


def test_a_seed_that_diverges_says_when_and_leaves_the_others_alone(whole):
    absurd = changed(TINY, training={"learning_rate": 1e30})
    sick, sound = trained([Cell(absurd, (0,)), Cell(TINY, (1, 2))])
    assert list(sick.trajectory.facts["diverged_at"]) == [2]
    assert all(np.isfinite(values).all() for values in sick.weights.values())
    after = sick.trajectory["kl_rungs"][0, EVALUATIONS.index(2) :]
    assert (after == after[0]).all(), "it stands still"
    assert list(sound.trajectory.facts["diverged_at"]) == [-1, -1]
    assert all(sound.bits(seed) == whole.bits(seed) for seed in (1, 2))
