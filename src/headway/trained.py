"""Trained models out of records: callable on what their task reads, in NumPy, with everything a forward pass knows."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from headway import registry
from headway.analysis import Stages, stages_from_ladder, stages_from_loss
from headway.analysis.arrays import as_numpy
from headway.models.attribution import attributed
from headway.models.initialisation import transformer
from headway.models.transformer import Transformer
from headway.records import Open, revive, shortened
from headway.settings import ModelSettings, SettingsError
from headway.store import Record, StoreError
from headway.store.record import ASK, SEEDS
from headway.tasks.task import Answer, Example, as_example, functions_of, has_own_model, has_tokens, shape_of, tests_of
from headway.training.checkpoint import fill, flatten
from headway.training.problem import new_model, precision, rows_of
from headway.training.randomness import FEATURES, TEST_SET, WEIGHTS, key_of


@dataclass(frozen=True, repr=False)
class Seen:
    """What a model makes of inputs; the dots are their axes before (position) or, of vectors, (position, number)."""

    logits: np.ndarray
    """(..., predicted position, output): at the last positions, those at which its task asks for an answer."""
    attention: tuple[np.ndarray, ...]
    """Layer by layer (..., head, query, key), at every position."""
    contributions: tuple[np.ndarray, ...]
    """Layer by layer (..., head, predicted position, output): what each head adds to the logits directly."""
    rest: np.ndarray
    """(..., predicted position, output): what embedding, MLPs and constants add; with all heads, the logits."""

    def __repr__(self) -> str:
        lines = [f"Seen(logits {self.logits.shape}, rest {self.rest.shape},"]
        for name, layers in (("attention", self.attention), ("contributions", self.contributions)):
            lines.append(f"  {name} of {len(layers)} layers, each {layers[0].shape},")
        return shortened([*lines[:-1], f"{lines[-1][:-1]})"])


@dataclass(frozen=True, repr=False)
class TrainedModel:
    """One seed's model at one step: `model(tokens).logits`, `.attention`, `.contributions`."""

    record: Path
    seed: int
    step: int
    module: Any
    """The model itself, a tree of JAX arrays: a transformer, written for one sequence, or the task's own parameters."""
    reads: Reads
    """What goes in and comes out."""
    settings: Any
    """Of the whole run."""

    def __call__(self, inputs: Any) -> Seen:
        """Everything of one sequence (position,), or of any number of them, (..., position).

        Of a task that reads vectors they are (..., position, number). Arrays of NumPy, JAX or PyTorch, or lists. A task
        that brings a model of its own may need more than inputs: pass an `Example` of such arrays.
        """
        if not isinstance(self.module, Transformer):
            return self._answered(inputs)
        given = self._checked(as_numpy(inputs))
        own = 1 if self.reads.tokens else 2
        outer = given.shape[: given.ndim - own]
        with precision(self.settings):
            rows = jnp.asarray(given.reshape(-1, *given.shape[given.ndim - own :]))
            found = jax.tree.map(np.asarray, _everything(self.module, rows))
        shaped = jax.tree.map(lambda values: values.reshape(*outer, *values.shape[1:]), found)
        answers = slice(-self.reads.predicted, None)
        parts = tuple(each[..., answers, :] for each in shaped.contributions)
        return Seen(shaped.logits[..., answers, :], shaped.attention, parts, shaped.rest[..., answers, :])

    def _answered(self, inputs: Any) -> Seen:
        """What a task's own model answers; it has no heads to be taken apart."""
        task = self.settings.task
        functions = functions_of(task)
        if functions.answer is None or functions.sample is None:
            raise SettingsError(
                f"the task {type(task).__name__} answers no examples: it knows its loss in closed form. Its parameters "
                "are model.weights."
            )
        with precision(self.settings):
            world = functions.world(key_of(self.seed, FEATURES))
            one = jax.eval_shape(lambda key: as_example(task, functions.sample(world, key)), jax.random.key(0))
            batch, outer = _batch(one, inputs)
            found = jax.vmap(lambda example: _as_answer(functions.answer(world, self.module, example)))(batch)
        shaped = jax.tree.map(lambda leaf: np.asarray(leaf).reshape(*outer, *leaf.shape[1:]), found)
        layers = () if shaped.attention is None else tuple(np.moveaxis(shaped.attention, len(outer), 0))
        return Seen(shaped.logits, layers, (), shaped.logits)

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """Its arrays by name."""
        return flatten(self.module)

    def examples(self, count: int) -> Any:
        """The inputs of the first `count` test examples of this seed, as training measured it on them.

        Of a task with a model of its own they are whole examples.
        """
        task = self.settings.task
        if isinstance(task, Open):
            raise SettingsError(
                f"examples of {self.record.name} are drawn by its task's code, which is not loaded. Load the "
                "file that defines it and call experiment.register(), or pass inputs of your own."
            )
        tested = next(iter(tests_of(task).values()))
        functions = functions_of(tested)

        def draw(world: Any, key: Any) -> Any:
            example = as_example(tested, functions.sample(world, key))
            return example if has_own_model(task) else example.inputs[-self.reads.positions :]

        with precision(self.settings):
            world = functions_of(task).world(key_of(self.seed, FEATURES))
            keys = jax.vmap(lambda i: jax.random.fold_in(key_of(self.seed, TEST_SET), i))(jnp.arange(count))
            return jax.tree.map(np.asarray, jax.vmap(functools.partial(draw, world))(keys))

    def _checked(self, inputs: np.ndarray) -> np.ndarray:
        wanted = self.reads.in_words()
        if not self.reads.tokens:
            if inputs.ndim < 2 or inputs.shape[-2:] != (self.reads.positions, self.reads.inputs):
                raise ValueError(f"got inputs of shape {inputs.shape}, but this model reads {wanted}.")
            return inputs
        if not np.issubdtype(inputs.dtype, np.integer):
            raise ValueError(f"got inputs of type {inputs.dtype}, but this model reads {wanted}. Pass whole numbers.")
        if inputs.ndim < 1 or inputs.shape[-1] != self.reads.positions:
            raise ValueError(f"got tokens of shape {inputs.shape}, but this model reads {wanted}.")
        if inputs.size and not 0 <= inputs.min() <= inputs.max() < self.reads.inputs:
            raise ValueError(f"got tokens from {inputs.min()} to {inputs.max()}, but this model reads {wanted}.")
        return inputs

    def __repr__(self) -> str:
        count = sum(values.size for values in self.weights.values())
        lines = [f"TrainedModel of {self.record.name}, seed {self.seed}, step {self.step}"]
        if isinstance(self.module, Transformer):
            layers, heads = len(self.module.layers), len(self.module.layers[0].attention.query)
            lines.append(f"  {layers} layers of {heads} heads, {count} weights")
            lines.append(f"  reads {self.reads.in_words()}, answers at the last {self.reads.predicted}")
        else:
            lines.append(f"  {count} parameters of the task's own: {', '.join(self.weights)}")
        return shortened(lines)


