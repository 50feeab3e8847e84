"""The engine for the cells of a sweep on a machine with GPUs."""

from __future__ import annotations

import os
from collections.abc import Sequence

from headway.records import Cell
from headway.sweep.arrange import quickest
from headway.sweep.bundle import waves
from headway.sweep.cost import Costs
from headway.sweep.engines import Engine
from headway.sweep.engines.gpus import Gpu
from headway.sweep.engines.layout import AHEAD, widest
from headway.sweep.engines.processes import engine_of


def engine_for(cells: Sequence[Cell], gpus: tuple[Gpu, ...], costs: Costs) -> Engine | None:
    """Processes that share the GPUs; None, which is this process, for a single program."""
    bundles = [bundle for wave in waves(cells) for bundle in wave]
    if len(bundles) == 1:
        return None
    os.environ.setdefault(AHEAD, "false")  # from here on this process only plans
    return engine_of(quickest(bundles, widest(gpus, os.cpu_count() or 1), costs))
