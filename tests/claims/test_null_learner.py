"""What order alone proves: a learner without stages passes the rungs in order too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.analysis import stages_from_ladder, stages_from_loss
from headway.claims import meets_rungs_in_order
from headway.measurement import divergence
from headway.presets import minimal_as_run
from headway.records import Trajectory
from headway.settings import Settings, TaskSettings
from headway.tasks.markov import markov_chain

TIMES = np.unique(np.concatenate([[0], np.geomspace(1, 2000, 120).round()])).astype(int)


@pytest.fixture(scope="module")
def smooth_learner() -> tuple[Settings, Trajectory]:
    """Logits = s(t) times the truth's, s = 1 - exp(-t / 300): every block is learned at once."""
    settings = Settings(task=TaskSettings(weighting="sum"), model=minimal_as_run().model)
    chain = markov_chain(settings.task, jax.random.key(0))
    sequences = chain.sample_set(jax.random.key(1), 100)

    def measure(strength):
        def one(sequence):
            rungs = chain.rungs(sequence)
            guess = jax.nn.log_softmax(strength * rungs[:, -1])
            return jnp.mean(divergence(rungs, guess[:, None]), axis=0)

        return jnp.mean(jax.vmap(one)(sequences), axis=0)

    kl = np.asarray(jax.jit(lambda s: jax.lax.map(measure, s))(1 - np.exp(-TIMES / 300)))[None]
    arrays = {"kl_rungs": kl, "excess_loss": kl[:, :, -1]}
    clock_of = dict.fromkeys(arrays, "evaluation")
    return settings, Trajectory((0,), {"evaluation": TIMES}, arrays, clock_of)


def test_a_learner_without_stages_meets_the_rungs_in_order(smooth_learner):
    settings, trajectory = smooth_learner
    assert meets_rungs_in_order(settings, trajectory).verdict == "holds"
    assert stages_from_ladder(TIMES, trajectory["kl_rungs"][0]).rungs == (1, 2, 3)


def test_only_its_loss_tells_that_it_never_waits(smooth_learner):
    _, trajectory = smooth_learner
    assert stages_from_loss(TIMES, trajectory["excess_loss"][0]).count == 1
