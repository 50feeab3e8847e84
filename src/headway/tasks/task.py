"""What a task is: settings, and a few pure functions for one example. Ours and a user's have the same way in.

A task is a frozen dataclass (or an `equinox.Module`). Its fields are its settings. It must say

    sample(key)                one example: a row of tokens, each to be predicted from those before; or an `Example`
    vocab                      where it asks for tokens: how many there are

and may say

    NAME                       what its runs are called; the name of its class if not given
    predicted                  of a row of tokens: how many of the last ones are to be predicted; all that can be
    ladder(example)            reference predictors, from knowing nothing to the truth: log-probabilities, or answers,
                               (rung, predicted, outputs); `rungs` are their names
    loss(outputs, example)     cross-entropy of tokens and half the squared error of numbers if not given
    silence                    the loss of a model that has learnt nothing: what a random start loses down to it is no
                               stage where stages are read from the loss
    measures(example, reading) further numbers, by name
    generates                  of a row of tokens: how many of the last ones the model says itself (`reading.generated`)
    relevant                   (query, key) pairs of positions at which attention matters: `model.emphasis` acts there
    comparisons(example)       further predictors, by name: KL to them is measured where `evaluation.comparisons` asks
    tests()                    variants of itself to be tested on, by name; "" is the one that counts
    pictured                   from how many of the last positions it is shown where heads look; all that answer
    written()                  how each token is written, a word for each: the page then shows the first test example
                               token by token, with the attention of every head
    PROGRESS                   the number by which it counts as learnt: "loss", "excess_loss" or "accuracy"
    NUMBERS                    settings that are plain numbers and may differ between the members of one program
    check(settings)            what its models and trainings must fulfil
    about()                    itself in words

A task may bring a model of its own, a few parameters instead of a transformer; `Settings.model` is then None:

    parameters(key)                where they start: any tree of arrays, such as {"W": ..., "v": ...}
    answer(parameters, example)    what they answer at the predicted positions, (predicted, outputs); or an `Answer`,
                                   which holds the attention, too
    parameter_measures(parameters) numbers of the parameters themselves, by name

and where it knows the mean over all examples in closed form, nothing has to be drawn (`training.data` "exact"):

    expected_loss(parameters)      instead of sample and loss; what is reported of every step, whatever the gradient is
                                   taken of, is that of the test that counts
    expected_distances(parameters) mean distance to every rung, (rung,)
    expected_rung_losses()         the same loss of every rung, (rung,)
    levels                         losses between its plateaus: the steps at which they are met, not rounded, become
                                   the fact `boundaries`

Rarely needed:

    samples(key, count)            many examples at once, stacked, where they are not drawn one by one
    facts()                        numbers that do not change along a run, by name
    world_of_seed(seed)            instead of `world`: in NumPy, from the seed itself, outside of the program
    shared()                       instead of `world`: a tree of NumPy arrays that is the same for all seeds, such as a
                                   text. It is an input of the program, held once, neither a constant in its code nor
                                   copied for every member; what it depends on has to be in the task's settings
    shared_shapes()                the same tree with arrays of any numbers, none smaller, where its shapes are known
                               beforehand: a plan then need not compute it
    held_out(number)               example `number` of a fixed test set, which is then not drawn by `sample`

A task whose seeds have something of their own to learn (a matrix, a chain) draws it in `world(key)`, and every
function above gets it first: sample(world, key), ladder(world, example), parameters(world, key), ...
"""

from __future__ import annotations

import copy
import functools
import itertools
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

from headway.lazily import Array, Float, PRNGKeyArray, jax, jnp
from headway.records import About
from headway.settings.checks import SettingsError, require
from headway.tasks.devices import on_cpu

RISING = ("accuracy",)
"""Measures that grow while a model learns; the others fall."""


class Example(NamedTuple):
    """What a model reads, what it should answer at its last positions, and what is known besides."""

    inputs: Array
    """Tokens, (length,); or vectors, (length, inputs)."""
    targets: Array
    """Tokens, (predicted,); or numbers, (predicted, outputs)."""
    weights: Array | None = None
    """How much each answer counts, (predicted,); all alike if not given."""
    extra: Any = None
    """Whatever `measures` and `ladder` need: where the answer was to be found, ..."""

    def __repr__(self) -> str:
        parts = ((name, getattr(self, name)) for name in self._fields)
        told = (f"{name} {getattr(part, 'shape', type(part).__name__)}" for name, part in parts if part is not None)
        return f"Example({', '.join(told)})"


