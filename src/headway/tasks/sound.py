"""A task tried out on a few examples before it is trained: a mistake in a user's file is an error in words, at once."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headway.lazily import jax, jnp
from headway.settings.checks import SettingsError
from headway.tasks.task import Answer, Functions, as_example, functions_of, has_tokens, shape_of, tried

TRIED = 4
"""Examples that are looked at."""
NEAR = 1e-3
"""How far probabilities may be from adding up to 1."""


def require_sound(task: Any) -> None:
    """Draw, read and compare a few examples; a SettingsError says what was got, what was wanted and what to do."""
    functions, what = functions_of(task), type(task).__name__
    key = jax.random.key(0)
    world = tried(f"{what}.world", lambda: functions.world(key))
    wanted = shape_of(task)
    outputs = jnp.zeros((wanted.predicted, wanted.outputs))
    own_model = functions.parameters is not None
    parameters = tried(f"{what}.parameters", lambda: functions.parameters(world, key)) if own_model else None
    if functions.expected_loss is not None and own_model:
        _require_expected(what, task, functions, world, parameters)
    for number in range(TRIED if functions.sample is not None else 0):
        own = jax.random.fold_in(key, number)
        drawn = tried(f"{what}.sample", lambda own=own: functions.sample(world, own))
        example = as_example(task, drawn)
        with _placed(task, "sample"):
            _require_example(f"{what}.sample", task, example, wanted)
        if functions.held_out is not None:
            drawn = tried(f"{what}.held_out", lambda number=number: functions.held_out(world, number))
            with _placed(task, "held_out"):
                _require_example(f"{what}.held_out", task, as_example(task, drawn), wanted)
        if functions.ladder is not None:
            said = tried(f"{what}.ladder", lambda drawn=drawn: functions.ladder(world, drawn))
            with _placed(task, "ladder"):
                _require_ladder(what, task, said, wanted)
        if own_model:
            answer = tried(f"{what}.answer", lambda example=example: functions.answer(world, parameters, example))
            with _placed(task, "answer"):
                _require_answer(what, answer, (wanted.predicted, wanted.outputs))
        loss = tried(f"{what}.loss", lambda example=example: functions.loss(world, outputs, example))
        if jnp.shape(loss) != () or not jnp.isfinite(loss):
            raise SettingsError(
                f"{what}.loss gives {loss!r} for an answer of zeros, but a loss is one finite number. "
                "Take the mean over the predicted positions."
            )


@contextmanager
def _placed(task: Any, name: str) -> Generator[None]:
    """An error of what is in it names the file and the line where the task's function begins."""
    try:
        yield
    except SettingsError as error:
        function = getattr(type(task), name)
        if not hasattr(function, "__code__"):
            raise
        place = f"{Path(function.__code__.co_filename).name}, line {function.__code__.co_firstlineno}"
        raise SettingsError(f"{error} ({place})") from None


def _require_example(what: str, task: Any, example: Any, wanted: Any) -> None:
    inputs, targets = jnp.asarray(example.inputs), jnp.asarray(example.targets)
    if not hasattr(example, "targets") or targets.ndim == 0 or targets.shape[0] > inputs.shape[0]:
        raise SettingsError(
            f"{what} gives targets of the shape {targets.shape} for inputs of the shape {inputs.shape}, but "
            "there is one target for each of the last positions, at most as many as there are inputs."
        )
    if inputs.shape[0] != wanted.reads:
        raise SettingsError(
            f"{what} gives {inputs.shape[0]} positions to read, but its task's `reads` says {wanted.reads}. "
            "Make them agree, or leave `reads` out."
        )
    if not has_tokens(task):
        return
    for name, tokens in (("inputs", inputs), ("targets", targets)):
        if not jnp.issubdtype(tokens.dtype, jnp.integer):
            raise SettingsError(
                f"{what} gives {name} of type {tokens.dtype}, but a task with a vocab asks for whole numbers. "
                "Draw them with jax.random.randint, or leave vocab out if they are vectors."
            )
        if tokens.size and not 0 <= int(tokens.min()) <= int(tokens.max()) < task.vocab:
            raise SettingsError(
                f"{what} gives {name} from {int(tokens.min())} to {int(tokens.max())}, but the vocab is "
                f"{task.vocab}: tokens are 0 .. {task.vocab - 1}."
            )


def _require_answer(what: str, answer: Any, wanted: tuple[int, int]) -> None:
    said = answer if isinstance(answer, Answer) else Answer(answer)
    got = jnp.shape(said.logits)
    if got != wanted:
        raise SettingsError(
            f"{what}.answer gives an array of the shape {got}, but wanted is {wanted}: one row for each predicted "
            "position. It may also be Answer(logits, attention)."
        )
    if said.attention is not None and (jnp.ndim(said.attention) != 4 or jnp.shape(said.attention)[2] < wanted[0]):
        raise SettingsError(
            f"{what}.answer gives attention of the shape {jnp.shape(said.attention)}, but wanted is (layer, head, "
            f"query, key), with the {wanted[0]} predicted positions as its last queries."
        )


def _require_expected(what: str, task: Any, functions: Functions, world: Any, parameters: Any) -> None:
    """Closed forms at the start: one finite number, and one a rung."""
    loss = tried(f"{what}.expected_loss", lambda: functions.expected_loss(world, parameters))
    if jnp.shape(loss) != () or not jnp.isfinite(loss):
        raise SettingsError(f"{what}.expected_loss gives {loss!r} at the start, but a loss is one finite number.")
    rungs = len(getattr(task, "rungs", ()))
    told = {"expected_distances": (world, parameters), "expected_rung_losses": (world,)}
    for name, arguments in told.items():
        function = getattr(functions, name)
        if function is None:
            continue
        got = jnp.shape(tried(f"{what}.{name}", lambda function=function, own=arguments: jnp.asarray(function(*own))))
        if got != (rungs,):
            raise SettingsError(f"{what}.{name} gives an array of the shape {got}, but there are {rungs} rungs.")


def _require_ladder(what: str, task: Any, said: Any, wanted: Any) -> None:
    rows = (len(task.rungs), wanted.predicted, wanted.outputs)
    got = jnp.shape(said)
    if got != rows:
        raise SettingsError(
            f"{what}.ladder gives an array of the shape {got}, but wanted is {rows}: (rung, predicted position, "
            f"{'token' if has_tokens(task) else 'number'}), with the rungs {', '.join(task.rungs)}."
        )
    if bool(jnp.any(jnp.isnan(said))):
        raise SettingsError(f"{what}.ladder gives values that are not numbers. Look for 0/0, or log of a negative.")
    if not has_tokens(task):
        return
    totals = jnp.sum(jnp.exp(said), axis=-1)
    off = jnp.abs(totals - 1)
    if float(off.max()) > NEAR:
        rung = int(jnp.argmax(off.max(axis=1)))
        raise SettingsError(
            f"the rung {task.rungs[rung]!r} of {what}.ladder is not a distribution: its probabilities add up to "
            f"{float(totals[rung].ravel()[jnp.argmax(off[rung].ravel())]):.4g} somewhere, not to 1. A ladder gives "
            "log-probabilities: use jax.nn.log_softmax, or jnp.log of probabilities."
        )
