"""Figures and the page of what experiments came to, whoever asks: the command line or a notebook."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from headway.experiments.left_out import tell, tell_of_figures, unfit
from headway.experiments.outcome import Outcome
from headway.experiments.run_names import figures_title, in_text, own_name, run_label
from headway.lookup import Records, answer
from headway.records import Finding
from headway.store import Record

if TYPE_CHECKING:
    from headway.report.assemble import Shown
    from headway.report.page import Report


FEW = 4
"""Experiments whose runs a page shows first; a page of more is one of results, and opens with what was found."""


class Drawn(NamedTuple):
    """The files of an outcome's figures, and what is noted of them so that they are not drawn again."""

    paths: list[Path]
    key: str | None = None
    """None if they lay there already, or are not to be kept for the next time."""


def draw_figures(outcome: Outcome, folder: Path) -> list[Path]:
    """Every figure of the experiment as PNG, PDF and SVG; those that lie there unchanged are not drawn again."""
    drawn = draw(outcome, folder)
    note(outcome, folder, drawn)
    return drawn.paths


def draw(outcome: Outcome, folder: Path, processes: int | None = None) -> Drawn:
    """The figures alone: of several processes that draw, one notes what all of them drew."""
    from headway.report.figures.files import save_all
    from headway.report.figures.kept import key_of

    if known := drawn_before(outcome, outcome.usable, folder):
        return Drawn(known)
    try:
        figures = outcome.experiment.draw(outcome.results)
    except Exception as error:
        tell_of_figures(outcome.name, [record.path for record in outcome.usable.values()], error)
        return Drawn([])
    paths = save_all({folder / f"{outcome.name}-{name}": figure for name, figure in figures.items()}, processes)
    return Drawn(paths, key_of(outcome.usable) if is_ours(outcome) else None)


def drawn_before(outcome: Outcome, records: Mapping[str, Record], folder: Path) -> list[Path] | None:
    """The files of these records' figures, if they lie in the folder as they would be drawn."""
    from headway.report.figures import kept

    # Of somebody's own experiment the drawing code is not known to be the same.
    return kept.drawn_before(folder, outcome.name, kept.key_of(records)) if is_ours(outcome) else None


def note(outcome: Outcome, folder: Path, drawn: Drawn) -> None:
    """Let what was drawn be found the next time."""
    from headway.report.figures.kept import keep

    if drawn.key:
        keep(folder, outcome.name, drawn.key, drawn.paths)


def is_ours(outcome: Outcome) -> bool:
    """Whether every process finds its experiment by its name."""
    from headway.experiments import NAMES, find

    return outcome.called in NAMES and find(outcome.called) is outcome.experiment


def write_report(
    outcomes: Sequence[Outcome],
    findings: Sequence[tuple[str, Finding]],
    page: Path,
    commands: Sequence[str],
    drawn: Mapping[str, Sequence[Path]],
    others: Sequence[Shown] = (),
    title: str = "",
    asked: Sequence[str] = (),
) -> None:
    """The page with every run once, however many experiments use it; `drawn` are the figures of each outcome.

    Of the experiments `asked` for, or all, it counts the claims without a run.
    """
    finish_report(page, report_of_runs(outcomes, findings, commands, others, title, asked), outcomes, drawn)


def report_of_runs(
    outcomes: Sequence[Outcome],
    findings: Sequence[tuple[str, Finding]],
    commands: Sequence[str],
    others: Sequence[Shown] = (),
    title: str = "",
    asked: Sequence[str] = (),
) -> Report:
    """All of the page but its figures, which somebody may still be drawing."""
    from headway.report.assemble import Shown, portraits_among, put_together, worth_drawing

    first, rest = [], []
    several = len({outcome.called for outcome in outcomes}) > 1
    for outcome in _in_order(outcomes):
        section = outcome.called if several else ""
        drawable = worth_drawing(outcome.usable).items()
        own = [Shown(run_label(name, outcome), record, section) for name, record in drawable]
        first += own[:1]
        rest += own[1:]
    portraits = portraits_among(record for outcome in outcomes for record in outcome.usable.values())
    portraits += portraits_among(each.record for each in others)
    heading, introduction = (title, "") if title else _heading(outcomes)
    results = (
        _results(outcomes, findings, asked) if len({outcome.called for outcome in outcomes}) > FEW and not title else {}
    )
    runs = [*first, *others, *rest]  # if there is no room for all, something of everything
    return put_together(heading, introduction, runs, findings, (), commands, portraits, _tell_unfit, **results)


