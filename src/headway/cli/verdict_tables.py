"""Verdicts on the terminal: claim by claim, as one table, or in full."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.analysis import median_in_words
from headway.records import Finding

ROOM = 100
"""Columns from which on there is room for a table."""
VERDICT_STYLES = {
    "holds": "green",
    "partly": "yellow",
    "fails": "red",
    "cannot be judged": "magenta",
    "not run": "dim",
    "not in grid": "dim italic",
}
IN_FULL = "`headway claims A1` shows a claim with its definition and every seed."
SEED_WORDS = {True: "holds", False: "does not hold", None: "cannot be judged"}


def print_verdicts(console: Console, findings: Sequence[tuple[str, Finding]]) -> None:
    """Claim by claim what the paper says, and below it grid by grid what was measured and the verdict."""
    for claim, rows in _by_claim(findings).items():
        console.print(Text.assemble("\n", (claim, "bold"), "  ", rows[0][1].statement))
        table = Table(box=None, padding=(0, 1), show_header=False)
        for width in (4, 8, 9, 5, None):
            table.add_column(width=width)
        for grid, finding in rows:
            verdict = Text(finding.verdict, style=VERDICT_STYLES[finding.verdict])
            # As text: what a record says in brackets is no markup.
            table.add_row("", grid, verdict, finding.held, Text(measured(finding)))
        console.print(table)


def print_briefly(console: Console, findings: Sequence[tuple[str, Finding]]) -> None:
    """A line for each of very many claims: its verdict on every grid."""
    console.print()
    for claim, rows in _by_claim(findings).items():
        verdicts = ((f"{grid} {finding.summary}", VERDICT_STYLES[finding.verdict]) for grid, finding in rows)
        line = [part for verdict in verdicts for part in (", ", verdict)][1:]
        console.print(Text.assemble((f"{claim}: ", "bold"), *line))
    console.print(IN_FULL, style="dim")


def print_variation(console: Console, findings: Sequence[tuple[str, Finding]]) -> None:
    """Claim by claim, and below it a line for every combination of values: the verdict and the number."""
    for claim, rows in _by_claim(findings).items():
        said = rows[0][1]
        console.print(Text.assemble("\n", (claim, "bold"), f"  {said.statement} ", (f"{said.quantity}:", "dim")))
        table = Table(box=None, padding=(0, 1), show_header=False, pad_edge=False)
        for label, finding in rows:
            verdict = Text(finding.verdict, style=VERDICT_STYLES[finding.verdict])
            number = median_in_words(finding.values, finding.interval) if finding.holds else finding.detail
            table.add_row("   ", Text(label), verdict, finding.counts, Text(number))
        console.print(table)


def print_counts(console: Console, findings: Sequence[tuple[str, Finding]]) -> None:
    """Claim by claim in how many of very many combinations it holds."""
    for claim, rows in _by_claim(findings).items():
        run = [finding for _, finding in rows if finding.holds]
        holds = sum(finding.verdict == "holds" for finding in run)
        rest = f"; {len(rows) - len(run)} were not run" if len(run) < len(rows) else ""
        count = f"holds in every seed of {holds} of {len(run)} combinations{rest}." if run else "not run."
        console.print(Text.assemble((claim, "bold"), f"  {count} {rows[0][1].statement}"))


def _by_claim(findings: Sequence[tuple[str, Finding]]) -> dict[str, list[tuple[str, Finding]]]:
    claims: dict[str, list[tuple[str, Finding]]] = {}
    for label, finding in findings:
        claims.setdefault(finding.claim, []).append((label, finding))
    return claims


def print_table(console: Console, findings: Sequence[tuple[str, Finding]], grids: Sequence[str]) -> None:
    """One row a claim, one column a grid; a table for the claims of each paper, which have grids of their own."""
    by_claim: dict[str, dict[str, Finding]] = {}
    for grid, finding in findings:
        by_claim.setdefault(finding.claim, {})[grid] = finding
    families: dict[tuple[str, ...], list[dict[str, Finding]]] = {}
    for rows in by_claim.values():
        families.setdefault(tuple(grid for grid in grids if grid in rows), []).append(rows)
    for columns, family in families.items():
        (_print_wide if console.width >= ROOM else _print_narrow)(console, columns, family)
    console.print(IN_FULL, style="dim")


def _print_wide(console: Console, grids: Sequence[str], family: Sequence[dict[str, Finding]]) -> None:
    table = Table(padding=(0, 1), show_lines=True)
    for heading in ("claim", "statement", *grids):
        table.add_column(heading, ratio=None if heading == "claim" else 3 if heading == "statement" else 2)
    for rows in family:
        said = rows[grids[0]]
        words = Text.assemble(said.statement, "\n", _measured(said))
        table.add_row(said.claim, words, *(_cell(rows[grid]) for grid in grids))
    console.print(table)


def _print_narrow(console: Console, grids: Sequence[str], family: Sequence[dict[str, Finding]]) -> None:
    """The same below each other, where columns would be a word wide."""
    for rows in family:
        said = rows[grids[0]]
        console.print(Text.assemble("\n", (said.claim, "bold"), "  ", said.statement, " ", _measured(said)))
        for grid in grids:
            console.print(Text.assemble(f"  {grid:<8} ", Text(" ").join(_verdict(rows[grid]))))


def _measured(finding: Finding) -> tuple[str, str]:
    return f"Measured: {finding.quantity}" if finding.quantity else "", "dim"


def _cell(finding: Finding) -> Text:
    """Verdict, seeds, number and where to look."""
    cell = Text("\n").join(_verdict(finding))
    return cell.append(f"\nfigures {finding.figures}", style="dim") if finding.holds else cell


def _verdict(finding: Finding) -> list[Text]:
    """Verdict and seeds, and the number."""
    verdict = Text(finding.verdict, style=VERDICT_STYLES[finding.verdict])
    if not finding.holds:
        return [verdict]
    number = Text(median_in_words(finding.values, finding.interval))
    seeds = finding.counts if finding.unjudged else f"{finding.held} seeds"
    return [verdict.append(f"  {seeds}", style="default"), number]


def print_in_full(console: Console, findings: Sequence[tuple[str, Finding]]) -> None:
    """What was measured, when a seed counts, and every seed's number; a cross marks the seeds that do not hold."""
    print_verdicts(console, findings)
    for grid, finding in findings:
        console.print(
            Text.assemble("\n", (finding.claim, "bold"), f", {grid}: holds in a seed if\n  {finding.definition}")
        )
        for seed, value, holds in zip(finding.seeds, finding.values, finding.holds, strict=True):
            shown = "-" if isnan(value) else f"{value:.4g}"
            console.print(f"  seed {seed:<3} {shown:<10} {SEED_WORDS[holds]}")


def measured(finding: Finding) -> str:
    """The quantity's median and interval, what it is, and what a reader needs to know about the outcome."""
    words = [finding.detail] if finding.detail else []
    if finding.unjudged:
        words.insert(0, f"{finding.unjudged} of {len(finding.holds)} seeds cannot be judged.")
    if median_in_words(finding.values, finding.interval):
        words.insert(0, f"{median_in_words(finding.values, finding.interval)}: {finding.quantity}.")
    if finding.parts and finding.verdict != "holds":
        parts = (f"{part}: {count} of {len(finding.holds)}" for part, count in finding.parts.items())
        words.append(f"Parts, in seeds: {'; '.join(parts)}.")
    if finding.reason:
        words.append(f"Possible reason: {finding.reason}")
    return " ".join(words)
