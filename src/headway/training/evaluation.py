"""What is measured of any task: loss, distance to every reference predictor, attention, measures of its own."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from headway.kernels import Read
from headway.models.transformer import Reading, Transformer
from headway.tasks.task import (
    Answer,
    Example,
    as_example,
    functions_of,
    has_tokens,
    numbers_of,
    tests_of,
    weighted_mean,
    with_numbers,
)
from headway.training.generation import generate
from headway.training.shown import can_show, shown_values, written_tokens

CHUNK = 256
"""Rows of tokens that are compared with the references at a time: their distributions should stay in the cache."""
AT_A_TIME = 128
"""Examples that are drawn, read and measured together."""
SHARE = 4
"""What is measured beside the test that counts gets one of so many of its examples."""


class EvaluationData(NamedTuple):
    """What a member learns from and is measured on."""

    world: Any
    """What the task drew for the seed."""
    training: PyTree
    """The finite training set, or nothing."""
    test: PyTree
    """Test rows, where they are kept."""
    references: Float[Array, "tested predictor predicted output"] | None
    """Log-probabilities of every rung, of every reference model and of the task's comparisons; they stay the same while
    a model learns, and are kept with the rows."""


def divergence(reference: Float[Array, "*more output"], model: Float[Array, "*#more output"]) -> Float[Array, "*more"]:
    """KL(reference || model) of log-probabilities, in nats; what a reference excludes adds nothing."""
    possible = reference > -jnp.inf
    return jnp.sum(jnp.where(possible, jnp.exp(reference) * (jnp.where(possible, reference, 0) - model), 0), axis=-1)


def distance(
    tokens: bool, references: Float[Array, "predictor predicted output"], outputs: Float[Array, "predicted output"]
) -> Float[Array, "predictor predicted"]:
    """KL(reference || model); of answers in numbers the KL between normal distributions of variance 1 around them."""
    if tokens:
        return divergence(references, jax.nn.log_softmax(outputs))
    return 0.5 * jnp.sum((references - outputs) ** 2, axis=-1)


def references_of(
    task: Any, read: Read | None, world: Any, test: PyTree, models: tuple[Transformer, ...], comparisons: bool
) -> Float[Array, "tested predictor predicted output"] | None:
    """What the rungs, the reference models and the task's comparisons say about every test row."""
    functions = functions_of(task)
    if functions.ladder is None:
        return None
    said = [jax.vmap(lambda row: functions.ladder(world, row))(test)]
    if comparisons and functions.comparisons is not None:
        said += list(jax.vmap(lambda row: functions.comparisons(world, row))(test).values())
    return with_models(task, read, jnp.concatenate(said, axis=1), test, models)


def with_models(
    task: Any,
    read: Read | None,
    references: Float[Array, "tested predictor predicted output"] | None,
    test: PyTree,
    models: tuple[Transformer, ...],
) -> Float[Array, "tested more predicted output"] | None:
    """What the rungs and the comparisons say, and between the two what the reference models say."""
    if references is None or read is None or not models:
        return references
    said = [jax.nn.log_softmax(read(model, test).logits)[:, None] for model in models]
    rungs = len(task.rungs)
    return jnp.concatenate([references[:, :rungs], *said, references[:, rungs:]], axis=1)


