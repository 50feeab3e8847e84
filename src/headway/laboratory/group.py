"""A chain, a transformer and an optimiser put together: cells of one shape become one program.

Settings that are plain numbers (`Numbers`) may differ between the members of a program;
everything else is its shape.
"""

import contextlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Integer

from headway.kernels import Form, form_of
from headway.laboratory.randomness import FEATURES, NOISE, ORDER, TEST_SET, TRAINING_SET, WEIGHTS, key_of
from headway.measurement import Experience, experience, facts_of, measure
from headway.models.initialisation import transformer
from headway.models.transformer import Transformer
from headway.records import Cell, Trajectory
from headway.settings import Settings
from headway.tasks.markov import markov_chain
from headway.training.checkpoint import fill, flatten
from headway.training.chunks import chunk_size, together
from headway.training.data import epoch_batch
from headway.training.optimisers import Number, Rates, current_rate, optimiser
from headway.training.schedule import evaluation_steps, snapshot_steps
from headway.training.train import Member, Problem, Program, Segment, Stretch


class Numbers(NamedTuple):
    """What may differ between the members of one program."""

    ratio: Number
    scale: Number
    samples: Int[Array, ""] | int
    rates: Rates


def numbers_of(settings: Settings) -> Numbers:
    """The settings that are plain numbers."""
    training = settings.training
    rates = Rates(training.learning_rate, training.weight_decay, training.momentum, training.clip)
    return Numbers(settings.task.ratio, settings.model.scale, training.samples, rates)


def shape_of(settings: Settings) -> Settings:
    """The settings with their plain numbers replaced: equal for cells that share a program."""
    training = settings.training
    # Where dropout follows the epochs, all members must have the same ones; and a set smaller than the batch, which
    # is seen whole at every step, shall not cost as much as the largest.
    follows = training.dropout == "first-of-epoch" and settings.model.dropout
    samples = training.samples if follows else min(training.samples, training.batch)
    return replace(
        settings,
        task=replace(settings.task, ratio=1.0),
        model=replace(settings.model, scale=1.0),
        training=replace(training, samples=samples, learning_rate=0.0, weight_decay=0.0, momentum=0.0, clip=0.0),
    )


