"""`headway claims`: every claim of the papers, what it says, and what the records say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from headway.cli import UserError, suggestion
from headway.cli.arguments import USUAL, check_grids, folders_with_records
from headway.cli.parsing import parse
from headway.experiments import NAMES, find

if TYPE_CHECKING:
    from headway.store import Store

USAGE = """\
Show every claim with its verdict for each grid: the number of seeds in which it holds, and the
measured number with its interval. Nothing is trained. A claim is "not run" if some of its runs have not been made,
and "not in grid" if the grid does not have them.
If what it compares could not be measured in a seed, it "cannot be judged" there, which counts as not holding.

examples:
  headway claims --from results              the paper-scale runs
  headway claims A7 A8 --from results        two claims with definition, parts and every seed's number
  headway claims --grid quick                the runs of the quick grid
  headway claims --published --from results  published numbers beside ours; our boundaries of paper A are read
                                             from curves, much as its authors read theirs
"""


@dataclass(frozen=True)
class Options:
    """Which claims, and from which records."""

    claims: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Names of claims to show in full; A1 also shows its variants, such as A1 minimal. A table of all claims if not
    given."""
    grid: tuple[str, ...] = ("printed", "as-run", "paper")
    """Which grids to show."""
    published: bool = False
    """Instead of claims, show published numbers, ours, and whether they lie within the range of our seeds."""
    from_: Annotated[tuple[Path, ...], tyro.conf.arg(name="from")] = USUAL
    """Folders with records."""


def main(arguments: Sequence[str]) -> None:
    options = parse(Options, arguments, prog="headway claims", description=USAGE)
    check_grids(options.grid)
    stores = folders_with_records(options.from_)
    _require_records(options.from_)
    from rich.console import Console

    from headway.cli.verdict_tables import print_in_full, print_table
    from headway.experiments.outcome import all_findings, outcomes_from
    from headway.store import Store

    if options.published:
        _print_published([Store(folder) for folder in stores])
        return
    asked = _experiments_with(options.claims) if options.claims else NAMES
    findings = all_findings(outcomes_from([Store(folder) for folder in stores], options.grid, asked, every=True))
    console = Console(highlight=False)
    if not options.claims:
        print_table(console, findings, options.grid)
    for name in options.claims:
        print_in_full(console, [each for each in findings if _is_called(each[1].claim, name)])


def _experiments_with(claims: Sequence[str]) -> list[str]:
    """Those that have one of the claims: the others need not be judged, which takes seconds."""
    known = {name: [claim.name for claim in find(name).claims] for name in NAMES}
    everything = list(dict.fromkeys(claim for names in known.values() for claim in names))
    for name in claims:
        if not any(_is_called(claim, name) for claim in everything):
            near = suggestion(name, everything)
            raise UserError(f"there is no claim {name!r}.{near} `headway claims` lists all {len(everything)}.")
    return [
        experiment
        for experiment, names in known.items()
        if any(_is_called(own, name) for own in names for name in claims)
    ]


def _is_called(claim: str, name: str) -> bool:
    """A7 alone stands for "A7 minimal" and the like, too."""
    return f"{claim} ".lower().startswith(f"{name} ".lower())


def _print_published(stores: Sequence[Store]) -> None:
    """As Markdown, as docs/reproduction.md has it."""
    from headway.experiments.outcome import outcomes_from
    from headway.published import STAGE_ENDS
    from headway.report.document import NamedRun, one_changed, sibling_numbers
    from headway.report.document.beside import beside

    wanted = {experiment for experiment, _ in STAGE_ENDS} | set(one_changed.EXPERIMENTS)
    siblings = {each.experiment for each in sibling_numbers.NUMBERS}
    outcomes = [
        each
        for each in outcomes_from(stores, ("as-run", "paper"))
        if each.called in (wanted if each.grid == "as-run" else siblings)
    ]
    runs = [
        NamedRun(each.called, each.grid, name, *run)
        for each in outcomes
        for name, run in each.results.items()
        if "kl_rungs" in run[1]
    ]
    parts = beside(runs)
    if not parts:
        raise UserError("there is no run at paper scale with published numbers. Name a folder with --from.")
    print("\n\n".join(parts))


def _require_records(folders: Sequence[Path]) -> None:
    """Where there are none, every claim would be shown as not run."""
    if not any(path for folder in folders for path in folder.glob("*/record.json")):
        names = " or ".join(map(str, folders))
        raise UserError(
            f"there are no records in {names}: run something first, as in `headway run stages`, or name another folder "
            "with --from."
        )
