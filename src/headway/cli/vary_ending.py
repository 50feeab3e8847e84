"""What a person gets when settings were varied: every claim against them, as a table, a figure, a page and numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from headway.cli.arguments import experiment_from
from headway.cli.ending import offer
from headway.cli.verdict_tables import print_counts, print_variation
from headway.experiments.outcome import Outcome, place_of
from headway.experiments.run_names import in_text
from headway.records import Finding
from headway.settings.variation import in_words, value_in_words
from headway.store.output import write_output
from headway.store.texts import csv_cell

if TYPE_CHECKING:
    from headway.report.page import FigureGroup, RunView

MOST_TOLD = 24
"""Combinations that are listed claim by claim; of more, how many hold."""
MOST_LINES = 8
"""Lines that a panel can show: combinations of all settings but the first."""
MOST_RUNS = 12
"""Runs on the page, evenly taken from all combinations: each adds to its size."""
MOST_COLUMNS = 5
"""Combinations whose verdicts stand side by side on the page; more are in the figure only."""

Found = list[tuple[Mapping[str, Any], list[Finding]]]
"""Values of the settings that were varied, and what was found with them."""


@dataclass(frozen=True)
class Sweep:
    """What was varied, and where the outcome goes."""

    experiment: str
    grid: str
    settings: tuple[str, ...]
    digest: str
    """Differs for other values, seeds or other settings: no sweep writes over another."""
    into: Path
    command: str

    @property
    def key(self) -> str:
        """Name of its files."""
        return f"{self.experiment}-{self.grid}-by-{'-'.join(self.settings)}-{self.digest}"

    @property
    def title(self) -> str:
        return f"{self.experiment} by {' and '.join(self.settings)}"


def show_varied(sweep: Sweep, outcomes: Iterable[tuple[Mapping[str, Any], Outcome]], count: int, *, page: bool) -> None:
    """Print what every claim says of `count` combinations; write the numbers, and figure and page if wanted.

    Outcomes come one by one and are let go: of ten thousand only what they say fits the memory.
    """
    console = Console(highlight=False)
    console.print(f"\nreading {count} combinations ...", style="dim")
    found: Found = []
    views: list[RunView] = []
    watched = {round(place) for place in np.linspace(0, count - 1, min(count, MOST_RUNS))} if page else set()
    for number, (values, outcome) in enumerate(outcomes):
        found.append((values, _findings(outcome, sweep.key)))
        if number in watched:
            views += _views(outcome, in_words(values))
    told = [(in_words(values), finding) for values, findings in found for finding in findings]
    told.sort(key=lambda each: place_of(each[1].claim))
    (print_variation if count <= MOST_TOLD else print_counts)(console, told)
    sweep.into.mkdir(parents=True, exist_ok=True)
    numbers = sweep.into / f"{sweep.key}.csv"
    write_output(numbers, _table(sweep.settings, found).encode())
    console.print(f"\nnumbers  {numbers}", soft_wrap=True, markup=False)
    if page:
        figures = _draw(console, sweep, found)
        _write_page(console, sweep, views, told if count <= MOST_COLUMNS else (), figures)


def _findings(outcome: Outcome, key: str) -> list[Finding]:
    """Without the reasons that we give for what fails: they are for the papers' settings."""
    return [replace(each, figures=key) for each in outcome.plain_findings()]


def _views(outcome: Outcome, label: str) -> list[RunView]:
    """The first run of a combination that a slider has something to show of."""
    from headway.report.assemble import view_of, worth_drawing

    first = list(worth_drawing(outcome.records).items())[:1]
    return [view_of(f"{name}, {label}", record) for name, record in first]


def _table(settings: Sequence[str], found: Found) -> str:
    """A row for each combination, claim and seed."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow([*settings, "claim", "quantity", "seed", "value", "holds"])
    for values, findings in found:
        told = [csv_cell(value_in_words(value)) for value in values.values()]
        for each in findings:
            for seed, value, holds in zip(each.seeds, each.values, each.holds, strict=True):
                holds = "cannot be judged" if holds is None else holds
                rows.writerow([*told, csv_cell(each.claim), csv_cell(each.quantity), seed, repr(float(value)), holds])
    return text.getvalue()


def _draw(console: Console, sweep: Sweep, found: Found) -> tuple[FigureGroup, ...]:
    """The figure, written and for the page; none where no claim has a number, or where lines would cover each other."""
    from headway.report.figures import figure_variation, save
    from headway.report.page import FigureGroup

    others = sweep.settings[1:]
    lines = {in_words({name: values[name] for name in others}) for values, _ in found}
    measured = any(np.isfinite(finding.values).any() for _, findings in found for finding in findings)
    if len(lines) > MOST_LINES or not measured:
        why = f"{len(lines)} lines would cover each other" if measured else "no claim has a number"
        console.print(f"no figure: {why}")
        return ()
    png, _, svg = save(figure_variation(found), sweep.into / "figures" / sweep.key)
    console.print(f"figure   {png}", soft_wrap=True, markup=False)
    name = "variation"
    return (FigureGroup(sweep.key, sweep.title, sweep.grid, ((name, png.read_bytes()),), {name: svg.read_bytes()}),)


def _write_page(
    console: Console,
    sweep: Sweep,
    views: Sequence[RunView],
    told: Sequence[tuple[str, Finding]],
    figures: tuple[FigureGroup, ...],
) -> None:
    from headway.report.page import Report, write_page

    about = in_text(experiment_from(sweep.experiment).title)
    commands = (sweep.command,)
    report = Report(f"Headway: {sweep.title}", about, tuple(views), tuple(told), commands, figures=figures)
    offer(console, write_page(sweep.into / f"{sweep.key}.html", report))
