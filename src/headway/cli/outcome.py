"""The records that answer an experiment, and the findings they hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from headway.cli.arguments import experiment_from, seeds_of
from headway.experiments import NAMES
from headway.lookup import answer, readable
from headway.records import Cell, Finding
from headway.store import Record, Store

if TYPE_CHECKING:
    from headway.claims.claim import Results


@dataclass(frozen=True)
class Outcome:
    """The records that answer an experiment's grid, by the names of its runs; some may be missing."""

    experiment: str
    grid: str
    records: Mapping[str, Record]
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings that differ from the grid's own, by full names."""

    @property
    def name(self) -> str:
        """Of its files: runs with other settings do not write over the grid's own figures."""
        from headway.report.assemble import page_name

        return page_name(f"{self.experiment}-{self.grid}", self.changes)

    @property
    def results(self) -> Results:
        return {name: (record.cell.settings, record.trajectory) for name, record in self.records.items()}

    @property
    def complete(self) -> bool:
        return self.records.keys() >= experiment_from(self.experiment).grids[self.grid].keys()

    def findings(self) -> list[Finding]:
        found = experiment_from(self.experiment).read(self.results, self.grid)
        return [replace(each, figures=self.name) for each in found]


def outcomes_from(
    stores: Sequence[Store], grids: Sequence[str], experiments: Sequence[str] = NAMES, every: bool = False
) -> list[Outcome]:
    """What the folders hold of the experiments; `every` keeps those of which they hold nothing."""
    outcomes, among = [], readable(stores)
    for name in experiments:
        experiment = experiment_from(name)
        for grid in (grid for grid in grids if grid in experiment.grids):
            found = {}
            for run, settings in experiment.grids[grid].items():
                record = answer(Cell(settings, seeds_of(experiment, grid)), stores, loosely=True, among=among)
                found |= {} if record is None else {run: record}
            if found or every:
                outcomes.append(Outcome(name, grid, found))
    return outcomes


def all_findings(outcomes: Sequence[Outcome]) -> list[tuple[str, Finding]]:
    """(grid, finding) of every experiment, in the order of the papers' claims: A2 before A10."""
    findings = [(outcome.grid, finding) for outcome in outcomes for finding in outcome.findings()]
    return sorted(findings, key=lambda each: place_of(each[1].claim))


def place_of(claim: str) -> tuple[str, int, str]:
    paper, number, rest = re.findall(r"(\D*)(\d*)(.*)", claim)[0]
    return paper, int(number or 0), rest
