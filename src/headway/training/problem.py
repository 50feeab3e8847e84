"""Settings of any task as pure functions for one member: what is drawn, minimised and measured.

Settings that are plain numbers (`Numbers`) may differ between the members of a program; everything else is its shape.
"""

import contextlib
import functools
from collections.abc import Generator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Integer, PRNGKeyArray, PyTree

from headway.kernels import Form, form_of, mixer_of
from headway.kernels.asked import Asked
from headway.models.gradient import batch_gradient
from headway.models.initialisation import transformer
from headway.models.mixing import mixed_by
from headway.settings.plain import Open
from headway.tasks.devices import on_cpu
from headway.tasks.run import Settings
from headway.tasks.task import (
    Shape,
    as_example,
    functions_of,
    has_own_model,
    has_shared,
    numbers_of,
    sets_of,
    shape_of,
    with_numbers,
)
from headway.training.data import epoch_batch
from headway.training.evaluation import (
    EvaluationData,
    Evaluator,
    expected_loss,
    read_example,
    references_of,
    with_models,
)
from headway.training.frozen import holding, with_parts_of
from headway.training.optimisers import Number, Rates, current_rate, optimiser, rates_may_differ
from headway.training.randomness import FEATURES, NOISE, ORDER, TEST_SET, TRAINING_SET, WEIGHTS, key_of
from headway.training.sizes import chunk_of, rows_of, rows_of_batch
from headway.training.steps import Member, Problem

PRODUCTS = {"float32": "highest", "float64": "highest", "tf32": "tensorfloat32", "bfloat16": "BF16_BF16_F32"}


class Numbers(NamedTuple):
    """What may differ between the members of one program."""

    task: dict[str, Any]
    scale: Number
    samples: Int[Array, ""] | int
    rates: Rates


def numbers(settings: Settings) -> Numbers:
    """The settings that are plain numbers."""
    training = settings.training
    rates = Rates(training.learning_rate, training.weight_decay, training.momentum, training.clip)
    scale = 1.0 if settings.model is None else settings.model.scale
    return Numbers(numbers_of(settings.task), scale, training.samples, rates)


def shape(settings: Settings) -> Settings:
    """The settings without their plain numbers, and without what is decided outside of a program: equal for cells that
    share one. No settings to train with: nothing has checked them.
    """
    training = settings.training
    # Where dropout follows the epochs, all members must have the same ones; and a set smaller than the batch, which
    # is seen whole at every step, shall not cost as much as the largest.
    own_model = settings.model is None
    follows = training.dropout == "first-of-epoch" and not own_model and settings.model.dropout
    samples = training.samples if follows else min(training.samples, training.batch)
    outside = {"threshold": training.threshold is not None, "until": None, "tail": 0.0, "samples": samples, "rates": ()}
    rates = dict.fromkeys(("learning_rate", "weight_decay", "momentum")) if rates_may_differ(training) else {}
    rates |= {"clip": None} if training.clip else {}
    return with_numbers(
        settings,
        {
            "task": with_numbers(settings.task, dict.fromkeys(numbers_of(settings.task))),
            "model": None if own_model else with_numbers(settings.model, {"scale": None}),
            "training": with_numbers(training, {**outside, **rates}),
        },
    )


def _compiled(settings: Settings) -> Settings:
    """The shape without what is looked at outside of the compiled program: when to measure, and when to end."""
    own = shape(settings)
    steps = own.training.steps if own.training.schedule == "cosine" else 0
    never = {"points": 0, "also": (), "snapshots": 0, "every": None, "growth": 0.0, "losses": "step"}
    return with_numbers(
        own,
        {
            "training": with_numbers(own.training, {"steps": steps, "threshold": None}),
            "evaluation": with_numbers(own.evaluation, never),
        },
    )


@contextlib.contextmanager
def precision(settings: Settings | Open) -> Generator[None]:
    """Arithmetic as the settings ask for, whatever the device would do by itself."""
    wanted = settings.training.precision
    # A CPU has no products of bfloat16 and refuses some of their shapes: it computes them in float32.
    lacking = wanted == "bfloat16" and on_cpu()
    products = PRODUCTS["float32" if lacking else wanted]
    with jax.enable_x64(wanted == "float64"), jax.default_matmul_precision(products):
        yield


def new_model(settings: Settings, seed: Integer[Array, ""], scale: Float[Array, ""] | float) -> Any:
    """The model a seed starts from."""
    functions = functions_of(settings.task)
    world = functions.world(key_of(seed, FEATURES)) if has_own_model(settings.task) else ()
    return _start(settings, settings.task, shape_of(settings.task), world, seed, scale)


def _start(settings: Settings, task: Any, own: Shape, world: Any, seed: Integer[Array, ""], scale: Number) -> PyTree:
    """Parameters of the task's own, or a transformer."""
    key = key_of(seed, WEIGHTS)
    if has_own_model(task):
        return _arrays(functions_of(task).parameters(world, key))
    sizes = own.inputs, own.reads, key, scale, own.outputs
    return transformer(settings.model, *sizes, getattr(task, "relevant", ()))


def form(settings: Settings, capacity: int, members: int) -> Form | None:
    """How members that run side by side are differentiated and read, if they read rows; None for any other task."""
    rows, own = rows_of(settings.task), shape_of(settings.task)
    if rows is None:
        return None
    batches = rows_of_batch(settings, capacity), settings.training.test_samples
    asked = Asked(settings.model, settings.training.precision, own.inputs, rows, own.reads)
    return form_of(asked, *(chunk_of(settings, batch, members) for batch in batches))


