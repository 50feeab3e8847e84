"""A callback for the Trainer of Lightning, under either of its names."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from headway.telemetry.watch import Watch


def callback(watch: Watch) -> Any:
    """Lightning comes as `lightning` or as `pytorch_lightning`, and wants the Callback of the one that trains."""
    name = "pytorch_lightning" if "lightning" not in sys.modules and "pytorch_lightning" in sys.modules else None
    base = importlib.import_module(name or "lightning.pytorch").Callback

    class TelemetryCallback(base):
        """Optimiser steps count, however many batches are accumulated for one."""

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            planned = trainer.estimated_stepping_batches  # infinite where only the user ends it
            watch.budget.steps = watch.budget.steps or (int(planned) if planned < float("inf") else None)
            watch.step(trainer.global_step)

        def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
            watch.step(trainer.global_step)

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            watch.finish(trainer.global_step)

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            watch.close()

    return TelemetryCallback()
