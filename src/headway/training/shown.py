"""One test example as a page shows it: token by token the closest rung, the loss, and where each head attends.

Of a task that says how its tokens are written. The tokens shown are those that the model reads and the last one that it
predicts, n in all; of m predicted ones, those are the last m. The last row of attention belongs to the last of them.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from headway.corpora.tokens import code_points
from headway.models.transformer import Reading
from headway.settings.checks import require
from headway.tasks.task import Answer, as_example, has_tokens

PREFIX = "shown_"
"""How names of arrays and facts begin that only a page shows."""
ATTENTION = f"{PREFIX}attention"
MOST_WEIGHTS = 2**17
"""Numbers of one picture of attention; of a longer context only the last positions attend in it."""


def can_show(task: Any) -> bool:
    return hasattr(task, "written") and has_tokens(task)


def written_tokens(task: Any, written: Any, drawn: Any) -> Float[Array, "token letter"]:
    """The tokens of an example as code points, then zeros. Facts are real numbers, which a missing seed lacks."""
    table = code_points(written) if isinstance(written[0], str) else jnp.asarray(written)
    require(
        len(table) == task.vocab,
        f"the task's function written has {len(table)} words, but there are {task.vocab} tokens. Write each of them.",
    )
    example = as_example(task, drawn)
    row = jnp.concatenate([example.inputs, example.targets[-1:]])
    return jnp.asarray(table, jnp.float32)[row]


def shown_values(
    task: Any, drawn: Any, reading: Reading | Answer, far: Float[Array, "rung predicted"] | None
) -> Mapping[str, Array]:
    """Of one example: argmin_i KL(rung i || model) and -log p(token) at every predicted token, and attention."""
    surprise = -jax.nn.log_softmax(reading.logits)
    targets = as_example(task, drawn).targets
    found = {f"{PREFIX}loss": jnp.take_along_axis(surprise, targets[:, None], axis=1)[:, 0]}
    if far is not None:
        found[f"{PREFIX}rung"] = jnp.argmin(far, axis=0).astype(reading.logits.dtype)
    patterns = _patterns(reading)
    return found if patterns is None else {**found, ATTENTION: patterns}


def _patterns(reading: Reading | Answer) -> Float[Array, "layer head query key"] | None:
    """From as many of the last positions that answer as there is room for."""
    if isinstance(reading, Answer):
        patterns = reading.attention
        if patterns is None:
            return None
    else:
        answers = reading.logits.shape[0]  # a transformer's last layer looks from nowhere else
        patterns = jnp.stack([heads.looked[:, -answers:] for heads in reading.heads])
    layers, heads, queries, keys = patterns.shape
    room = max(1, MOST_WEIGHTS // (layers * heads * keys))
    return patterns[:, :, -min(queries, room) :]
