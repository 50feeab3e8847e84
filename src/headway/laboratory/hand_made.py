"""The hand-made solution on a chain's test sequences, at growing sharpness of its scores."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from headway.laboratory.randomness import FEATURES, TEST_SET, key_of
from headway.models.construction import construction
from headway.models.transformer import Transformer
from headway.prediction import log_probabilities
from headway.records import Cell, Trajectory
from headway.settings import ConstructionSettings, TaskSettings
from headway.tasks.markov import MarkovChain, markov_chain


def hand_made(cell: Cell) -> Trajectory:
    """Excess loss over sharpness: (seed, sharpness), on the chains and test sequences that training has, too."""
    settings: ConstructionSettings = cell.settings
    task = settings.task

    @jax.jit
    def excess(model: Transformer, chain: MarkovChain, test: Int[Array, "tested time"]) -> Float[Array, ""]:
        return jnp.mean(jax.lax.map(lambda sequence: _excess(model, task, chain, sequence), test, batch_size=100))

    rows = []
    with jax.default_matmul_precision("highest"):
        for seed in cell.seeds:
            chain = markov_chain(task, key_of(seed, FEATURES))
            test = chain.sample_set(key_of(seed, TEST_SET), settings.test_samples)
            models = [
                construction(chain.features, np.asarray(chain.weights), chain.horizon, sharpness)
                for sharpness in settings.sharpness
            ]
            rows.append([float(excess(model, chain, test)) for model in models])
    clocks = {"sharpness": np.asarray(settings.sharpness)}
    return Trajectory(cell.seeds, clocks, {"excess_loss": np.asarray(rows, np.float32)}, {"excess_loss": "sharpness"})


def _excess(
    model: Transformer, task: TaskSettings, chain: MarkovChain, sequence: Int[Array, " time"]
) -> Float[Array, ""]:
    """Mean over the predicted positions of log p(truth) - log p(model) of what came."""
    said = chain.rungs(sequence)[:, -1] - log_probabilities(model, task, sequence)
    return jnp.mean(jnp.take_along_axis(said, chain.targets(sequence)[:, None], axis=1))
