"""The hand-made solution on a chain's test sequences, at growing sharpness of its scores."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from headway.models.construction import construction
from headway.models.transformer import Transformer
from headway.prediction import log_probabilities
from headway.records import Cell, Trajectory
from headway.tasks.chain import Chain, Features
from headway.tasks.construction import ConstructionSettings
from headway.training.randomness import FEATURES, TEST_SET, key_of


def hand_made(cell: Cell) -> Trajectory:
    """Excess loss over sharpness: (seed, sharpness), on the chains and test sequences that training has, too."""
    settings: ConstructionSettings = cell.settings
    task = settings.task

    @jax.jit
    def excess(model: Transformer, world: Features, test: Int[Array, "tested time"]) -> Float[Array, ""]:
        return jnp.mean(jax.lax.map(lambda sequence: _excess(model, task, world, sequence), test, batch_size=100))

    rows = []
    with jax.default_matmul_precision("highest"):
        for seed in cell.seeds:
            world, key = task.world(key_of(seed, FEATURES)), key_of(seed, TEST_SET)
            numbers = jnp.arange(settings.test_samples)
            test = jax.vmap(lambda i, world=world, key=key: task.sample(world, jax.random.fold_in(key, i)))(numbers)
            models = [
                construction(world.matrices, np.asarray(world.weights), task.horizon, sharpness)
                for sharpness in settings.sharpness
            ]
            rows.append([float(excess(model, world, test)) for model in models])
    clocks = {"sharpness": np.asarray(settings.sharpness)}
    return Trajectory(cell.seeds, clocks, {"excess_loss": np.asarray(rows, np.float32)}, {"excess_loss": "sharpness"})


def _excess(model: Transformer, task: Chain, world: Features, sequence: Int[Array, " time"]) -> Float[Array, ""]:
    """Mean over the predicted positions of log p(truth) - log p(model) of what came."""
    said = task.ladder(world, sequence)[-1] - log_probabilities(model, task, sequence)
    return jnp.mean(jnp.take_along_axis(said, sequence[task.start :][:, None], axis=1))