@dataclass(frozen=True)
class Reads:
    """What a model reads and answers."""

    inputs: int
    """Vocabulary size, or how many numbers a position holds."""
    outputs: int
    positions: int
    predicted: int
    """At how many of the last positions its task asks for an answer."""
    tokens: bool

    def in_words(self) -> str:
        if self.tokens:
            return f"(..., {self.positions}) tokens, each 0 .. {self.inputs - 1}"
        return f"(..., {self.positions}, {self.inputs}) numbers"


@dataclass(frozen=True)
class Moment:
    """A stage of one seed, and the step that shows it best."""

    seed: int
    stage: int
    """Number of the stage: of a ladder, its rung."""
    step: int
    """The evaluation at which KL to the stage's rung is lowest; of a loss curve, the last before the stage ends."""
    boundary: float
    """When the stage began."""
    until: float
    """When the next one began; infinite for the last."""
    _record: Record

    @property
    def model(self) -> TrainedModel:
        """The kept model of this stage that is nearest to `step`."""
        there = [step for step in steps(self._record, self.seed) if self.boundary <= step < self.until]
        if not there:
            span = f"steps {self.boundary:.4g} to {self.until:.4g}"
            problem = f"no model of seed {self.seed} in stage {self.stage}, {span}, was kept"
            raise StoreError(self._record.path, problem, ASK, "missing")
        nearest = min(there, key=lambda step: abs(math.log1p(step) - math.log1p(self.step)))
        return model(self._record, self.seed, nearest)

    def __repr__(self) -> str:
        span = f"steps {self.boundary:.4g} to {self.until:.4g}"
        return f"Moment(seed {self.seed}, stage {self.stage}: {span}, at its clearest at step {self.step})"


