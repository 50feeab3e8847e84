"""The gradient at k-gram points of the simple model, against the length of the context."""

from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key, PRNGKeyArray

from headway.records import Cell, Trajectory
from headway.tasks.k_gram_points import CHUNK, KGramPointSettings
from headway.tasks.sub_n_grams_simple import SimpleSubNGrams, k_gram_point
from headway.training.randomness import TEST_SET, WEIGHTS, key_of


def k_gram_points(cell: Cell) -> Trajectory:
    """Norms of the mean gradient, on the clock of lengths:

    gradient_scores   (seed, length, k)   with respect to QK as one matrix, at the point of the k-gram, k = 1 .. n
    gradient_all      (seed, length, k)   with respect to A, V, Q and K together, Q = QK and K = I
    gradient_random   (seed, length)      with respect to QK, where QK ~ N(0, 1) and the heads are the unigram's
    loss              (seed, length, k)   the loss there
    rung_loss         (seed, length, k)   that of the k-grams themselves
    """
    settings: KGramPointSettings = cell.settings
    with jax.default_matmul_precision("highest"):
        columns = [_of_length(settings, length, cell.seeds) for length in settings.lengths]
    arrays = {
        name: np.stack([np.asarray(column[name], np.float32) for column in columns], axis=1) for name in columns[0]
    }
    return Trajectory(cell.seeds, {"length": np.asarray(settings.lengths)}, arrays, dict.fromkeys(arrays, "length"))


def _of_length(settings: KGramPointSettings, length: int, seeds: Sequence[int]) -> dict[str, list]:
    """All seeds with contexts of one length, which share their programs."""
    task = replace(settings.task, length=length)
    gradient = jax.jit(lambda point, keys: mean_gradient(task, point, keys))
    losses = jax.jit(lambda keys: rung_losses(task, keys))
    points = [k_gram_point(task, k, settings.score) for k in range(1, task.grams + 1)]
    found: dict[str, list] = {
        name: [] for name in ("gradient_scores", "gradient_all", "gradient_random", "loss", "rung_loss")
    }
    for seed in seeds:
        keys = jax.random.split(key_of(seed, TEST_SET), settings.samples)
        random = points[0] | {"Q": jax.random.normal(key_of(seed, WEIGHTS), points[0]["Q"].shape)}
        every = [gradient(point, keys) for point in points]
        found["gradient_scores"].append([_norm(each["Q"]) for _, each in every])
        found["gradient_all"].append([_norm(each) for _, each in every])
        found["gradient_random"].append(_norm(gradient(random, keys)[1]["Q"]))
        found["loss"].append([float(loss) for loss, _ in every])
        found["rung_loss"].append(np.asarray(losses(keys))[1:].tolist())
    return found


def mean_gradient(
    task: SimpleSubNGrams, point: dict[str, Array], keys: Key[Array, " sample"]
) -> tuple[Float[Array, ""], dict[str, Array]]:
    """Mean of the loss and of its gradient over sequences, a chunk at a time: all of them share one attention."""

    def loss(point: dict[str, Array], keys: Key[Array, " sample"]) -> Float[Array, ""]:
        def one(key: PRNGKeyArray) -> Float[Array, ""]:
            example = task.sample(key)
            return task.loss(task.answer(point, example).logits, example)

        return jnp.mean(jax.vmap(one)(keys))

    def add(total: tuple, keys: Key[Array, " sample"]) -> tuple[tuple, None]:
        return jax.tree.map(jnp.add, total, jax.value_and_grad(loss)(point, keys)), None

    chunks = keys.reshape(-1, min(CHUNK, len(keys)))
    total, _ = jax.lax.scan(add, (jnp.zeros(()), jax.tree.map(jnp.zeros_like, point)), chunks)
    return jax.tree.map(lambda leaf: leaf / len(chunks), total)


def rung_losses(task: SimpleSubNGrams, keys: Key[Array, " sample"]) -> Float[Array, " rung"]:
    """The loss of every rung over the same sequences."""

    def losses(key: PRNGKeyArray) -> Float[Array, " rung"]:
        example = task.sample(key)
        return jax.vmap(lambda rung: task.loss(rung, example))(task.ladder(example))

    return jnp.mean(jax.lax.map(losses, keys, batch_size=CHUNK), axis=0)


def _norm(tree: object) -> float:
    return float(jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree))))
