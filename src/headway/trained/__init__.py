"""Trained models out of records: callable on what their task reads, in NumPy, with everything a forward pass knows."""

from headway.trained.model import Seen, TrainedModel
from headway.trained.reads import Reads, reads_of_task
from headway.trained.records import Moment, at, model, steps

__all__ = ["Moment", "Reads", "Seen", "TrainedModel", "at", "model", "reads_of_task", "steps"]