def finish_report(page: Path, report: Report, outcomes: Sequence[Outcome], drawn: Mapping[str, Sequence[Path]]) -> None:
    """Write the page with the figures of each outcome."""
    from headway.report.page import FigureGroup, write_page

    groups = []
    for outcome in _in_order(outcomes):
        pictures, drawings = (_contents(outcome, drawn.get(outcome.name, ()), kind) for kind in (".png", ".svg"))
        if pictures:
            shown = (tuple(pictures.items()), drawings, own_name(outcome))
            groups.append(FigureGroup(outcome.name, figures_title(outcome), outcome.grid, *shown))
    write_page(page, replace(report, figures=tuple(groups)))


def _in_order(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The page opens with its first run: what the authors' code did shows the whole story."""
    return sorted(outcomes, key=lambda outcome: outcome.grid == "printed")


def compared_with(outcomes: Sequence[Outcome], records: Records, used: Collection[str]) -> list[Shown]:
    """Models trained only to compare runs with, named after them: "n-gram model, c = 4, beside minimal, as-run"."""
    from headway.report.about import context_of
    from headway.report.assemble import Shown, can_draw

    named = [(outcome, name, each.identity) for outcome in outcomes for name, each in outcome.records.items()]
    cells = {record.identity: record.cell for record in records}
    found: dict[str, Shown] = {}
    for outcome, name, identity in named:
        for cell in cells[identity].references() if identity in cells else ():
            other = answer(cell, (), among=records)
            if other is not None and other.identity not in used and can_draw(other):
                label = f"n-gram model, c = {context_of(cell.settings)}, beside {name}, {outcome.grid}"
                found.setdefault(other.identity, Shown(label, other, outcome.called))
    return list(found.values())


def _results(
    outcomes: Sequence[Outcome], findings: Sequence[tuple[str, Finding]], asked: Sequence[str]
) -> dict[str, Any]:
    """Findings in sentences, the papers they are of, and the claims in a few words."""
    from headway.experiments import NAMES, find
    from headway.experiments.highlights import highlights
    from headway.experiments.papers import PAPERS

    titles = {claim.name: claim.title for outcome in outcomes for claim in outcome.experiment.claims if claim.title}
    every = {claim.name for name in asked or NAMES for claim in find(name).claims}
    unlisted = len(every - {finding.claim for _, finding in findings})
    return {"highlights": highlights(findings, titles), "papers": PAPERS, "titles": titles, "unlisted": unlisted}


def _heading(outcomes: Sequence[Outcome]) -> tuple[str, str]:
    """What the page is called and what it says first."""
    titles = {outcome.called: outcome.experiment.title for outcome in outcomes}
    names = list(titles)
    if not names:
        return "Headway: runs of this folder", ""
    if len(names) > FEW:
        return "Headway: what was found", ""
    heading = " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    return f"Headway: {heading}", " ".join(map(in_text, titles.values()))


def _contents(outcome: Outcome, paths: Sequence[Path], suffix: str) -> dict[str, bytes]:
    """The files of one kind by the name of their figure."""
    return {path.stem.removeprefix(f"{outcome.name}-"): path.read_bytes() for path in paths if path.suffix == suffix}


def _tell_unfit(record: Record, error: Exception) -> None:
    tell(unfit(record, error))