class Group:
    """Cells of one shape with the same number of finished steps, trained together."""

    def __init__(
        self,
        cells: Sequence[Cell],
        references: Sequence[Sequence[Mapping[str, np.ndarray]]] = (),
        capacity: int | None = None,
    ):
        """`references[i]` are the saved weights of cell i's reference models, in the order of its settings.

        `capacity` rows hold every training set; those of the largest if not given.
        """
        shapes = {shape_of(cell.settings) for cell in cells}
        if len(shapes) != 1:
            raise ValueError(f"these cells have {len(shapes)} shapes; a program has one. Group them by `shape_of`.")
        self.cells = tuple(cells)
        self.settings: Settings = cells[0].settings
        largest = max(cell.settings.training.samples for cell in cells)
        self.capacity = largest if capacity is None else capacity
        if self.capacity < largest:
            raise ValueError(
                f"{self.capacity} rows cannot hold a training set of {largest}. Use capacity >= {largest}."
            )
        self._ends = np.cumsum([len(cell.seeds) for cell in cells])
        with precision(self.settings):
            members = _members(cells, references)
            size, count = example_bytes(self.settings), len(members.seed)
            side_by_side = together(count, rows_of_batch(self.settings, self.capacity), size)
            self.form = _form(self.settings, self.capacity, side_by_side)
            self.program = Program(problem(self.settings, self.capacity, self.form), members, side_by_side)

    def segments(self, position: int, checkpoints: Sequence[Mapping[str, np.ndarray]] | None) -> Iterator[Segment]:
        """Train from `position` to the end."""
        training = self.settings.training
        with precision(self.settings):
            state, self.data = self.program.begin()
            if checkpoints is not None:
                joined = {name: np.concatenate([c[name] for c in checkpoints]) for name in checkpoints[0]}
                state = fill(state, joined)
        evaluations = evaluation_steps(self.settings.evaluation, training.steps)
        segments = self.program.train(state, self.data, position, evaluations)
        while True:
            # Only while it computes: whoever looks at a segment has a precision of their own.
            with precision(self.settings):
                segment = next(segments, None)
            if segment is None:
                return
            yield segment

    def _rows(self, index: int) -> slice:
        """The members that belong to a cell."""
        return slice(int(self._ends[index]) - len(self.cells[index].seeds), int(self._ends[index]))

    def _shared_out(self, arrays: Mapping[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
        """Every cell's own rows."""
        each = [self._rows(index) for index in range(len(self.cells))]
        return [{name: values[rows] for name, values in arrays.items()} for rows in each]

    def part(self, segments: Sequence[Stretch], index: int) -> Trajectory:
        """What consecutive segments add to a cell's trajectory; at least one of them has a probe."""
        rows = self._rows(index)
        losses = np.concatenate([segment.losses[rows] for segment in segments], axis=1)
        probes = [(segment.step, segment.probe) for segment in segments if segment.probe is not None]
        wanted = set(snapshot_steps(self.settings.evaluation, self.settings.training.steps))
        ticks = {
            "step": range(segments[-1].step - losses.shape[1] + 1, segments[-1].step + 1),
            "evaluation": [step for step, _ in probes],
            "snapshot": [step for step, _ in probes if step in wanted],
        }
        clock_of = {"train_loss": "step"}
        arrays = {"train_loss": losses}
        for name, first in probes[0][1].items():
            clock_of[name] = "snapshot" if name == "attention" else "evaluation"
            kept = [probe[name][rows] for step, probe in probes if step in ticks[clock_of[name]]]
            arrays[name] = (
                np.stack(kept, axis=1) if kept else np.zeros((losses.shape[0], 0, *first.shape[1:]), first.dtype)
            )
        clocks = {name: np.asarray(steps, np.int64) for name, steps in ticks.items()}
        return Trajectory(self.cells[index].seeds, clocks, arrays, clock_of)

    def checkpoints(self, segment: Segment) -> list[dict[str, np.ndarray]]:
        """All that is needed to go on from a segment, cell by cell."""
        with precision(self.settings):
            return self._shared_out(flatten(segment.state))

    def weights(self, segment: Segment) -> list[dict[str, np.ndarray]]:
        """The models after a segment, cell by cell."""
        with precision(self.settings):
            return self._shared_out(flatten(segment.state.model))

    def facts(self, segment: Segment) -> list[dict[str, np.ndarray]]:
        """What does not change along the run, and which seeds diverged when, cell by cell."""
        with precision(self.settings):
            facts = {name: np.asarray(value) for name, value in self.program.facts(self.data).items()}
        return self._shared_out(facts | {"diverged_at": np.asarray(segment.state.diverged_at)})


@contextlib.contextmanager
def precision(settings: Settings) -> Generator[None]:
    """Arithmetic as the settings ask for, whatever the device would do by itself."""
    wanted = settings.training.precision
    with (
        jax.enable_x64(wanted == "float64"),
        jax.default_matmul_precision("tensorfloat32" if wanted == "tf32" else "highest"),
    ):
        yield


def new_model(settings: Settings, seed: Integer[Array, ""], scale: Float[Array, ""] | float) -> Transformer:
    """The model a seed starts from."""
    return transformer(settings.model, settings.task.tokens, settings.length, key_of(seed, WEIGHTS), scale)


def _members(cells: Sequence[Cell], references: Sequence[Sequence[Mapping[str, np.ndarray]]]) -> Member:
    """All seeds of all cells in a row."""
    pairs = [(cell.settings, seed) for cell in cells for seed in cell.seeds]
    stacked = [jnp.asarray(column) for column in zip(*(jax.tree.leaves(numbers_of(s)) for s, _ in pairs), strict=True)]
    numbers = jax.tree.unflatten(jax.tree.structure(numbers_of(pairs[0][0])), stacked)
    models = []
    for number, context in enumerate(cells[0].settings.references):
        template = jax.eval_shape(
            jax.vmap(lambda seed, context=context: new_model(cells[0].settings.ngram(context), seed, 1.0)),
            jnp.zeros(len(pairs), jnp.int32),
        )
        own = [cell_references[number] for cell_references in references]
        models.append(fill(template, {name: np.concatenate([weights[name] for weights in own]) for name in own[0]}))
    return Member(jnp.asarray([seed for _, seed in pairs], jnp.uint32), numbers, tuple(models))


def problem(settings: Settings, capacity: int, form: Form) -> Problem:
    """The settings as pure functions for one member; `capacity` rows hold the largest training set."""
    task, training = settings.task, settings.training
    batch = rows_of_batch(settings, capacity)
    epoch = training.steps_per_epoch

    def begin(member: Member):
        chain = markov_chain(task, key_of(member.seed, FEATURES), member.numbers.ratio)
        rows = 0 if training.data == "fresh" else capacity
        data = experience(
            form.read,
            chain,
            chain.sample_set(key_of(member.seed, TRAINING_SET), rows),
            chain.sample_set(key_of(member.seed, TEST_SET), training.test_samples),
            member.given,
            settings.evaluation.subsets,
        )
        return new_model(settings, member.seed, member.numbers.scale), data

    def draw(member: Member, data: Experience, step):
        if training.data == "fresh":
            key = jax.random.fold_in(key_of(member.seed, ORDER), step)
            return data.chain.sample_set(key, batch), jnp.ones(batch, bool)
        places, real = epoch_batch(key_of(member.seed, ORDER), step, member.numbers.samples, capacity, batch)
        return data.training[places], real

    def own_epoch(member: Member):
        """Steps of a member's own epoch, whatever its neighbours have; fresh data counts as many."""
        return -(-member.numbers.samples // training.batch)

    noisy = {"always": 1, "first-of-epoch": epoch}[training.dropout] if settings.model.dropout else 0
    return Problem(
        begin=begin,
        draw=draw,
        gradient=form.gradient,
        optimiser=lambda member: optimiser(training, member.numbers.rates, own_epoch(member)),
        rate=lambda member, state: current_rate(training, member.numbers.rates, state),
        probe=lambda model, data: measure(form.read, model, data, settings.evaluation.subsets),
        facts=lambda data: facts_of(data, settings.evaluation.subsets),
        noise_key=lambda member, step: jax.random.fold_in(key_of(member.seed, NOISE), step),
        noisy_every=noisy,
    )


def rows_of_batch(settings: Settings, capacity: int) -> int:
    training = settings.training
    return training.batch if training.data == "fresh" else min(training.batch, capacity)


def _form(settings: Settings, capacity: int, members: int) -> Form:
    """How the members that run side by side are differentiated and read."""
    batches = rows_of_batch(settings, capacity), settings.training.test_samples
    return form_of(settings, *(chunk_size(batch, example_bytes(settings), members) for batch in batches))


def example_bytes(settings: Settings) -> int:
    """What one sequence's activations take, about: the streams, the heads' scores and what they write."""
    task, model, length = settings.task, settings.model, settings.length
    width = model.stream(task.tokens, length)
    windows, queries = (1, task.horizon) if settings.context is None else (task.horizon, 1)
    last_block = queries * (6 * width + model.mlp + 3 * model.heads * (length + width) + 3 * task.tokens)
    return 4 * windows * (model.blocks * length * 5 * width + last_block)