class Answer(NamedTuple):
    """What a model of a task's own makes of one example; `measures` gets it as it is."""

    logits: Array
    """Log-probabilities up to a constant, or numbers, (predicted, outputs)."""
    attention: Array | None = None
    """(layer, head, query, key), of which the page shows the last `predicted` queries."""
    extra: Any = None
    """Whatever `measures` needs besides."""


class Functions(NamedTuple):
    """A task as pure functions, whatever it left out filled in; `world` is () where it draws none."""

    world: Callable[[PRNGKeyArray], Any]
    sample: Any
    """(world, key) -> example; None only where `expected_loss` is known."""
    loss: Callable[[Any, Array, Example], Float[Array, ""]]
    ladder: Any
    """(world, example) -> (rung, predicted, output), or None."""
    measures: Any
    """(world, example, reading[, test]) -> name -> number, or None."""
    comparisons: Any
    """(world, example) -> name -> (predictor, predicted, output), or None."""
    parameters: Any = None
    """(world, key) -> where a model of its own starts, or None."""
    answer: Any = None
    """(world, parameters, example) -> (predicted, output) or `Answer`, or None."""
    parameter_measures: Any = None
    """(world, parameters) -> name -> number, or None."""
    expected_loss: Any = None
    """(world, parameters) -> the loss, or None."""
    expected_distances: Any = None
    """(world, parameters) -> (rung,), or None."""
    expected_rung_losses: Any = None
    """(world) -> (rung,), or None."""
    samples: Any = None
    """(world, key, count) -> stacked examples."""
    facts: Any = None
    """(world) -> name -> number, or None."""
    held_out: Any = None
    """(world, number) -> a test example, or None."""
    written: Any = None
    """(world) -> a word for each token, or code points, (vocab, letter), zeros behind the last; or None."""

    def test_example(self, world: Any, key: PRNGKeyArray, number: Any) -> Any:
        """Test example `number`: one of a fixed set, or drawn by a key of its own."""
        if self.held_out is not None:
            return self.held_out(world, number)
        return self.sample(world, jax.random.fold_in(key, number))


def name_of(task: Any) -> str:
    """The kind of its runs: NAME, or the class's name in-small-letters."""
    own = getattr(task, "NAME", None)
    cls = task if isinstance(task, type) else type(task)
    return own or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()


@functools.cache
def source_of(cls: type) -> str:
    """A digest of what a user's task does; nothing for Headway's own, which a commit names."""
    if cls.__module__.partition(".")[0] == "headway":
        return ""
    from headway.settings.source import digest_of

    return digest_of(cls)


def with_numbers(task: Any, values: Mapping[str, Any]) -> Any:
    """The same task with other values of some settings, which may be traced and are therefore not checked."""
    made = copy.copy(task)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


def numbers_of(task: Any) -> dict[str, Any]:
    """The settings that may differ between the members of a program."""
    return {name: getattr(task, name) for name in getattr(task, "NUMBERS", ())}


class Shape(NamedTuple):
    """What a model has to know of a task."""

    inputs: int
    """Vocabulary size, or how many numbers a position holds."""
    outputs: int
    """The same of an answer."""
    reads: int
    """Positions that a model reads at once."""
    predicted: int
    """At how many of the last it answers."""


def shape_of(task: Any) -> Shape:
    """As the task says; what it leaves out is looked up in an example, of which nothing is computed."""
    if not hasattr(task, "sample"):
        return Shape(0, 0, 0, 0)
    names = ("inputs", "outputs", "reads", "predicted")
    tokens = {"inputs": task.vocab, "outputs": task.vocab} if has_tokens(task) else {}
    said = tokens | {name: getattr(task, name) for name in names if name not in tokens and hasattr(task, name)}
    return Shape(**said) if len(said) == len(names) else Shape(**(_seen(task)._asdict() | said))


@functools.lru_cache(64)
def _seen(task: Any) -> Shape:
    functions = functions_of(task)

    def draw(key: PRNGKeyArray) -> Any:
        return functions.sample(functions.world(key), key)

    drawn = tried(f"{type(task).__name__}.sample", lambda: jax.eval_shape(draw, jax.random.key(0)))
    inputs, targets, *_ = as_example(task, drawn)
    width, answer = (array.shape[-1] if array.ndim > 1 else 0 for array in (inputs, targets))
    return Shape(width, answer, inputs.shape[0], targets.shape[0])


