"""What a person gets at the end: verdicts, figures, a page to look at, a document to keep."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from headway.cli.spent_table import StopWatch, show_ending
from headway.cli.stage_lines import stage_lines
from headway.cli.verdict_tables import print_briefly, print_verdicts
from headway.experiments.drawing import WORTH, Drawing
from headway.experiments.left_out import tell, unfit
from headway.experiments.outcome import Outcome, all_findings
from headway.experiments.pages import FEW, finish_report, report_of_runs
from headway.records import Finding
from headway.store import Record
from headway.store.output import tidy_outputs

if TYPE_CHECKING:
    from headway.report.assemble import Shown


def show(
    outcomes: Sequence[Outcome],
    into: Path,
    page: Path | None,
    commands: Sequence[str],
    others: Sequence[Shown] = (),
    asked: Sequence[str] = (),
    drawing: Drawing | None = None,
) -> list[tuple[str, Finding]]:
    """Print the verdicts and return them; write figures and page, and open the page where there is a desktop.

    `asked` are the experiments of which claims without a run are counted, or all. Of a `drawing` that was begun before,
    what was drawn is taken.
    """
    console = Console(highlight=False)
    with drawing or Drawing(into / "figures") as drawing:
        watch = StopWatch()
        if page is not None:
            tidy_outputs(into)
            tidy_outputs(into / "figures")
            drawing.begin(outcomes)
        findings = all_findings(outcomes)
        many = len({outcome.called for outcome in outcomes}) > FEW
        (print_briefly if many and page is not None else print_verdicts)(console, findings)
        for line in stage_lines(outcomes):
            console.print(f"\nstages   {line}", markup=False)
        watch.lap("claims")
        if page is None:
            return findings
        complete = [outcome for outcome in outcomes if outcome.complete]
        what = f"the figures of {len(complete)} grids" if len(complete) > 1 else "figures"
        console.print(f"\ndrawing {what} and the page ...", style="dim")
        drawn: dict[str, list[Path]] = {}
        with console.status("the page") as status:
            # Helpers draw meanwhile.
            report = report_of_runs(outcomes, findings, commands, others, asked=asked)
            watch.lap("page")
            for number, outcome in enumerate(complete, 1):
                status.update(f"{number} of {len(complete)}: {outcome.name}")
                drawn[outcome.name] = drawing.figures(outcome)
            watch.lap("figures")
            status.update("the page")
            finish_report(page, report, outcomes, drawn)
            watch.lap("page")
    written = [path for paths in drawn.values() for path in paths]
    console.print()
    if len(complete) >= WORTH:
        show_ending(Console(stderr=True), watch.laps, drawing.processes, drawing.early_ones)
    if written:
        console.print(f"figures  {into / 'figures'}  ({len(written)} files)", soft_wrap=True, markup=False)
    offer(console, page)
    return findings


def offer(console: Console, page: Path) -> None:
    """Say where the page is, and open it where there is a desktop."""
    console.print(f"page     {page.resolve()}", soft_wrap=True, markup=False)
    if has_desktop():
        webbrowser.open(page.resolve().as_uri())


def write_markdown(
    outcomes: Sequence[Outcome], findings: Sequence[tuple[str, Finding]], path: Path, command: str
) -> None:
    """The verdicts and the stage boundaries of every run as a document."""
    from headway.report.document import NamedRun, write_document

    titles = {outcome.called: outcome.experiment.title for outcome in outcomes}
    runs = [
        (NamedRun(outcome.called, outcome.grid, name, record.cell.settings, record.trajectory), record)
        for outcome in outcomes
        for name, record in outcome.usable.items()
    ]
    try:
        write_document(path, findings, [run for run, _ in runs], titles, command)
    except OSError:
        raise
    except Exception:
        fitting = [run for run, record in runs if _has_rows(run, record)]
        write_document(path, findings, fitting, titles, command)


def _has_rows(run: Any, record: Record) -> bool:
    """Whether the tables of a document can show it; else it is named."""
    from headway.report.document import tables_of

    try:
        tables_of([run])
        return True
    except Exception as error:
        tell(unfit(record, error))
        return False


def has_desktop() -> bool:
    """Whether somebody sits in front of this machine and would see a browser open."""
    if not sys.stdout.isatty() or os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