class Evaluator(NamedTuple):
    """How a member of a program is measured: pure functions."""

    task: Any
    read: Read | None
    """Reads all test rows at once; without it every example is drawn and read on its own."""
    tested: int
    comparisons: bool
    models: int
    """Reference models that it is compared with."""

    @property
    def rows_kept(self) -> bool:
        """Whether test rows and their references are kept: where nothing needs each example's own attention."""
        functions = functions_of(self.task)
        drawn = functions.measures is None and functions.held_out is None and not can_show(self.task)
        return self.read is not None and drawn and len(tests_of(self.task)) == 1

    def probe(self, model: Any, task: Any, key: PRNGKeyArray, data: EvaluationData) -> dict[str, Array]:
        """Means over the test examples, or what the task knows; `task` is the member's own, with its numbers."""
        functions = functions_of(task)
        means: dict[str, Array] = {}
        if self.rows_kept:
            means = self._of_rows(model, task, data)
        elif functions.expected_loss is None or functions.measures is not None:
            means = self._of_examples(model, task, key, data)
        kl = means.pop("kl", None)
        if kl is not None:
            means |= self._by_name(task, data.world, kl)
        if functions.expected_loss is not None:
            means |= _expected(task, data.world, model)
        if functions.parameter_measures is not None:
            means |= {name: jnp.asarray(each) for name, each in functions.parameter_measures(data.world, model).items()}
        return means

    def _by_name(self, task: Any, world: Any, kl: Float[Array, " predictor"]) -> dict[str, Array]:
        rungs = len(task.rungs)
        found = {"kl_rungs": kl[:rungs]}
        if self.models:
            found["kl_references"] = kl[rungs : rungs + self.models]
        rest = kl[rungs + self.models :]
        for name, count in self._comparison_sizes(task, world):
            found[f"kl_{name}"], rest = rest[:count], rest[count:]
        return found

    def _comparison_sizes(self, task: Any, world: Any) -> list[tuple[str, int]]:
        functions = functions_of(task)
        if not self.comparisons or functions.comparisons is None:
            return []

        def said(world: Any, key: PRNGKeyArray) -> Mapping[str, Array]:
            return functions.comparisons(world, functions.test_example(world, key, 0))

        return [(name, each.shape[0]) for name, each in jax.eval_shape(said, world, jax.random.key(0)).items()]

    def _of_rows(self, model: Transformer, task: Any, data: EvaluationData) -> dict[str, Array]:
        assert self.read is not None
        reading = self.read(model, data.test)
        halves = _halves(self.tested, reading.logits.dtype)

        def one(each: tuple) -> dict[str, Array]:
            row, outputs, references, half = each
            return _values(task, data.world, row, outputs, references, half)

        means = mean_over(one, (data.test, reading.logits, data.references, halves), CHUNK)
        return {**means, "attention": reading.pattern, "attention_by_lag": by_lag(reading.pattern)}

    def _of_examples(self, model: Any, task: Any, key: PRNGKeyArray, data: EvaluationData) -> dict[str, Array]:
        """All tests go through the model in one pass, because every further pass would be compiled, too."""
        tests = tests_of(task)
        sizes = test_sizes(self.tested, len(tests))
        number = jnp.repeat(jnp.arange(len(tests)), sizes, total_repeat_length=int(sizes.sum()))
        columns = [numbers_of(each) for each in tests.values()]
        # Float and not integer: a mean number of copies need not be whole.
        stacked = {name: jnp.stack([jnp.asarray(each[name], jnp.float32) for each in columns]) for name in columns[0]}
        halves = _halves(self.tested, jnp.float32)

        def one(each: tuple[Array, Array]) -> tuple[dict[str, Array], Mapping[str, Array]]:
            place, number = each
            own = with_numbers(task, {name: values[number] for name, values in stacked.items()})
            functions = functions_of(own)
            drawn = functions.test_example(data.world, key, place)
            reading = with_own_words(model, own, drawn, read_example(model, own, data.world, drawn))
            share = jnp.asarray(sizes.sum() / sizes, jnp.float32)[number]
            found: dict[str, Array] = {}
            shown: Mapping[str, Array] = {}
            for index, name in enumerate(tests):
                values = self._measures(functions, data.world, drawn, reading, name if len(tests) > 1 else None)
                if index == 0:
                    references = _said(own, data.world, drawn, self.comparisons)
                    half = halves[jnp.minimum(place, self.tested - 1)]
                    values |= _values(own, data.world, drawn, reading.logits, references, half)
                    values |= _patterns(own, reading)
                    shown = _shown(own, drawn, reading, references)
                found |= {name: jnp.where(number == index, share * value, 0) for name, value in values.items()}
            return found, shown

        means, shown = mean_and_first(one, (jnp.arange(sizes.sum()), number), AT_A_TIME)
        means |= shown
        return means | ({"attention_by_lag": by_lag(means["attention"])} if "attention" in means else {})

    def _measures(self, functions: Any, world: Any, drawn: Any, reading: Any, test: str | None) -> dict[str, Array]:
        if functions.measures is None:
            return {}
        return dict(functions.measures(world, drawn, reading, *(() if test is None else (test,))))

    def facts(self, task: Any, key: PRNGKeyArray, data: EvaluationData) -> dict[str, Array]:
        """What the test examples say about the truth: its entropy, the loss of every rung, and `kl_stageless`.

        kl_stageless[i] = min over s of KL(rung i || softmax(s z)), z the truth's logits: how near a learner comes to a
        rung that learns everything at once and only grows in confidence. Not a number where the truth is certain, so
        that its logits are infinite. `kl_stageless_NAME` is the same for the task's comparisons.
        """
        functions = functions_of(task)
        told = {} if functions.facts is None else functions.facts(data.world)
        own = {name: jnp.asarray(each) for name, each in told.items()} | self._written(task, key, data)
        if functions.expected_rung_losses is not None:
            losses = jnp.asarray(functions.expected_rung_losses(data.world))
            return {"rung_loss": losses, "rung_excess": losses - losses[-1], **own}
        if functions.ladder is None or functions.expected_loss is not None:
            return own
        rungs = len(task.rungs)
        tested = next(iter(tests_of(task).values()))

        def one(each: tuple[Array, Array | None, Array | None]) -> dict[str, Array]:
            place, row, references = each
            drawn = functions_of(tested).test_example(data.world, key, place) if row is None else row
            said: Any = _said(tested, data.world, drawn, self.comparisons) if references is None else references
            return _fact_values(tested, data.world, drawn, said, rungs)

        kept = (data.test, data.references) if self.rows_kept else (None, None)
        means = mean_over(one, (jnp.arange(self.tested), *kept), CHUNK if self.rows_kept else AT_A_TIME)
        certainty, agreement, normaliser = (means.pop(name) for name in ("certainty", "agreement", "normaliser"))
        grid = _confidence(normaliser.dtype)
        nearest = jnp.min(certainty - grid[:, None] * agreement + normaliser[:, None], axis=0)
        found = {**means, "kl_stageless": nearest[:rungs], **own}
        rest = nearest[rungs + self.models :]
        for name, count in self._comparison_sizes(task, data.world):
            found[f"kl_stageless_{name}"], rest = rest[:count], rest[count:]
        return found

    def _written(self, task: Any, key: PRNGKeyArray, data: EvaluationData) -> dict[str, Array]:
        """The tokens of the test example that a page shows, the first."""
        if not can_show(task):
            return {}
        tested = next(iter(tests_of(task).values()))
        functions = functions_of(tested)
        drawn = functions.test_example(data.world, key, 0)
        return {"shown_written": written_tokens(tested, functions.written(data.world), drawn)}


