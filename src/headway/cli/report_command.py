"""`headway report`: claims, figures and one page from records on disk, without training."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from headway.cli import UserError
from headway.cli.arguments import ALL_GRIDS, USUAL, check_grids, experiment_from, folders_with_records, name_of
from headway.cli.parsing import parse
from headway.experiments import NAMES
from headway.store import Store

if TYPE_CHECKING:
    from headway.report.assemble import Shown

USAGE = """\
Show what is on disk: verdicts, figures and one page. Nothing is trained. If runs of an experiment are
missing, only the claims that can be judged are shown. Runs whose settings belong to no grid appear on the page
under a separate title.

examples:
  headway report                                 all runs in runs/ and results/
  headway report --from results --into reports   the paper-scale runs
  headway report stages ladder --grid as-run     two experiments, one grid
  headway report --from results --no-page --document docs/reproduction.md
"""


@dataclass(frozen=True)
class Options:
    """Which records to show, and where to write."""

    experiments: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Names of experiments; all that have records if not given."""
    grid: tuple[str, ...] = ALL_GRIDS
    """Which grids to show."""
    from_: Annotated[tuple[Path, ...], tyro.conf.arg(name="from")] = USUAL
    """Folders with records."""
    into: Path = Path("runs")
    """Folder for the page and the figures."""
    page: bool = True
    """Write the page and the figures, not only the table."""
    document: Path | None = None
    """Also write the verdicts and stage boundaries as Markdown to this file."""


def main(arguments: Sequence[str]) -> None:
    options = parse(Options, arguments, prog="headway report", description=USAGE)
    stores = [Store(folder) for folder in folders_with_records(options.from_)]
    check_grids(options.grid)
    asked = tuple(map(name_of, options.experiments))
    for name in asked:
        experiment_from(name)
    from headway.cli.ending import show, write_markdown
    from headway.experiments.outcome import outcomes_from

    # A document lists what was not run, too.
    every = options.document is not None
    outcomes = outcomes_from(stores, options.grid, asked or NAMES, every)
    others: list[Shown] = []
    if options.page and not options.experiments and set(options.grid) == set(ALL_GRIDS):
        from headway.experiments.pages import compared_with
        from headway.lookup import readable
        from headway.report.assemble import other_runs

        records = readable(stores)
        used = {record.identity for outcome in outcomes for record in outcome.records.values()}
        compared = compared_with(outcomes, records, used)
        others = [*compared, *other_runs(records, used | {each.record.identity for each in compared})]
    if not others and not any(outcome.records for outcome in outcomes):
        places = ", ".join(str(store.root) for store in stores) or "runs"
        raise UserError(
            f"none of these experiments has a run in {places}. `headway list` shows what is there and what is missing."
        )
    command = f"headway report {shlex.join(arguments)}".strip()
    page = options.into / "report.html" if options.page else None
    findings = show(outcomes, options.into, page, [command], others, asked)
    if options.document is not None:
        write_markdown(outcomes, findings, options.document, command)
