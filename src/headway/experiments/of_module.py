"""An experiment from a module with GRIDS, SEEDS, `read` and `draw`, as those of paper B still are."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from headway.claims.claim import Results
from headway.claims.reasons import reason_for
from headway.experiments.experiment import Experiment, headline
from headway.records import Finding


class _OfModule(Experiment):
    module: Any

    def read(self, results: Results, grid: str = "") -> list[Finding]:
        return [replace(each, reason=reason_for(each, grid)) for each in self.module.read(results)]


@cache
def of_module(module: Any) -> Experiment:
    made = _OfModule(headline(module.__doc__), module.GRIDS, module.SEEDS, figures=module.draw)
    object.__setattr__(made, "module", module)
    return made
