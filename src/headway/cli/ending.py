"""What a person gets at the end: verdicts, figures, a page to look at, a document to keep."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from headway.cli.arguments import experiment_from, title
from headway.cli.left_out import tell, tell_of_figures, unfit
from headway.cli.outcome import Outcome, all_findings
from headway.cli.verdict_tables import print_verdicts
from headway.records import Finding, Trajectory
from headway.store import Record
from headway.store.output import tidy_outputs


def show(
    outcomes: Sequence[Outcome], into: Path, page: Path | None, commands: Sequence[str]
) -> list[tuple[str, Finding]]:
    """Print the verdicts and return them; write figures and page, and open the page where there is a desktop."""
    console = Console(highlight=False)
    findings = all_findings(outcomes)
    print_verdicts(console, findings)
    if page is None:
        return findings
    tidy_outputs(into)
    tidy_outputs(into / "figures")
    console.print("\ndrawing figures and page ...", style="dim")
    drawn = {outcome.name: draw_figures(outcome, into / "figures") for outcome in outcomes if outcome.complete}
    written = [path for paths in drawn.values() for path in paths]
    write_report(outcomes, findings, page, commands, drawn)
    console.print()
    if written:
        console.print(f"figures  {into / 'figures'}  ({len(written)} files)", soft_wrap=True, markup=False)
    offer(console, page)
    return findings


def offer(console: Console, page: Path) -> None:
    """Say where the page is, and open it where there is a desktop."""
    console.print(f"page     {page.resolve()}", soft_wrap=True, markup=False)
    if has_desktop():
        webbrowser.open(page.resolve().as_uri())


def draw_figures(outcome: Outcome, folder: Path) -> list[Path]:
    """Every figure of the experiment as PNG, PDF and SVG."""
    from headway.report.figures import save

    try:
        figures = experiment_from(outcome.experiment).draw(outcome.results)
    except Exception as error:
        tell_of_figures(outcome.name, [record.path for record in outcome.usable.values()], error)
        return []
    return [path for name, figure in figures.items() for path in save(figure, folder / f"{outcome.name}-{name}")]


def write_report(
    outcomes: Sequence[Outcome],
    findings: Sequence[tuple[str, Finding]],
    page: Path,
    commands: Sequence[str],
    drawn: Mapping[str, Sequence[Path]],
) -> None:
    """The page with every run once, however many experiments use it; `drawn` are the figures of each outcome."""
    from headway.report.build import any_view
    from headway.report.page import FigureGroup, Report, write_page
    from headway.report.page.payload import payload

    runs, groups = {}, []
    # The page opens with its first run: what the authors' code did shows the whole story.
    for outcome in sorted(outcomes, key=lambda outcome: ("as-run", "paper", "quick", "printed").index(outcome.grid)):
        for name, record in worth_watching(outcome, alone=len(outcomes) == 1).items():
            label = f"{name}, {outcome.grid}"
            told = (label, record.cell.settings, record.trajectory, dict(record.provenance))
            try:
                view = any_view(*told, _portraits(outcome))
                payload(Report("", "", (view,)))
            except Exception as error:
                tell(unfit(record, error))
                continue
            runs.setdefault(record.identity, view)
        pictures, drawings = (_contents(outcome, drawn.get(outcome.name, ()), kind) for kind in (".png", ".svg"))
        if pictures:
            heading = title(experiment_from(outcome.experiment))
            groups.append(FigureGroup(outcome.name, heading, outcome.grid, tuple(pictures.items()), drawings))
    experiments = list(dict.fromkeys(outcome.experiment for outcome in outcomes))
    heading = " and ".join([", ".join(experiments[:-1]), experiments[-1]]) if len(experiments) > 1 else experiments[0]
    introduction = " ".join(title(experiment_from(name)) for name in experiments)
    if len(experiments) > 4:
        heading, introduction = f"{len(experiments)} experiments", f"{', '.join(experiments)}."
    write_page(
        page,
        Report(
            f"Headway: {heading}",
            introduction,
            tuple(runs.values()),
            tuple(findings),
            tuple(commands),
            figures=tuple(groups),
        ),
    )


def _contents(outcome: Outcome, paths: Sequence[Path], suffix: str) -> dict[str, bytes]:
    """The files of one kind by the name of their figure."""
    return {path.stem.removeprefix(f"{outcome.name}-"): path.read_bytes() for path in paths if path.suffix == suffix}


def worth_watching(outcome: Outcome, alone: bool) -> dict[str, Record]:
    """The runs that a slider has something to show of: trained, and with attention matrices where some have them.

    Or a gradient flow, which has attention of its own. Of one experiment among many, the first.
    """
    trained = {name: record for name, record in outcome.usable.items() if record.cell.kind == "markov"}
    seen = {name: each for name, each in trained.items() if len(each.trajectory.clocks.get("snapshot", ()))}
    seen |= {name: record for name, record in outcome.usable.items() if record.cell.kind == "flow"}
    if seen or not alone:
        return dict(list(seen.items())[: None if alone else 1])
    return dict(list(trained.items())[:1])


def _portraits(outcome: Outcome) -> list[tuple[Any, Trajectory]]:
    records = [record for record in outcome.usable.values() if record.cell.kind == "portrait"]
    return [(record.cell.settings, record.trajectory) for record in records]


def write_markdown(
    outcomes: Sequence[Outcome], findings: Sequence[tuple[str, Finding]], path: Path, command: str
) -> None:
    """The verdicts and the stage boundaries of every run as a document."""
    from headway.report.document import NamedRun, write_document

    titles = {outcome.experiment: title(experiment_from(outcome.experiment)) for outcome in outcomes}

    runs = [
        (NamedRun(outcome.experiment, outcome.grid, name, record.cell.settings, record.trajectory), record)
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
    from headway.report.document import flow_table
    from headway.report.document.tables import stage_table

    tables = {"markov": stage_table, "flow": flow_table.flow_table}
    try:
        tables.get(record.cell.kind, list)([run])
        return True
    except Exception as error:
        tell(unfit(record, error))
        return False


def has_desktop() -> bool:
    """Whether somebody sits in front of this machine and would see a browser open."""
    if not sys.stdout.isatty() or os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