def test_sizes(count: int, tests: int) -> np.ndarray:
    """How many examples each test gets; all are numbered on, one after the other."""
    return np.array([count] + [max(1, count // SHARE)] * (tests - 1))


def read_example(model: Any, task: Any, world: Any, drawn: Any, key: PRNGKeyArray | None = None) -> Reading | Answer:
    """What a model makes of one example of any task."""
    example = as_example(task, drawn)
    answer = functions_of(task).answer
    if answer is None:
        return model.read(example.inputs, example.targets.shape[0], key)
    found = answer(world, model, example)
    return found if isinstance(found, Answer) else Answer(found)


def expected_loss(task: Any, world: Any, model: Any) -> Float[Array, ""]:
    """Of the test that counts."""
    return jnp.asarray(functions_of(next(iter(tests_of(task).values()))).expected_loss(world, model))


def _expected(task: Any, world: Any, model: Any) -> dict[str, Array]:
    """What a task knows without a sample."""
    tested = functions_of(next(iter(tests_of(task).values())))
    found = {"loss": expected_loss(task, world, model)}
    if tested.expected_distances is not None:
        found["kl_rungs"] = jnp.asarray(tested.expected_distances(world, model))
    if tested.expected_rung_losses is not None:
        found["excess_loss"] = found["loss"] - jnp.asarray(tested.expected_rung_losses(world))[-1]
    return found


def with_own_words(model: Any, task: Any, drawn: Any, reading: Reading | Answer) -> Reading | Answer:
    """The reading with what the transformer generates, of a task that asks for it."""
    count = getattr(task, "generates", 0)
    if isinstance(reading, Answer) or not count:
        return reading
    return reading._replace(generated=generate(model, drawn, count, reading.logits.shape[0]))


def _said(task: Any, world: Any, drawn: Any, comparisons: bool) -> Array | None:
    """What the rungs and the comparisons say about one example."""
    functions = functions_of(task)
    if functions.ladder is None:
        return None
    more = list(functions.comparisons(world, drawn).values()) if comparisons and functions.comparisons else []
    return jnp.concatenate([functions.ladder(world, drawn), *more])


def _values(
    task: Any, world: Any, drawn: Any, outputs: Array, references: Array | None, half: Float[Array, " 2"]
) -> dict[str, Array]:
    """What is measured of every example of every task."""
    functions, example = functions_of(task), as_example(task, drawn)
    loss = functions.loss(world, outputs, example)
    found = {"loss": loss}
    if has_tokens(task):
        right = (jnp.argmax(outputs, axis=-1) == example.targets).astype(loss.dtype)
        found["accuracy"] = weighted_mean(right, example.weights)
    if references is not None:
        excess = loss - functions.loss(world, references[len(task.rungs) - 1], example)
        far = distance(has_tokens(task), references, outputs)
        found |= {
            "excess_loss": excess,
            "excess_halves": half * excess,
            "kl": weighted_mean(jnp.swapaxes(far, 0, 1), example.weights),
        }
    return found


def _fact_values(task: Any, world: Any, drawn: Any, references: Array, rungs: int) -> dict[str, Array]:
    """Parts of the facts; KL(reference || softmax(s z)) = certainty - s agreement + normaliser(s)."""
    functions, example, tokens = functions_of(task), as_example(task, drawn), has_tokens(task)
    truth, grid = references[rungs - 1], _confidence(references.dtype)
    losses = jnp.stack([functions.loss(world, references[i], example) for i in range(rungs)])

    def mean(values: Float[Array, "predictor predicted"]) -> Float[Array, " predictor"]:
        return weighted_mean(jnp.swapaxes(values, 0, 1), example.weights)

    found = {"rung_loss": losses, "rung_excess": losses - losses[-1]}
    if tokens:
        share = jnp.exp(references)
        entropy = -jnp.sum(jnp.where(share > 0, share * references, 0), axis=-1)
        return found | {
            "entropy": mean(entropy)[rungs - 1],
            "certainty": -mean(entropy),
            "agreement": mean(jnp.sum(share * truth, axis=-1)),
            "normaliser": mean(jax.nn.logsumexp(grid[:, None, None] * truth, axis=-1)),
        }
    return found | {
        "certainty": mean(0.5 * jnp.sum(references**2, axis=-1)),
        "agreement": mean(jnp.sum(references * truth, axis=-1)),
        "normaliser": mean(0.5 * jnp.sum((grid[:, None, None] * truth) ** 2, axis=-1)),
    }


def _confidence(dtype: Any) -> Float[Array, " s"]:
    return jnp.linspace(0, 2, 81, dtype=dtype)


def _patterns(task: Any, reading: Reading | Answer) -> dict[str, Float[Array, "layer head query key"]]:
    """Where the heads look from the positions at which the model answers, or from as many as the task wants shown."""
    answers = reading.logits.shape[0]
    shown = getattr(task, "pictured", answers)
    if isinstance(reading, Answer):
        return {} if reading.attention is None else {"attention": reading.attention[:, :, -shown:]}
    # A transformer's last layer looks from nowhere else.
    answers = min(shown, answers)
    return {"attention": jnp.stack([heads.looked[:, -answers:] for heads in reading.heads])}


def _shown(task: Any, drawn: Any, reading: Reading | Answer, references: Array | None) -> Mapping[str, Array]:
    """What a page shows of this example, if it is the first."""
    if not can_show(task):
        return {}
    far = None if references is None else distance(True, references[: len(task.rungs)], reading.logits)
    return shown_values(task, drawn, reading, far)


def _halves(count: int, dtype: Any) -> Float[Array, "{count} 2"]:
    """What each example counts for in the mean over its half: one chooses by the even ones and reports the odd ones.

    A half without any example has the mean zero.
    """
    own = (jnp.arange(count)[:, None] % 2 == jnp.arange(2)).astype(dtype)
    return own * (count / jnp.maximum(jnp.sum(own, axis=0), 1))


def by_lag(attention: Float[Array, "*layers query key"]) -> Float[Array, "*layers lag"]:
    """sum over keys at each lag, mean over queries; the queries are the last positions and lag 1 comes first."""
    queries, keys = attention.shape[-2:]
    key = (keys - queries + jnp.arange(queries))[:, None] - jnp.arange(keys)
    found = jnp.take_along_axis(attention, jnp.broadcast_to(jnp.maximum(key, 0), attention.shape), axis=-1)
    return jnp.mean(jnp.where(key >= 0, found, 0), axis=-2)


def mean_over(function: Callable, examples: PyTree, chunk: int) -> Any:
    """Mean of `function` over the examples, a chunk at a time."""
    return mean_and_first(lambda each: (function(each), ()), examples, chunk)[0]


def mean_and_first(function: Callable, examples: PyTree, chunk: int) -> tuple[Any, Any]:
    """`function` says two things of an example: the mean of one over all, and the other of the first example."""
    count = len(jax.tree.leaves(examples)[0])
    chunk = min(chunk, count)
    chunks = -(-count // chunk)
    missing = chunks * chunk - count

    def pieces(array):
        padded = jnp.concatenate([array, array[:missing]]) if missing else array
        return padded.reshape(chunks, chunk, *array.shape[1:])

    def total(piece):
        rows, counted = piece
        values, shown = jax.vmap(function)(rows)
        sums = jax.tree.map(lambda v: jnp.tensordot(counted.astype(v.dtype), v, axes=1), values)
        return sums, jax.tree.map(lambda v: v[0], shown)

    real = (jnp.arange(chunks * chunk) < count).reshape(chunks, chunk)
    sums, shown = jax.lax.map(total, (jax.tree.map(pieces, examples), real))
    return jax.tree.map(lambda v: jnp.sum(v, axis=0) / count, sums), jax.tree.map(lambda v: v[0], shown)


__all__ = ["EvaluationData", "Evaluator", "Example", "by_lag", "divergence", "mean_over"]
