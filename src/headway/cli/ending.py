"""What a person gets at the end: verdicts, figures, a page to look at, a document to keep."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from headway.cli.arguments import experiment_from
from headway.cli.left_out import tell, tell_of_figures, unfit
from headway.cli.outcome import Outcome, all_findings
from headway.cli.verdict_tables import print_verdicts
from headway.records import Finding
from headway.store import Record
from headway.store.output import tidy_outputs

if TYPE_CHECKING:
    from headway.report.assemble import Shown


def show(
    outcomes: Sequence[Outcome], into: Path, page: Path | None, commands: Sequence[str], others: Sequence[Shown] = ()
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
    write_report(outcomes, findings, page, commands, drawn, others)
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
    others: Sequence[Shown] = (),
) -> None:
    """The page with every run once, however many experiments use it; `drawn` are the figures of each outcome."""
    from headway.report.assemble import Shown, portraits_among, put_together, worth_drawing
    from headway.report.page import FigureGroup, write_page

    first, rest, groups = [], [], []
    several = len({outcome.experiment for outcome in outcomes}) > 1
    # The page opens with its first run: what the authors' code did shows the whole story.
    for outcome in sorted(outcomes, key=lambda outcome: outcome.grid == "printed"):
        section = outcome.experiment if several else ""
        drawable = worth_drawing(outcome.usable).items()
        named = [Shown(f"{name}, {outcome.grid}", record, section) for name, record in drawable]
        own = [each for each in named if _fits_the_page(each)]
        first += own[:1]
        rest += own[1:]
        pictures, drawings = (_contents(outcome, drawn.get(outcome.name, ()), kind) for kind in (".png", ".svg"))
        if pictures:
            heading = experiment_from(outcome.experiment).title
            groups.append(FigureGroup(outcome.name, heading, outcome.grid, tuple(pictures.items()), drawings))
    others = [each for each in others if _fits_the_page(each)]
    portraits = portraits_among(record for outcome in outcomes for record in outcome.usable.values())
    portraits += portraits_among(each.record for each in others)
    heading, introduction = _heading(outcomes)
    runs = [*first, *others, *rest]  # if there is no room for all, something of everything
    write_page(page, put_together(heading, introduction, runs, findings, groups, commands, portraits))


def _heading(outcomes: Sequence[Outcome]) -> tuple[str, str]:
    """What the page is called and what it says first."""
    names = list(dict.fromkeys(outcome.experiment for outcome in outcomes))
    if not names:
        return "Headway: runs of this folder", ""
    if len(names) > 4:
        return f"Headway: {len(names)} experiments", f"{', '.join(names)}."
    heading = " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    return f"Headway: {heading}", " ".join(experiment_from(name).title for name in names)


def _contents(outcome: Outcome, paths: Sequence[Path], suffix: str) -> dict[str, bytes]:
    """The files of one kind by the name of their figure."""
    return {path.stem.removeprefix(f"{outcome.name}-"): path.read_bytes() for path in paths if path.suffix == suffix}


def _fits_the_page(shown: Shown) -> bool:
    """Whether the page can draw a run: a record with the right checksums can hold anything. Else it is named."""
    from headway.report.assemble import views_of
    from headway.report.page import Report
    from headway.report.page.payload import payload

    try:
        payload(Report("", "", views_of([shown])))
        return True
    except Exception as error:
        tell(unfit(shown.record, error))
        return False


def write_markdown(
    outcomes: Sequence[Outcome], findings: Sequence[tuple[str, Finding]], path: Path, command: str
) -> None:
    """The verdicts and the stage boundaries of every run as a document."""
    from headway.report.document import NamedRun, write_document

    titles = {outcome.experiment: experiment_from(outcome.experiment).title for outcome in outcomes}
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
