"""Which models a record has, and which of them shows a stage."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from headway import registry
from headway.analysis import Stages, stages_from_ladder, stages_from_loss
from headway.models.initialisation import transformer
from headway.settings import ModelSettings, SettingsError
from headway.settings.plain import Open, revive
from headway.store import Record, StoreError
from headway.store.record import ASK, SEEDS
from headway.trained.model import TrainedModel
from headway.trained.reads import Reads, reads_of_task
from headway.training.checkpoint import fill
from headway.training.problem import new_model, precision
from headway.training.randomness import WEIGHTS, key_of


@dataclass(frozen=True)
class Moment:
    """A stage of one seed, and the step that shows it best."""

    seed: int
    stage: int
    """Number of the stage: of a ladder, its rung."""
    step: int
    """Where KL to the stage's rung reaches its minimum; of a loss curve, the last evaluation before the stage ends."""
    boundary: float
    """When the stage began."""
    until: float
    """When the next one began; infinite for the last."""
    _record: Record

    @property
    def model(self) -> TrainedModel:
        """The kept model of this stage that is nearest to `step`."""
        there = [step for step in steps(self._record, self.seed) if self.boundary <= step < self.until]
        if not there:
            span = f"steps {self.boundary:.4g} to {self.until:.4g}"
            problem = f"no model of seed {self.seed} in stage {self.stage}, {span}, was kept"
            raise StoreError(self._record.path, problem, ASK, "missing")
        nearest = min(there, key=lambda step: abs(math.log1p(step) - math.log1p(self.step)))
        return model(self._record, self.seed, nearest)

    def __repr__(self) -> str:
        span = f"steps {self.boundary:.4g} to {self.until:.4g}"
        return f"Moment(seed {self.seed}, stage {self.stage}: {span}, at its clearest at step {self.step})"


def model(record: Record, seed: int | None = None, step: int | None = None) -> TrainedModel:
    """The model of a seed at a kept step, the last if not given."""
    reads, row = reads_of(record), _row(record, seed)
    own = record.cell.seeds[row]
    last = _last(record, row)
    if step is None or step == last:
        rows, step = record.weights(), last
    else:
        if step not in record.kept:
            there = ", ".join(map(str, steps(record, own))) or "none"
            problem = f"no model of step {step} was kept; of seed {own} there are: {there}"
            raise StoreError(record.path, problem, ASK, "missing")
        rows = record.weights(step)
        seeds = rows.pop(SEEDS)
        if own not in seeds:
            problem = f"of step {step} the models of the seeds {', '.join(map(str, seeds))} were kept, not of {own}"
            raise StoreError(record.path, problem, ASK, "missing")
        row = int(np.flatnonzero(seeds == own)[0])
    with precision(record.cell.settings):
        template = _template(record, reads, own)
        module = fill(template, {name: np.asarray(values[row]) for name, values in rows.items()})
    return TrainedModel(record.path, own, int(step), module, reads, record.cell.settings)


def steps(record: Record, seed: int | None = None) -> tuple[int, ...]:
    """The steps at which there is a model of the seed, the last one included if it was kept."""
    row = _row(record, seed)
    last = (_last(record, row),) if record.has_weights else ()
    # Only models that were chosen by what was measured are those of some seeds.
    mixed = record.provenance.get("keep_weights") == "stages" or "continued" in record.provenance
    own = [step for step in record.kept if not mixed or record.cell.seeds[row] in record.weights(step)[SEEDS]]
    return tuple(sorted({*own, *last}))


def at(record: Record, stage: int, seed: int | None = None) -> Moment:
    """A stage of a seed, found from its KL to the rungs or, without a ladder, from its loss."""
    row, trajectory = _row(record, seed), record.trajectory
    found: Stages
    if "kl_rungs" in trajectory:
        times, kl = trajectory.times("kl_rungs"), trajectory["kl_rungs"][row]
        found = stages_from_ladder(times, kl)
    elif "loss" in trajectory:
        times, kl = trajectory.times("loss"), None
        found = stages_from_loss(times, trajectory["loss"][row])
    else:
        raise SettingsError(f"{record.identity} has neither kl_rungs nor a loss, from which stages could be read.")
    if stage not in found.rungs:
        there = ", ".join(map(str, found.rungs)) or "none"
        raise SettingsError(f"seed {record.cell.seeds[row]} has no stage {stage}; its stages are: {there}.")
    place = found.rungs.index(stage)
    begins = (found.start, *found.boundaries)[place]
    until = (*found.boundaries, math.inf)[place]
    inside = (times >= begins) & (times < until)
    if kl is not None:
        step = times[np.nanargmin(np.where(inside, kl[:, stage], np.inf))]
    else:
        step = times[inside][-1] if place == len(found.leavings) else found.leavings[place]
    return Moment(record.cell.seeds[row], stage, round(float(step)), begins, until, record)


def reads_of(record: Record) -> Reads:
    """What the record's models read: as it says, or as its task does."""
    told, task = record.provenance.get("reads"), getattr(record.cell.settings, "task", None)
    if task is None or not registry.is_trained(record.cell.kind):
        raise SettingsError(f"{record.identity} is a {record.cell.kind}, of which there is no trained model.")
    if not isinstance(task, Open):
        return reads_of_task(task)
    try:
        return revive(Reads, told)
    except ValueError as error:
        raise SettingsError(
            f"{record.identity} does not say what its models read, and its task's code is not loaded. Load the file "
            "that defines the task and call experiment.register()."
        ) from error


def _template(record: Record, reads: Reads, seed: int) -> Any:
    """The shapes of its model; how its matrices start, which may be a user's function, does not matter."""
    run = record.cell.settings
    if run.model is None:
        if isinstance(run, Open):
            raise SettingsError(
                f"the model of {record.identity} is its task's own, whose code is not loaded. Load the file that "
                "defines it and call experiment.register()."
            )
        return jax.eval_shape(lambda: new_model(run, jnp.asarray(seed, jnp.uint32), 1.0))
    settings = run.model if isinstance(run.model, ModelSettings) else revive(ModelSettings, run.model.described)
    plain = replace(settings, initialisation="xavier", scale=1.0)
    if settings.emphasis != 1 and isinstance(run, Open):
        raise SettingsError(
            f"the model of {record.identity} emphasises attention where its task says, whose code is not loaded. Load "
            "the file that defines it and call experiment.register()."
        )
    relevant = () if isinstance(run, Open) else getattr(run.task, "relevant", ())
    sizes = reads.inputs, reads.positions, key_of(0, WEIGHTS), 1.0, reads.outputs
    return jax.eval_shape(lambda: transformer(plain, *sizes, relevant))


def _row(record: Record, seed: int | None) -> int:
    seeds = record.cell.seeds
    if seed is None:
        return 0
    if seed not in seeds:
        raise SettingsError(f"the record has no seed {seed}; it has {', '.join(map(str, seeds))}.")
    return seeds.index(seed)


def _last(record: Record, row: int) -> int:
    """The step at which the training of a seed ended."""
    facts: Mapping[str, np.ndarray] = record.trajectory.facts
    stopped = int(facts["stopped_at"][row]) if "stopped_at" in facts else -1
    return stopped if stopped >= 0 else int(record.cell.settings.training.steps)