def has_tokens(task: Any) -> bool:
    """Whether it asks for tokens, so that answers are right or wrong."""
    return hasattr(task, "vocab")


def has_own_model(task: Any) -> bool:
    """Whether it brings parameters of its own, instead of which a transformer would be trained."""
    return hasattr(task, "parameters")


def has_shared(task: Any) -> bool:
    """Whether what it has to learn is an array that all members share."""
    return hasattr(task, "shared")


def progress_of(task: Any) -> str:
    return getattr(task, "PROGRESS", "loss")


def functions_of(task: Any) -> Functions:
    """The task's functions, each of (world, ...)."""
    drawn = any(hasattr(task, name) for name in ("world", "world_of_seed", "shared"))

    def of_world(function: Callable | None) -> Any:
        if function is None or drawn:
            return function
        return lambda _world, *arguments: function(*arguments)

    own = {name: getattr(task, name, None) for name in Functions._fields if name != "world"}
    usual = _cross_entropy if has_tokens(task) else _squared_error
    filled: dict[str, Any] = {name: of_world(function) for name, function in own.items()}
    filled["loss"] = filled["loss"] or (lambda _world, outputs, example: usual(outputs, example))
    if filled["samples"] is None and filled["sample"] is not None:
        filled["samples"] = functools.partial(_one_by_one, filled["sample"])
    return Functions(world=_world(task), **filled)


def _world(task: Any) -> Callable[[PRNGKeyArray], Any]:
    if hasattr(task, "world"):
        return task.world
    # Outside of programs, to which it is an input.
    if has_shared(task):
        return lambda _key: jax.tree.map(jnp.asarray, task.shared())
    # Only for shapes: a member is given its own.
    if hasattr(task, "world_of_seed"):
        return lambda _key: jax.tree.map(jnp.asarray, task.world_of_seed(0))
    return lambda _key: ()


def _one_by_one(sample: Callable, world: Any, key: PRNGKeyArray, count: int) -> Any:
    """A smaller set from the same key is the beginning of a larger one."""
    return jax.vmap(lambda i: sample(world, jax.random.fold_in(key, i)))(jnp.arange(count))


def sets_of(task: Any, world: Any, keys: Sequence[PRNGKeyArray], counts: Sequence[int]) -> list[Any]:
    """A set of so many examples for every key.

    What is drawn one by one is drawn for all sets at once on a CPU, where a second copy of the same code would take as
    long to compile as the first. On a GPU, products of other sizes may round in another way.
    """
    functions = functions_of(task)
    if len(keys) < 2 or hasattr(task, "samples") or not on_cpu():
        return [functions.samples(world, key, count) for key, count in zip(keys, counts, strict=True)]
    own = [jnp.broadcast_to(key, (count,)) for key, count in zip(keys, counts, strict=True)]
    places = [jnp.arange(count) for count in counts]
    fresh = jax.vmap(jax.random.fold_in)(jnp.concatenate(own), jnp.concatenate(places))
    drawn = jax.vmap(lambda key: functions.sample(world, key))(fresh)
    ends = list(itertools.accumulate(counts))
    return [
        jax.tree.map(lambda leaf, last=end, number=count: leaf[last - number : last], drawn)
        for end, count in zip(ends, counts, strict=True)
    ]


def _cross_entropy(outputs: Array, example: Example) -> Float[Array, ""]:
    """-log p(target), in nats, mean over the answers."""
    guess = jax.nn.log_softmax(outputs)
    return -weighted_mean(jnp.take_along_axis(guess, example.targets[:, None], axis=1)[:, 0], example.weights)


def _squared_error(outputs: Array, example: Example) -> Float[Array, ""]:
    """1/2 |y - y*|^2, mean over the answers."""
    return weighted_mean(0.5 * jnp.sum((outputs - example.targets) ** 2, axis=-1), example.weights)


def weighted_mean(values: Array, weights: Array | None) -> Array:
    """Mean over the first axis, every row counted by its weight."""
    if weights is None:
        return jnp.mean(values, axis=0)
    shares = weights / jnp.sum(weights)
    return jnp.tensordot(shares, values, axes=1)


