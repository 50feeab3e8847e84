"""One seed's model at one step."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from headway.analysis.arrays import as_numpy
from headway.models.attribution import attributed
from headway.models.transformer import Transformer
from headway.records import shortened
from headway.settings import SettingsError
from headway.settings.plain import Open
from headway.tasks.task import as_example, functions_of, has_own_model, tests_of
from headway.trained.own import answers
from headway.trained.reads import Reads
from headway.training.checkpoint import flatten
from headway.training.problem import precision
from headway.training.randomness import FEATURES, TEST_SET, key_of


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
            with precision(self.settings):
                logits, layers = answers(self.settings.task, self.seed, self.module, inputs)
            return Seen(logits, layers, (), logits)
        given = self._checked(as_numpy(inputs))
        own = 1 if self.reads.tokens else 2
        outer = given.shape[: given.ndim - own]
        with precision(self.settings):
            rows = jnp.asarray(given.reshape(-1, *given.shape[given.ndim - own :]))
            found = jax.tree.map(np.asarray, _everything(self.module, rows))
        shaped = jax.tree.map(lambda values: values.reshape(*outer, *values.shape[1:]), found)
        last = slice(-self.reads.predicted, None)
        parts = tuple(each[..., last, :] for each in shaped.contributions)
        return Seen(shaped.logits[..., last, :], shaped.attention, parts, shaped.rest[..., last, :])

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
        with precision(self.settings):
            world = functions_of(task).world(key_of(self.seed, FEATURES))
            drawn = _drawing(task, self.reads.positions)(world, key_of(self.seed, TEST_SET), jnp.arange(count))
        return jax.tree.map(np.asarray, drawn)

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


@functools.lru_cache(16)
def _drawing(task: Any, positions: int) -> Callable[..., Any]:
    """What a model of the task is tested on, of a world, a key and numbers: one program for all models of a run."""
    tested = next(iter(tests_of(task).values()))
    functions = functions_of(tested)

    def draw(world: Any, key: Any, number: Any) -> Any:
        example = as_example(tested, functions.test_example(world, key, number))
        return example if has_own_model(task) else example.inputs[-positions:]

    return jax.jit(jax.vmap(draw, in_axes=(None, None, 0)))


@eqx.filter_jit
def _everything(module: Transformer, rows: Any) -> Any:
    return jax.vmap(lambda row: attributed(module, row))(rows)