def model(record: Record, seed: int | None = None, step: int | None = None) -> TrainedModel:
    """The model of a seed at a kept step, the last if not given."""
    row = _row(record, seed)
    own = record.cell.seeds[row]
    last = _last(record, row)
    if step is None or step == last:
        rows, step = record.weights(), last
    else:
        if step not in record.kept:
            there = ", ".join(map(str, steps(record, own))) or "none"
            problem = f"no model of step {step} was kept; of seed {own} there are: {there}"
            raise StoreError(record.path, problem, ASK, "missing")
        rows = record.weights(step)
        seeds = rows.pop(SEEDS)
        if own not in seeds:
            problem = f"of step {step} the models of the seeds {', '.join(map(str, seeds))} were kept, not of {own}"
            raise StoreError(record.path, problem, ASK, "missing")
        row = int(np.flatnonzero(seeds == own)[0])
    reads = reads_of(record)
    with precision(record.cell.settings):
        module = fill(
            _template(record, reads, record.cell.seeds.index(own)), {name: values[row] for name, values in rows.items()}
        )
    return TrainedModel(record.path, own, int(step), module, reads, record.cell.settings)


def steps(record: Record, seed: int | None = None) -> tuple[int, ...]:
    """The steps at which there is a model of the seed, the last one included if it was kept."""
    row = _row(record, seed)
    last = (_last(record, row),) if record.has_weights else ()
    # Only models that were chosen by what was measured are those of some seeds.
    mixed = record.provenance.get("keep_weights") == "stages" or "continued" in record.provenance
    own = [step for step in record.kept if not mixed or record.cell.seeds[row] in record.weights(step)[SEEDS]]
    return tuple(sorted({*own, *last}))


def at(record: Record, stage: int, seed: int | None = None) -> Moment:
    """A stage of a seed, found from its KL to the rungs or, without a ladder, from its loss."""
    row, trajectory = _row(record, seed), record.trajectory
    found: Stages
    if "kl_rungs" in trajectory:
        times, kl = trajectory.times("kl_rungs"), trajectory["kl_rungs"][row]
        found = stages_from_ladder(times, kl)
    elif "loss" in trajectory:
        times, kl = trajectory.times("loss"), None
        found = stages_from_loss(times, trajectory["loss"][row])
    else:
        raise SettingsError(f"{record.identity} has neither kl_rungs nor a loss, from which stages could be read.")
    if stage not in found.rungs:
        there = ", ".join(map(str, found.rungs)) or "none"
        raise SettingsError(f"seed {record.cell.seeds[row]} has no stage {stage}; its stages are: {there}.")
    place = found.rungs.index(stage)
    begins = (found.start, *found.boundaries)[place]
    until = (*found.boundaries, math.inf)[place]
    inside = (times >= begins) & (times < until)
    if kl is not None:
        step = times[np.nanargmin(np.where(inside, kl[:, stage], np.inf))]
    else:
        step = times[inside][-1] if place == len(found.leavings) else found.leavings[place]
    return Moment(record.cell.seeds[row], stage, round(float(step)), begins, until, record)


