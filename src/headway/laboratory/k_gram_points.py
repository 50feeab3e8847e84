"""The gradient at k-gram points of the simple model, against the length of the context."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from headway.records import Cell, Trajectory
from headway.tasks.k_gram_points import KGramPointSettings
from headway.tasks.sub_n_grams_simple import SimpleSubNGrams, k_gram_point
from headway.training.randomness import TEST_SET, WEIGHTS, key_of

AT_A_TIME = 250


def k_gram_points(cell: Cell) -> Trajectory:
    """Norms of the mean gradient, on the clock of lengths:

    gradient_scores   (seed, length, k)   with respect to QK as one matrix, at the point of the k-gram, k = 1 .. n
    gradient_all      (seed, length, k)   with respect to A, V, Q and K together, Q = QK and K = I
    gradient_random   (seed, length)      with respect to QK, where QK ~ N(0, 1) and the heads are the unigram's
    loss              (seed, length, k)   the loss there
    rung_loss         (seed, length, k)   that of the k-grams themselves
    """
    settings: KGramPointSettings = cell.settings
    grams = settings.task.grams
    found: dict[str, list] = {
        name: [] for name in ("gradient_scores", "gradient_all", "gradient_random", "loss", "rung_loss")
    }
    with jax.default_matmul_precision("highest"):
        for seed in cell.seeds:
            keys = jax.random.split(key_of(seed, TEST_SET), settings.samples)
            rows: dict[str, list] = {name: [] for name in found}
            for length in settings.lengths:
                task = replace(settings.task, length=length)
                compute = jax.jit(lambda point, keys, task=task: mean_gradient(task, point, keys))
                points = [compute(k_gram_point(task, k, settings.score), keys) for k in range(1, grams + 1)]
                rows["gradient_scores"].append([_norm(gradient["Q"]) for _, gradient in points])
                rows["gradient_all"].append([_norm(gradient) for _, gradient in points])
                rows["loss"].append([float(loss) for loss, _ in points])
                random = k_gram_point(task, 1, settings.score)
                random["Q"] = jax.random.normal(key_of(seed, WEIGHTS), random["Q"].shape)
                rows["gradient_random"].append(_norm(compute(random, keys)[1]["Q"]))
                rows["rung_loss"].append(np.asarray(rung_losses(task, keys))[1:].tolist())
            for name, values in rows.items():
                found[name].append(values)
    arrays = {name: np.asarray(values, np.float32) for name, values in found.items()}
    return Trajectory(cell.seeds, {"length": np.asarray(settings.lengths)}, arrays, dict.fromkeys(arrays, "length"))


def mean_gradient(
    task: SimpleSubNGrams, point: dict[str, Array], keys: PRNGKeyArray
) -> tuple[Float[Array, ""], dict[str, Array]]:
    """Mean of the loss and of its gradient over sequences."""

    def loss(point: dict[str, Array], key: PRNGKeyArray) -> Float[Array, ""]:
        example = task.sample(key)
        return task.loss(task.answer(point, example).logits, example)

    each = jax.lax.map(lambda key: jax.value_and_grad(loss)(point, key), keys, batch_size=AT_A_TIME)
    return jax.tree.map(lambda leaf: jnp.mean(leaf, axis=0), each)


def rung_losses(task: SimpleSubNGrams, keys: PRNGKeyArray) -> Float[Array, " rung"]:
    """The loss of every rung over the same sequences."""

    def losses(key: PRNGKeyArray) -> Float[Array, " rung"]:
        example = task.sample(key)
        return jax.vmap(lambda rung: task.loss(rung, example))(task.ladder(example))

    return jnp.mean(jax.jit(lambda keys: jax.lax.map(losses, keys, batch_size=AT_A_TIME))(keys), axis=0)


def _norm(tree: object) -> float:
    return float(jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree))))