def problem(settings: Settings, capacity: int, form: Form | None, chunk: int = 0) -> Problem:
    """The settings as pure functions for one member; `capacity` rows hold the largest training set.

    Where no form serves them, `chunk` examples are differentiated at a time, all of a batch if not given. Equal for
    equal settings and forms, so that a program is compiled once.
    """
    return _problem(_compiled(settings), shape_of(settings.task), capacity, form, chunk)


@functools.lru_cache(32)
def _problem(settings: Settings, own_shape: Shape, capacity: int, form: Form | None, chunk: int) -> Problem:
    training, comparisons = settings.training, settings.evaluation.comparisons
    batch = rows_of_batch(settings, capacity)
    references = settings.task.references if hasattr(settings.task, "references") else ()
    evaluator = Evaluator(
        settings.task, None if form is None else form.read, training.test_samples, comparisons, len(references)
    )

    def task_of(member: Member) -> Any:
        return with_numbers(settings.task, member.numbers.task)

    def sample_set(member: Member, world: Any, key: PRNGKeyArray, count: int) -> PyTree:
        return functions_of(task_of(member)).samples(world, key, count)

    def begin(member: Member):
        task = task_of(member)
        world = world_of(member)
        wanted = {TRAINING_SET: capacity} if training.data == "finite" else {}
        wanted |= {TEST_SET: training.test_samples} if evaluator.rows_kept else {}
        keys = [key_of(member.seed, use) for use in wanted]
        sets = dict(zip(wanted, sets_of(task, world, keys, tuple(wanted.values())), strict=True))
        examples, test, said = sets.get(TRAINING_SET, ()), sets.get(TEST_SET), None
        if evaluator.rows_kept:
            said = references_of(task, None, world, test, (), comparisons)
        model = _start(settings, task, own_shape, world, member.seed, member.numbers.scale)
        if training.frozen:
            model = with_parts_of(model, member.given[-1], training.frozen)
        # What all share stays where it is: data are held once for every member.
        return model, EvaluationData(() if has_shared(task) else world, examples, test, said)

    def compare(member: Member, data: EvaluationData) -> EvaluationData:
        task, models = task_of(member), member.given[: len(references)]
        return data._replace(references=with_models(task, evaluator.read, data.references, data.test, models))

    def world_of(member: Member) -> Any:
        task = task_of(member)
        if has_shared(task):
            return member.shared
        outside = hasattr(task, "world_of_seed")
        return member.world if outside else functions_of(task).world(key_of(member.seed, FEATURES))

    def whole(member: Member, data: EvaluationData) -> EvaluationData:
        """The data with the world that all share."""
        return data._replace(world=member.shared) if has_shared(settings.task) else data

    def draw(member: Member, data: EvaluationData, step):
        data = whole(member, data)
        key = key_of(member.seed, ORDER)
        if training.data == "exact":
            return _Drawn(data.world, ()), jnp.ones(1, bool)
        if training.data == "fresh":
            examples = sample_set(member, data.world, jax.random.fold_in(key, step), batch)
            return _Drawn(data.world, examples), jnp.ones(batch, bool)
        if has_own_model(settings.task) and batch == capacity:
            # The whole set at every step: its order does not matter, and would cost as much as the step.
            return _Drawn(data.world, data.training), jnp.arange(capacity) < member.numbers.samples
        places, real = epoch_batch(key, step, member.numbers.samples, capacity, batch)
        return _Drawn(data.world, jax.tree.map(lambda leaf: leaf[places], data.training)), real

    def gradient(member: Member):
        task = task_of(member)

        def of_batch(model, drawn: _Drawn, weights, key):
            if form is not None:
                return form.gradient(model, drawn.examples, weights, key)

            def loss(model, example, key):
                reading = read_example(model, task, drawn.world, example, key)
                return functions_of(task).loss(drawn.world, reading.logits, as_example(task, example))

            with mixed_by(mixer_of(training.precision)):
                return batch_gradient(loss, model, drawn.examples, weights, key, chunk or batch)

        if functions_of(task).expected_loss is None:
            return of_batch

        def of_expectation(model, drawn: _Drawn, weights, key):
            """What is reported is exact, whatever the gradient is taken of."""
            value = expected_loss(task, drawn.world, model)
            if training.data == "exact":
                return value, jax.grad(lambda each: functions_of(task).expected_loss(drawn.world, each))(model)
            return value, of_batch(model, drawn, weights, key)[1]

        return of_expectation

    def own_epoch(member: Member):
        """Steps of a member's own epoch, whatever its neighbours have; fresh data counts as many."""
        return -(-member.numbers.samples // training.batch)

    dropout = settings.model is not None and settings.model.dropout
    noisy = {"always": 1, "first-of-epoch": training.steps_per_epoch}[training.dropout] if dropout else 0
    return Problem(
        begin=begin,
        draw=draw,
        gradient=gradient,
        optimiser=lambda member: holding(optimiser(training, member.numbers.rates, own_epoch(member)), training.frozen),
        rate=lambda member, state: current_rate(training, member.numbers.rates, state),
        probe=lambda model, member, data: evaluator.probe(
            model, task_of(member), key_of(member.seed, TEST_SET), whole(member, data)
        ),
        facts=lambda member, data: evaluator.facts(task_of(member), key_of(member.seed, TEST_SET), whole(member, data)),
        noise_key=lambda member, step: jax.random.fold_in(key_of(member.seed, NOISE), step),
        noisy_every=noisy,
        tokens=form is not None,
        compare=compare if references and evaluator.rows_kept else None,
    )


class _Drawn(NamedTuple):
    """A step's examples, and the world that they were drawn in."""

    world: Any
    examples: PyTree


def _arrays(tree: PyTree) -> PyTree:
    """Plain numbers of a start become arrays, whole ones too: what is trained is real."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.result_type(float, leaf)), tree)