def reads_of(record: Record) -> Reads:
    """What the record's models read: as it says, or as its task does."""
    told, task = record.provenance.get("reads"), getattr(record.cell.settings, "task", None)
    if not registry.is_trained(record.cell.kind):
        raise SettingsError(f"{record.identity} is a {record.cell.kind}, of which there is no trained model.")
    if not isinstance(task, Open):
        return reads_of_task(task)
    try:
        return revive(Reads, told)
    except ValueError as error:
        raise SettingsError(
            f"{record.identity} does not say what its models read, and its task's code is not loaded. Load the file "
            "that defines the task and call experiment.register()."
        ) from error


def reads_of_task(task: Any) -> Reads:
    """What models of a task read."""
    shape, rows = shape_of(task), rows_of(task)
    windows = rows is not None and shape.reads != rows.length
    return Reads(shape.inputs, shape.outputs, shape.reads, 1 if windows else shape.predicted, has_tokens(task))


def _batch(one: Example, inputs: Any) -> tuple[Example, tuple[int, ...]]:
    """Examples along one axis, and the axes that they had; of inputs alone, all else is zero."""
    given = inputs if isinstance(inputs, Example) else Example(as_numpy(inputs), None)
    outer = np.shape(given.inputs)[: np.ndim(given.inputs) - one.inputs.ndim]
    count = math.prod(outer)

    def rows(shape: Any, values: Any) -> Any:
        if values is None:
            return jnp.zeros((count, *shape.shape), shape.dtype)
        return jnp.asarray(as_numpy(values)).reshape(count, *shape.shape)

    parts = {}
    for name in Example._fields:
        wanted, got = getattr(one, name), getattr(given, name)
        empty = jax.tree.map(lambda _: None, wanted) if got is None else got
        parts[name] = jax.tree.map(rows, wanted, empty, is_leaf=lambda each: each is None)
    return Example(**parts), outer


def _as_answer(found: Any) -> Answer:
    answer = found if isinstance(found, Answer) else Answer(found)
    return answer._replace(extra=None)


@eqx.filter_jit
def _everything(module: Transformer, rows: Any) -> Any:
    return jax.vmap(lambda row: attributed(module, row))(rows)


def _template(record: Record, reads: Reads, row: int) -> Any:
    """The shapes of its model; how its matrices start, which may be a user's function, does not matter."""
    run = record.cell.settings
    if run.model is None:
        if isinstance(run, Open):
            raise SettingsError(
                f"the model of {record.identity} is its task's own, whose code is not loaded. Load the file that "
                "defines it and call experiment.register()."
            )
        return jax.eval_shape(lambda: new_model(run, jnp.asarray(record.cell.seeds[row], jnp.uint32), 1.0))
    settings = run.model if isinstance(run.model, ModelSettings) else revive(ModelSettings, run.model.told)
    plain = replace(settings, initialisation="xavier", scale=1.0)
    if settings.emphasis != 1 and isinstance(run, Open):
        raise SettingsError(
            f"the model of {record.identity} emphasises attention where its task says, whose code is not loaded. Load "
            "the file that defines it and call experiment.register()."
        )
    relevant = () if isinstance(run, Open) else getattr(run.task, "relevant", ())
    sizes = reads.inputs, reads.positions, key_of(0, WEIGHTS), 1.0, reads.outputs
    return jax.eval_shape(lambda: transformer(plain, *sizes, relevant))


def _row(record: Record, seed: int | None) -> int:
    seeds = record.cell.seeds
    if seed is None:
        return 0
    if seed not in seeds:
        raise SettingsError(f"the record has no seed {seed}; it has {', '.join(map(str, seeds))}.")
    return seeds.index(seed)


def _last(record: Record, row: int) -> int:
    """The step at which the training of a seed ended."""
    facts: Mapping[str, np.ndarray] = record.trajectory.facts
    stopped = int(facts["stopped_at"][row]) if "stopped_at" in facts else -1
    return stopped if stopped >= 0 else int(record.cell.settings.training.steps)
