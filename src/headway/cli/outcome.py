"""What a person gets at the end: a table of verdicts, figures, and a page to look at."""

from __future__ import annotations

import os
import re
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.analysis import over_seeds
from headway.cli.arguments import experiment_from, title
from headway.cli.screen import name as cell_name
from headway.records import Finding
from headway.store import Record

if TYPE_CHECKING:
    from headway.experiments import Results

VERDICT_STYLES = {"holds": "green", "partly": "yellow", "fails": "red", "not run": "dim"}


@dataclass(frozen=True)
class Outcome:
    """The records that answer an experiment's grid."""

    experiment: str
    grid: str
    records: tuple[Record, ...]

    @property
    def results(self) -> Results:
        return [(record.cell.settings, record.trajectory) for record in self.records]

    def findings(self) -> list[Finding]:
        return experiment_from(self.experiment).read(self.results)


def show(
    outcomes: Sequence[Outcome], into: Path, page: Path | None, commands: Sequence[str]
) -> list[tuple[str, Finding]]:
    """Print the verdicts and return them; write figures and page, and open the page where there is a desktop."""
    console = Console(highlight=False)
    findings = all_findings(outcomes)
    print_verdicts(console, findings)
    if page is None:
        return findings
    console.print("\ndrawing figures and page ...", style="dim")
    written = [path for outcome in outcomes for path in draw_figures(outcome, into / "figures")]
    write_report(outcomes, findings, page, commands)
    console.print(f"\nfigures  {into / 'figures'}  ({len(written)} files)", soft_wrap=True)
    console.print(f"page     {page.resolve()}", soft_wrap=True)
    if has_desktop():
        webbrowser.open(page.resolve().as_uri())
    return findings


def all_findings(outcomes: Sequence[Outcome]) -> list[tuple[str, Finding]]:
    """(grid, finding) of every experiment, in the order of the papers' claims: A2 before A10."""
    findings = [(outcome.grid, finding) for outcome in outcomes for finding in outcome.findings()]
    return sorted(findings, key=lambda each: _place(each[1].claim))


def _place(claim: str) -> tuple[str, int, str]:
    paper, number, rest = re.findall(r"(\D*)(\d*)(.*)", claim)[0]
    return paper, int(number or 0), rest


def print_verdicts(console: Console, findings: Sequence[tuple[str, Finding]]) -> None:
    """Claim by claim what the paper says, and below it grid by grid what was measured and the verdict."""
    claims: dict[str, list[tuple[str, Finding]]] = {}
    for grid, finding in findings:
        claims.setdefault(finding.claim, []).append((grid, finding))
    for claim, rows in claims.items():
        console.print(Text.assemble("\n", (claim, "bold"), "  ", rows[0][1].statement))
        table = Table(box=None, padding=(0, 1), show_header=False)
        for width in (4, 8, 8, 5, None):
            table.add_column(width=width)
        for grid, finding in rows:
            seeds = f"{sum(finding.holds)}/{len(finding.holds)}" if finding.holds else ""
            verdict = Text(finding.verdict, style=VERDICT_STYLES[finding.verdict])
            table.add_row("", grid, verdict, seeds, measured(finding))
        console.print(table)


def measured(finding: Finding) -> str:
    """The quantity's median and interval, what it is, and what a reader needs to know about the outcome."""
    words = [finding.detail] if finding.detail else []
    found = over_seeds(finding.values)
    if found.seeds:
        interval = "" if finding.interval is None else f" [{finding.interval[0]:.3g}, {finding.interval[1]:.3g}]"
        words.insert(0, f"{found.median:.3g}{interval}: {finding.quantity}.")
    if finding.parts and finding.verdict in ("partly", "fails"):
        words.append(f"Seeds with {', '.join(f'{part}: {count}' for part, count in finding.parts.items())}.")
    return " ".join(words)


def draw_figures(outcome: Outcome, folder: Path) -> list[Path]:
    """Every figure of the experiment as PNG and PDF."""
    from headway.report.figures import save

    folder.mkdir(parents=True, exist_ok=True)
    figures = experiment_from(outcome.experiment).draw(outcome.results)
    stem = f"{outcome.experiment}-{outcome.grid}"
    return [path for name, figure in figures.items() for path in save(figure, folder / f"{stem}-{name}")]


def write_report(
    outcomes: Sequence[Outcome], findings: Sequence[tuple[str, Finding]], page: Path, commands: Sequence[str]
) -> None:
    """The page with every run once, however many experiments use it."""
    from headway.report.build import run_view
    from headway.report.page import Report, write_page

    runs = {}
    # The page opens with its first run: what the authors' code did shows the whole story.
    for outcome in sorted(outcomes, key=lambda outcome: ("as-run", "quick", "printed").index(outcome.grid)):
        for record in outcome.records:
            label = f"{cell_name(record.cell)}, {outcome.grid}"
            runs.setdefault(
                record.identity,
                run_view(label, record.cell.settings, record.trajectory, dict(record.provenance)),
            )
    experiments = list(dict.fromkeys(outcome.experiment for outcome in outcomes))
    heading = " and ".join([", ".join(experiments[:-1]), experiments[-1]]) if len(experiments) > 1 else experiments[0]
    introduction = " ".join(title(experiment_from(name)) for name in experiments)
    write_page(
        page,
        Report(f"Headway: {heading}", introduction, tuple(runs.values()), tuple(findings), tuple(commands)),
    )


def write_markdown(
    outcomes: Sequence[Outcome], findings: Sequence[tuple[str, Finding]], path: Path, command: str
) -> None:
    """The verdicts and the stage boundaries of every run as a document."""
    from headway.report.document import write_document

    runs = {
        record.identity: (cell_name(record.cell), outcome.grid, record.cell.settings, record.trajectory)
        for outcome in outcomes
        for record in outcome.records
    }
    write_document(path, findings, list(runs.values()), command)


def has_desktop() -> bool:
    """Whether somebody sits in front of this machine and would see a browser open."""
    if not sys.stdout.isatty() or os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
