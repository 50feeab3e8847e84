"""A callback for the Trainer of transformers."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from headway.telemetry.watch import Watch


class _Callback(TrainerCallback):
    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.watch.budget.steps = self.watch.budget.steps or state.max_steps or None
        self.watch.step(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.watch.step(state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.watch.finish(state.global_step)


def callback(watch: Watch) -> TrainerCallback:
    return _Callback(watch)
