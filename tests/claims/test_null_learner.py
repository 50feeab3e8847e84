"""What order alone proves, and what nearness adds: a learner without stages passes the rungs in order, too."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from headway.analysis import stages_from_ladder, stages_from_loss
from headway.claims.claim import Run
from headway.claims.incremental import still_incremental
from headway.claims.ladder import meets_rungs_in_order, nearer_than_stageless
from headway.experiments.ladder import A1, A1_NEARER
from headway.experiments.overlapping import A17
from headway.presets import minimal_as_run
from headway.records import Trajectory
from headway.tasks.chain import Chain
from headway.tasks.run import Settings
from headway.training.evaluation import EvaluationData, Evaluator, divergence, references_of

TIMES = np.unique(np.concatenate([[0], np.geomspace(1, 2000, 120).round()])).astype(int)
SETTINGS = Settings(task=Chain(weighting="sum"), model=minimal_as_run().model)
OVERLAPPING = SETTINGS.changed(
    task={"blocks": ((5, 6, 7, 8), (3, 4, 5, 6), (1, 2, 3, 4)), "weighting": "mean"}, evaluation={"comparisons": True}
)
STOPS = np.array([10, 100, 1000])
Learner = Callable[[Array, Array], Array]
"""What all rungs say, (sequence, predicted, rung, token), and a time -> the learner's logits there."""


def watched(settings: Settings, times: np.ndarray, learner: Learner, sequences: int = 60) -> Run:
    """A learner of known logits, measured at these times."""
    task, world = settings.task, settings.task.world(jax.random.key(0))
    test = jax.vmap(lambda key: task.sample(world, key))(jax.random.split(jax.random.key(1), sequences))
    said = references_of(task, None, world, test, (), comparisons=True)
    count = len(task.rungs)
    rungs = jnp.swapaxes(said[:, :count], 1, 2)

    def measure(time):
        guess = jax.nn.log_softmax(learner(rungs, time))
        return jnp.mean(divergence(said, guess[:, None]), axis=(0, 2))

    kl = np.asarray(jax.jit(lambda times: jax.lax.map(measure, times))(jnp.asarray(times)))[None]
    arrays = {"kl_rungs": kl[:, :, :count], "excess_loss": kl[:, :, count - 1], "kl_subsets": kl[:, :, count:]}
    evaluator = Evaluator(task, lambda model, rows: None, sequences, comparisons=True, models=0)  # nothing is read
    known = evaluator.facts(task, jax.random.key(1), EvaluationData(world, None, test, said))
    facts = {name: np.asarray(value)[None] for name, value in known.items()}
    return settings, Trajectory((0,), {"evaluation": times}, arrays, dict.fromkeys(arrays, "evaluation"), facts)


def growing(rungs: Array, time: Array) -> Array:
    """Logits = s(t) times the truth's, s = 1 - exp(-t / 300): every block is learned at once."""
    return (1 - jnp.exp(-time / 300)) * rungs[:, :, -1]


@pytest.fixture(scope="module")
def smooth_learner() -> Run:
    return watched(SETTINGS, TIMES, growing)


def test_a_learner_without_stages_meets_the_rungs_in_order(smooth_learner):
    _, trajectory = smooth_learner
    assert meets_rungs_in_order(A1, smooth_learner).verdict == "holds"
    assert stages_from_ladder(TIMES, trajectory["kl_rungs"][0]).rungs == (1, 2, 3)


def test_its_loss_tells_that_it_never_waits(smooth_learner):
    _, trajectory = smooth_learner
    assert stages_from_loss(TIMES, trajectory["excess_loss"][0]).count == 1


def test_it_comes_no_nearer_to_a_lower_rung_than_confidence_alone_however_often_it_is_looked_at():
    found = nearer_than_stageless(A1_NEARER, watched(SETTINGS, np.arange(1, 401), growing))
    assert found.verdict == "fails"
    assert found.values == pytest.approx((1,), abs=0.01), "and hardly less near"


def test_a_learner_that_stops_at_every_rung_is_nearer_and_in_order():
    """Uniform at first, then f_{1:1}, f_{1:2} and the truth."""
    run = watched(SETTINGS, np.array([0, 10, 100, 1000]), lambda rungs, time: rungs[:, :, jnp.sum(time >= STOPS)])
    assert meets_rungs_in_order(A1, run).verdict == "holds"
    found = nearer_than_stageless(A1_NEARER, run)
    assert found.verdict == "holds"
    assert found.values == pytest.approx((0,), abs=1e-5)


def test_a_learner_without_stages_is_not_incremental_where_blocks_overlap():
    """Some combinations of blocks are less sure of themselves than the rung of as many: nearer to them is no feat."""
    found = still_incremental(A17, watched(OVERLAPPING, np.arange(1, 1500, 3), growing))
    assert found.verdict == "fails"
