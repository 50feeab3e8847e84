"""The records that answer an experiment, and the findings they hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from headway.experiments import NAMES, Experiment, find
from headway.experiments.left_out import readable_runs, tell, with_what_fits
from headway.lookup import Records, answer, readable
from headway.records import Cell, Finding
from headway.store import Record, Store, StoreError

if TYPE_CHECKING:
    from headway.claims.claim import Results


class Judged(NamedTuple):
    """What was found in the records of an outcome."""

    findings: tuple[Finding, ...]
    """Of its claims, as `Experiment.read` gives them."""
    usable: tuple[str, ...]
    """The runs whose numbers can be read and fit the claims."""


@dataclass(frozen=True)
class Outcome:
    """The records that answer an experiment's grid, by the names of its runs; some may be missing."""

    experiment: Experiment
    called: str
    """The experiment's name, or that of its file."""
    grid: str
    records: Mapping[str, Record]
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings that differ from the grid's own, by full names."""

    @property
    def name(self) -> str:
        """Of its files: runs with other settings do not write over the grid's own figures."""
        from headway.report.assemble import page_name

        return page_name(f"{self.called}-{self.grid}", self.changes)

    @cached_property
    def usable(self) -> dict[str, Record]:
        """Those whose numbers can be read and fit the claims; the others are named."""
        return self._found[1]

    @property
    def judged(self) -> Judged:
        """What the claims say, and which runs fit them, in words that another process understands."""
        findings, usable = self._found
        return Judged(tuple(findings), tuple(usable))

    def take(self, judged: Judged) -> None:
        """What another process found in the same records need not be found again."""
        found = list(judged.findings), {run: self.records[run] for run in judged.usable}
        self.__dict__["_found"] = found  # where a cached property keeps its value

    @property
    def results(self) -> Results:
        return results_of(self.usable)

    @property
    def complete(self) -> bool:
        return self.usable.keys() >= self.experiment.grids[self.grid].keys()

    def findings(self) -> list[Finding]:
        """What the experiment's claims say, with the reasons that we give for what fails."""
        return [replace(each, figures=self.name) for each in self._found[0]]

    def plain_findings(self) -> list[Finding]:
        """The same without the reasons, which are for the papers' settings."""
        return [replace(each, reason="") for each in self._found[0]]

    @cached_property
    def _found(self) -> tuple[list[Finding], dict[str, Record]]:
        return with_what_fits(
            lambda records: self.experiment.read(results_of(records), self.grid), readable_runs(self.records)
        )


def results_of(records: Mapping[str, Record]) -> Results:
    """Settings and numbers of the runs, as an experiment reads them."""
    return {name: (record.cell.settings, record.trajectory) for name, record in records.items()}


def outcomes_from(
    stores: Sequence[Store], grids: Sequence[str], names: Sequence[str] = NAMES, every: bool = False
) -> list[Outcome]:
    """What the folders hold of Headway's experiments; `every` keeps those of which they hold nothing."""
    outcomes, among = [], readable(stores)
    for name in names:
        experiment = find(name)
        for grid in (grid for grid in grids if grid in experiment.grids):
            found = {}
            for run, settings in experiment.grids[grid].items():
                record = _answer(Cell(settings, tuple(range(experiment.seeds[grid]))), stores, among)
                found |= {} if record is None else {run: record}
            if found or every:
                outcomes.append(Outcome(experiment, name, grid, found))
    return outcomes


def all_findings(outcomes: Sequence[Outcome]) -> list[tuple[str, Finding]]:
    """(grid, finding) of every experiment, in the order of the papers' claims: A2 before A10."""
    findings = [(outcome.grid, finding) for outcome in outcomes for finding in outcome.findings()]
    return sorted(findings, key=lambda each: place_of(each[1].claim))


def place_of(claim: str) -> tuple[str, int, str]:
    paper, number, rest = re.findall(r"(\D*)(\d*)(.*)", claim)[0]
    return paper, int(number or 0), rest


def _answer(cell: Cell, stores: Sequence[Store], among: Records) -> Record | None:
    """The record that answers a cell; a damaged one in its place is named, and another one may do."""
    try:
        return answer(cell, stores, loosely=True, among=among)
    except StoreError as error:
        tell(error)
        return answer(cell, (), loosely=True, among=among)