def is_row(example: Any) -> bool:
    """Whether an example is a plain row of tokens."""
    return not isinstance(example, tuple)


def as_example(task: Any, drawn: Any) -> Example:
    """A row of tokens: all but the last are read, and the last `predicted` are to be predicted."""
    if not is_row(drawn):
        return drawn
    count = drawn.shape[0]
    first = count - getattr(task, "predicted", count - 1)
    return Example(_part(drawn, 0, -1), _part(drawn, first, None))


def _part(row: Any, first: int, last: int | None) -> Any:
    """row[first:last], also of a row that is only a shape."""
    if hasattr(row, "__getitem__"):
        return row[first:last]
    return jax.ShapeDtypeStruct((len(range(row.shape[0])[first:last]),), row.dtype)


def tests_of(task: Any) -> dict[str, Any]:
    """What it is tested on, the one that counts first."""
    return dict(task.tests()) if hasattr(task, "tests") else {"": task}


def about_task(task: Any) -> About:
    """The task in words: its own, or what fits any."""
    if hasattr(task, "about"):
        return task.about()
    words = name_of(task).replace("-", " ")
    told = ", ".join(f"{each.name} {getattr(task, each.name)}" for each in fields(task))
    tokens = has_tokens(task)
    return About(
        title=f"{words[:1].upper()}{words[1:]}" + (f" ({told})" if told else ""),
        rungs=tuple(getattr(task, "rungs", ())),
        loss="cross-entropy" if tokens else "half the squared error",
        unit="nats" if tokens else "",
        progress=progress_of(task),
    )


def require_task(task: Any) -> None:
    """Refuse what cannot be a task, before anything is computed."""
    what = type(task).__name__
    if not is_dataclass(task) or isinstance(task, type):
        raise SettingsError(
            f"the task is {task!r}, but it must be a frozen dataclass of settings, such as MyTask(states=4)."
        )
    require(
        callable(getattr(task, "sample", None)) or callable(getattr(task, "expected_loss", None)),
        f"the task {what} has no function sample. A task defines how one example is drawn, sample(key), and its "
        "vocabulary size, vocab: see docs/extend.md.",
    )
    require(
        not has_own_model(task) or hasattr(task, "answer") or not hasattr(task, "sample"),
        f"the task {what} has its own parameters, but does not define their prediction. Write answer(parameters, "
        "example).",
    )
    require(
        has_own_model(task) or not hasattr(task, "answer"),
        f"the task {what} defines the prediction of its parameters, but not their initial values. Write "
        "parameters(key).",
    )
    worlds = [name for name in ("world", "world_of_seed", "shared") if hasattr(task, name)]
    require(
        len(worlds) < 2,
        f"the task {what} has {' and '.join(worlds)}, but its functions get one of them. Keep one.",
    )
    require(
        not hasattr(task, "expected_distances") or len(getattr(task, "rungs", ())) > 0,
        f"the task {what} gives distances to rungs but no names for them: rungs = (...).",
    )
    require(
        not hasattr(task, "ladder") or len(getattr(task, "rungs", ())) > 0,
        f"the task {what} has a ladder but no names for its rungs. Name them from knowing nothing to the truth: "
        'rungs = ("uniform", "unigram", "bigram").',
    )
    for name in getattr(task, "NUMBERS", ()):
        require(hasattr(task, name), f"the task {what} lists {name!r} in NUMBERS, but has no such setting.")
    require(
        re.fullmatch(r"[a-z][a-z0-9-]*", name_of(task)) is not None,
        f"the task {what} is called {name_of(task)!r}, which cannot name a folder. Use small letters, digits and '-'.",
    )


def tried(what: str, function: Callable[[], Any]) -> Any:
    """What the function gives; an error of its own with the line of the user's file where it arose."""
    try:
        return function()
    except SettingsError:
        raise
    except Exception as error:
        own = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if "site-packages" not in frame.filename and f"{Path(__file__).parent.parent}" not in frame.filename
        ]
        where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno}: {own[-1].line})" if own else ""
        words = str(error).strip().splitlines()
        raise SettingsError(
            f"{what} fails: {type(error).__name__}: {words[0] if words else ''}{where}. It gets one example or one "
            "key, and is written in jax.numpy."
        ) from error
